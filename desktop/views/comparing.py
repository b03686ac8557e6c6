"""Runs a comparison: the request that made a reply, both ways, into the compare page and then into the store."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from backend import wire
from backend.errors import EngineError
from backend.protocol import Comparison, Delta, PromptProgress
from desktop.bridge import EngineBridge
from desktop.language import tr
from desktop.maths.typesetter import Typesetter
from desktop.models.asking import timings_of
from desktop.models.conversation import Conversation
from desktop.store import Message
from desktop.views.compare import CompareView, measured


class Comparing(QObject):
    """One comparison at a time."""

    opened = Signal()
    running_changed = Signal(bool)

    def __init__(self, bridge: EngineBridge, conversation: Conversation, maths: Typesetter) -> None:
        super().__init__()
        self._bridge, self.maths = bridge, maths
        self.view = CompareView(maths)
        self._conversation = conversation
        self._job = ""
        self._reply: Message | None = None
        self._note: str | None = None
        """What there is to say of who runs it; None = not known yet."""
        bridge.delta.connect(self._on_delta)
        bridge.prompt_progress.connect(self._on_prompt)
        bridge.compared.connect(self._on_compared)
        bridge.failed.connect(self._on_failed)

    @property
    def running(self) -> bool:
        """Whether one is under way."""
        return bool(self._job)

    def begin(self, reply: Message) -> None:
        """Compare ``reply``."""
        if self.running:
            return
        timings = timings_of(reply)
        self._reply = reply
        self._note = None if self._bridge.holding else self._foreign(reply)
        self.view.begin(timings.predicted_n if timings else None, self._note or "")
        self.opened.emit()
        self._job = self._bridge.compare(self._conversation.request_again(reply))
        self.running_changed.emit(True)

    def stop(self) -> None:
        """Stop it; its page can be left."""
        if self._job:
            self._bridge.cancel(self._job)

    def _foreign(self, reply: Message) -> str:
        """Said when another model runs it than the one that wrote the reply."""
        target = self._conversation.target
        if target is None or reply.target in (None, target.id):
            return ""
        return tr(
            "The reply was written by {writer}, this runs on {other}: the reply keeps its figures.",
            writer=reply.target,
            other=target.id,
        )

    def _on_delta(self, job: str, side: str, delta: Delta) -> None:
        if job and job == self._job:
            self.view.on_delta(side, delta)

    def _on_prompt(self, job: str, progress: PromptProgress) -> None:
        if job and job == self._job:
            self.view.on_prompt("plain", progress)

    def _on_compared(self, job: str, result: Comparison) -> None:
        if job != self._job or self._reply is None:
            return
        self._job = ""
        self.running_changed.emit(False)
        note = self._foreign(self._reply) if self._note is None else self._note
        self.view.show_result(result, note)
        if note or not measured(result) or self._went_on(self._reply):
            return
        kept = wire.dump(result)
        for text in ("plain_text", "speculation_text"):  # the reply itself is stored already
            kept.pop(text)
        self._conversation.set_comparison(self._reply, kept)

    def _went_on(self, reply: Message) -> bool:
        """Whether more was written meanwhile: then the figures are of what it was."""
        known = (*self._conversation.messages, self._conversation.live)
        return any(now is not None and now.id == reply.id and now.parts != reply.parts for now in known)

    def _on_failed(self, job: str, error: EngineError) -> None:
        if job and job == self._job:
            self._job = ""
            self.running_changed.emit(False)
            self.view.show_error(error)
