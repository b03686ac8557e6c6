"""Downloads in the main window: the pair for this machine on the empty page, their progress, what becomes of them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from desktop.language import tr
from desktop.models.choices import label
from desktop.models.engine import Engine
from desktop.models.fetching import Fetch, Use
from desktop.models.outlooks import Outlooks
from desktop.models.proposal import Pair, Proposal
from desktop.models.shelf import Shelf
from desktop.views.welcome import Offer, Welcome
from desktop.widgets.notice_bar import NoticeBar
from desktop.widgets.status_bar import StatusBar
from desktop.widgets.transfer import Transfer
from desktop.words import Notice, notice


class Downloads(QObject):
    """Proposes a pair when no model is installed, and shows what is being downloaded."""

    opened = Signal(str)
    """The models window is wanted; a model's id, or nothing."""

    def __init__(
        self,
        shelf: Shelf,
        outlooks: Outlooks,
        welcome: Welcome,
        bar: NoticeBar,
        status: StatusBar,
        engine: Engine,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._shelf, self._welcome, self._bar, self._engine = shelf, welcome, bar, engine
        self._outlooks, self._fetching = outlooks, shelf.fetching
        self._proposal = Proposal()
        self._said = ""
        self.transfer = Transfer()
        status.add(self.transfer)
        self.transfer.paused.connect(self._pause)
        self.transfer.opened.connect(lambda: self.opened.emit(self._running_id()))
        welcome.download.connect(lambda: self._get_pair(self._proposal.best))
        welcome.download_small.connect(lambda: self._get_pair(self._proposal.small))
        outlooks.proposed.connect(self._on_proposed)
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
        else:
            self._outlooks.ask_proposal(self._shelf.models, self._shelf.starter, self._engine.state)

    def get(self, ids: list[str], *, use: Use = "target") -> None:
        """Fetch models; the first is loaded when all are here."""
        self._fetching.start([(model_id, self._name(model_id)) for model_id in ids], use)

    def _ready(self) -> bool:
        """Whether there is something to chat with: then the empty page has other things to say."""
        return any(m.state == "installed" for m in self._shelf.models)

    def _name(self, model_id: str) -> str:
        model = self._shelf.named(model_id)
        return model.name if model is not None else model_id

    def _get_pair(self, pair: Pair | None) -> None:
        if pair is not None:
            self.get(pair.ids)

    def _on_proposed(self, found: Proposal) -> None:
        if self.running or self._ready():
            return
        self._proposal = found
        if found.best is not None:
            self._welcome.offer_pair(_offer(found.best), _offer(found.small) if found.small is not None else None)
        elif found.least is not None:
            self._welcome.say_too_large(_offer(found.least), found.free)

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


def _offer(pair: Pair) -> Offer:
    licence = pair.target.entry.licence
    return Offer(
        label(pair.target),
        label(pair.draft),
        pair.size,
        pair.fetched,
        memory=pair.outlook.memory,
        speed=pair.outlook.speed,
        licence=licence.name if licence is not None else "",
    )
