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
from desktop.widgets.status_bar import StatusBar
from desktop.widgets.transfer import Transfer
from desktop.words import Notice, notice

ONE_AT_A_TIME = Notice("Another download is under way", "Choose this model again when that one is done.", mild=True)


class Downloads(QObject):
    """Proposes the starter pair when no model is installed, and shows every download's progress."""

    def __init__(self, shelf: Shelf, welcome: Welcome, bar: NoticeBar, status: StatusBar, engine: Engine) -> None:
        super().__init__()
        self._shelf, self._welcome, self._bar, self._engine = shelf, welcome, bar, engine
        self._ids: list[str] = []
        self._starter: list[str] = []
        self._as_draft = False
        self._said = ""
        self.transfer = Transfer()
        status.add(self.transfer)
        self.transfer.cancelled.connect(shelf.cancel_download)
        welcome.download.connect(lambda: self.get(self._starter))
        welcome.cancel.connect(shelf.cancel_download)
        shelf.progress.connect(self._on_progress)
        shelf.downloaded.connect(self._on_downloaded)
        shelf.download_failed.connect(self._on_failed)
        shelf.failed.connect(lambda error: bar.show_notice(notice(error)))
        shelf.said.connect(self._on_said)

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
        if self.running:
            self._bar.show_notice(ONE_AT_A_TIME)
        elif ids:
            self._ids, self._as_draft = list(ids), draft
            self._on_progress("Starting the download", (0, 0, 0.0))
            self._shelf.download(ids)

    def _pair(self) -> tuple[Any, Any] | None:
        starter = self._shelf.starter
        found = (self._shelf.named(starter.target), self._shelf.named(starter.draft)) if starter else (None, None)
        return found if all(found) else None

    def _on_progress(self, name: str, numbers: tuple[int, int, float]) -> None:
        done, total, speed = numbers
        self._welcome.show_progress(name, done, total, speed)
        self.transfer.show_progress(name, done, total, speed)

    def _on_downloaded(self, ids: list[str]) -> None:
        self._ended()
        if self._as_draft:
            self._engine.choose_draft(ids[0])
            self._engine.refresh_drafts()
        else:
            self._engine.choose_target(ids[0])

    def _on_failed(self, error: EngineError) -> None:
        again = partial(self.get, self._ids, draft=self._as_draft)
        self._ended()
        if error.code != ErrorCode.CANCELLED:
            self._bar.show_notice(notice(error, retry=again))

    def _on_said(self, text: str) -> None:
        self._bar.show_notice(Notice("Download", text, mild=True))
        self._said = self._bar.text

    def _ended(self) -> None:
        if self._said and self._bar.text == self._said:  # no other notice has taken its place
            self._bar.hide()
        self._said = ""
        self._ids = []
        self.transfer.hide()
        self.propose()
