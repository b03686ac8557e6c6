"""Downloads in the window: the starter pair on the empty page, other models from the lists."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QObject

from backend.errors import EngineError, ErrorCode
from desktop.models.choices import label
from desktop.models.engine import Engine
from desktop.models.shelf import Shelf
from desktop.views.welcome import Welcome
from desktop.widgets.notice_bar import NoticeBar
from desktop.words import Notice, notice


class Downloads(QObject):
    """Proposes the starter pair when no model is installed, and shows every download's progress."""

    def __init__(self, shelf: Shelf, welcome: Welcome, bar: NoticeBar, engine: Engine) -> None:
        super().__init__()
        self._shelf, self._welcome, self._bar, self._engine = shelf, welcome, bar, engine
        self._ids: list[str] = []
        self._starter: list[str] = []
        self._as_draft = False
        welcome.download.connect(lambda: self.get(self._starter))
        welcome.cancel.connect(shelf.cancel_download)
        shelf.progress.connect(self._on_progress)
        shelf.downloaded.connect(self._on_downloaded)
        shelf.failed.connect(self._on_failed)
        shelf.said.connect(lambda text: bar.show_notice(Notice("Download", text, mild=True)))

    @property
    def running(self) -> bool:
        """Whether models are being fetched."""
        return bool(self._ids)

    def propose(self) -> None:
        """Look at what is installed and offer what is missing."""
        if self.running:
            return
        if any(m.state == "installed" for m in self._shelf.models):
            self._welcome.show_ready()
            return
        pair = self._pair()
        if pair:
            target, draft = pair
            self._starter = [target.id, draft.id]
            licence = target.entry.licence.name if target.entry.licence is not None else ""
            size = (target.size or 0) + (draft.size or 0)
            self._welcome.offer_starter(label(target), label(draft), size, licence)

    def get(self, ids: list[str], *, draft: bool = False) -> None:
        """Fetch models; the first is loaded as target, or as draft."""
        if not self.running and ids:
            self._ids, self._as_draft = list(ids), draft
            self._welcome.show_progress("Starting", 0, 0, 0)
            self._shelf.download(ids)

    def _pair(self) -> tuple[Any, Any] | None:
        starter = self._shelf.starter
        found = (self._shelf.named(starter.target), self._shelf.named(starter.draft)) if starter else (None, None)
        return found if all(found) else None

    def _on_progress(self, name: str, numbers: tuple[int, int, float]) -> None:
        done, total, speed = numbers
        self._welcome.show_progress(name, done, total, speed)
        if not self._welcome.isVisible():
            share = f"{100 * done / total:.0f} %" if total else ""
            self._bar.show_notice(Notice(f"Downloading {name} {share}".strip(), mild=True))

    def _on_downloaded(self, ids: list[str]) -> None:
        self._ids = []
        self._bar.hide()
        self.propose()
        if self._as_draft:
            self._engine.choose_draft(ids[0])
            self._engine.refresh_drafts()
        else:
            self._engine.choose_target(ids[0])

    def _on_failed(self, error: EngineError) -> None:
        again = None
        if self._ids:
            again = partial(self.get, self._ids, draft=self._as_draft)
            self._ids = []
            self.propose()
        if error.code != ErrorCode.CANCELLED:
            self._bar.show_notice(notice(error, retry=again))
