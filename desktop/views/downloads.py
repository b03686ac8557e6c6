"""Downloads in the main window: the starter pair on the empty page, their progress, and what becomes of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.language import tr
from desktop.models.choices import label
from desktop.models.engine import Engine
from desktop.models.fetching import Fetch, Use
from desktop.models.shelf import Shelf
from desktop.views.welcome import Welcome
from desktop.widgets.notice_bar import NoticeBar
from desktop.widgets.status_bar import StatusBar
from desktop.widgets.transfer import Transfer
from desktop.words import Notice, notice


class Downloads(QObject):
    """Proposes the starter pair when no model is installed, and shows what is being downloaded."""

    opened = Signal(str)
    """The models window is wanted; a model's id, or nothing."""

    def __init__(self, shelf: Shelf, welcome: Welcome, bar: NoticeBar, status: StatusBar, engine: Engine) -> None:
        super().__init__()
        self._shelf, self._welcome, self._bar, self._engine = shelf, welcome, bar, engine
        self._fetching = shelf.fetching
        self._starter: list[str] = []
        self._said = ""
        self.transfer = Transfer()
        status.add(self.transfer)
        self.transfer.paused.connect(self._pause)
        self.transfer.opened.connect(lambda: self.opened.emit(self._running_id()))
        welcome.download.connect(lambda: self.get(self._starter))
        welcome.pause.connect(self._pause)
        welcome.cancel.connect(self._cancel)
        welcome.more.connect(lambda: self.opened.emit(""))
        self._fetching.changed.connect(self._show)
        self._fetching.got.connect(self._on_got)
        self._fetching.failed.connect(self._on_failed)
        self._fetching.said.connect(self._on_said)
        shelf.failed.connect(lambda error: bar.show_notice(notice(error)))

    @property
    def running(self) -> bool:
        """Whether models are being fetched."""
        return self._fetching.busy

    def propose(self) -> None:
        """Look at what is installed and offer what is missing."""
        if self.running:
            return
        if self._ready():
            self._welcome.show_ready()
            return
        if pair := self._pair():
            target, draft = pair
            self._starter = [target.id, draft.id]
            licence = target.entry.licence.name if target.entry.licence is not None else ""
            size = (target.size or 0) + (draft.size or 0)
            self._welcome.offer_starter(label(target), label(draft), size, licence, target.fetched + draft.fetched)

    def get(self, ids: list[str], *, use: Use = "target") -> None:
        """Fetch models; the first is loaded when all are here."""
        self._fetching.start([(model_id, self._name(model_id)) for model_id in ids], use)

    def _ready(self) -> bool:
        """Whether there is something to chat with: then the empty page has other things to say."""
        return any(m.state == "installed" for m in self._shelf.models)

    def _name(self, model_id: str) -> str:
        model = self._shelf.named(model_id)
        return model.name if model is not None else model_id

    def _pair(self) -> tuple[Any, Any] | None:
        starter = self._shelf.starter
        found = (self._shelf.named(starter.target), self._shelf.named(starter.draft)) if starter else (None, None)
        return found if all(found) else None

    def _running_id(self) -> str:
        return self._fetching.running.id if self._fetching.running is not None else ""

    def _show(self) -> None:
        fetch = self._fetching.running
        if fetch is not None:
            if not self._ready():
                self._welcome.show_progress(fetch.name, fetch.done, fetch.total, fetch.speed)
            self.transfer.show_progress(fetch.name, fetch.done, fetch.total, fetch.speed)
        elif not self.running and not self.transfer.isHidden():
            self._ended()

    def _pause(self) -> None:
        """All of it: what waits would begin otherwise."""
        for model_id in reversed(list(self._fetching.items)):
            self._fetching.pause(model_id)

    def _cancel(self) -> None:
        """What runs, with what was asked for together with it; others that are paused keep what has come."""
        fetch = self._fetching.running
        for model_id in reversed(fetch.group if fetch is not None else ()):
            if model_id in self._fetching.items:
                self._fetching.cancel(model_id)

    def _on_got(self, ids: list[str], use: Use) -> None:
        if use == "draft":
            self._engine.choose_draft(ids[0])
            self._engine.refresh_drafts()
        elif use == "target":
            self._engine.choose_target(ids[0])

    def _on_failed(self, fetch: Fetch) -> None:
        if fetch.error is not None:
            self._bar.show_notice(notice(fetch.error, retry=partial(self._fetching.resume, fetch.id)))

    def _on_said(self, text: str) -> None:
        self._bar.show_notice(Notice(tr("Download", note="a noun"), text, mild=True))
        self._said = self._bar.text

    def _ended(self) -> None:
        if self._said and self._bar.text == self._said:  # no other notice has taken its place
            self._bar.hide()
        self._said = ""
        self.transfer.hide()
        self.propose()
