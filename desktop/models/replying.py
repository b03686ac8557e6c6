"""The reply that is being made, at most one: it grows here and is flushed at least once a second until its end.

One that goes on keeps all that was known of it until there is a new word, on screen, on disk, and if none comes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as fields_of
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from backend import wire
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, PromptProgress, ReplyRequest, RoundRecord, State, TokenRecord
from desktop.bridge import EngineBridge
from desktop.models import asking, parts
from desktop.models.origins import joined
from desktop.models.thinking import noted, opened
from desktop.models.unsaved import Unsaved
from desktop.store import Message
from desktop.store.records import ROUNDS_KEPT, MessageState

FLUSH_MS = 800
_FIELDS = tuple(f.name for f in fields_of(Message) if f.name not in ("id", "chat", "damaged"))


@dataclass
class _Running:
    """The reply that streams now."""

    job: str
    message: Message
    text: str = ""
    rounds: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=ROUNDS_KEPT))
    tokens: list[TokenRecord] = field(default_factory=list)
    dirty: bool = False
    target: str | None = None
    """Which model writes it: known from its first word on, since a message may be sent before a model is loaded."""
    tokenizer: str | None = None
    """That model's vocabulary."""
    was: Message | None = None
    """The reply before it went on; None where it begins here."""
    begun: str = ""
    """The text that it goes on from."""
    first_round: int = 0
    """The number in the reply of the first round that is made here."""
    unwritten: dict[str, Any] = field(default_factory=dict)
    """What has to be written with the first new word of one that goes on."""

    @property
    def nothing_new(self) -> bool:
        """Whether it is, so far, as it was before it went on."""
        return self.was is not None and self.text == self.begun


class Replying(QObject):
    """Signals carry the reply's record, whatever chat is on screen."""

    changed = Signal(object)
    rounds_changed = Signal(int, object)
    """Message id and all its rounds, after its end: its record may have become more than what was made here."""
    running_changed = Signal(bool)
    reading = Signal(object)
    measured = Signal(object)
    failed = Signal(object, object, bool)
    """Message, EngineError, and whether it was going on."""
    nothing_added = Signal()
    """The model ended a reply that was to go on where it was."""
    ended = Signal(int)
    """The chat that it was written in."""

    def __init__(self, bridge: EngineBridge, unsaved: Unsaved, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._unsaved = unsaved
        self._running: _Running | None = None
        self._ended: _Running | None = None
        """The last one: its last rounds may come after its end."""
        self.stopped = False
        """Whether a person has stopped it, or the last one; or the program ends."""
        self.state = State()
        self._flusher = QTimer(self, interval=FLUSH_MS)
        self._flusher.timeout.connect(self._flush)
        bridge.state_changed.connect(self._on_state)
        bridge.delta.connect(self._on_delta)
        bridge.rounds.connect(self._on_rounds)
        bridge.prompt_progress.connect(self._on_prompt)
        bridge.finished.connect(self._on_finished)
        bridge.failed.connect(self._on_failed)

    @property
    def message(self) -> Message | None:
        """The reply as it is so far; None when none is being made."""
        return self._running.message if self._running is not None else None

    @property
    def job(self) -> str:
        """The engine's name of what is being made; empty when nothing is."""
        return self._running.job if self._running is not None else ""

    def begin(self, reply: Message, request: ReplyRequest) -> None:
        """Ask for ``reply``, whose row is on disk, under its seed: one that breaks off can go on as it would have."""
        self._begin(_Running("", reply), asking.under(request, reply.seed))

    def go_on(self, reply: Message, request: ReplyRequest, **made_with: Any) -> None:
        """Ask for more of ``reply``; nothing of it is written before there is more.

        Args:
            reply: as it is, on disk.
            request: what asks for it.
            made_with: fields of the message that say how the new part is made.
        """
        resumed = replace(parts.resumed(reply), **made_with)
        changed = {name: new for name in _FIELDS if (new := getattr(resumed, name)) != getattr(reply, name)}
        running = _Running("", resumed, resumed.content, deque(reply.rounds, maxlen=ROUNDS_KEPT), was=reply)
        running.begun, running.first_round, running.unwritten = resumed.content, parts.first_round(reply), changed
        self._begin(running, asking.under(request, resumed.seed))

    def _begin(self, running: _Running, request: ReplyRequest) -> None:
        self._running, self.stopped = running, False
        if running.was is not None:
            self.changed.emit(running.message)
        self.running_changed.emit(True)
        self._flusher.start()
        running.job = self._bridge.reply(request)

    def stop(self) -> None:
        """Stop it; what was written stays."""
        if self._running is not None:
            self.stopped = True
            self._bridge.cancel(self._running.job)

    def finish(self) -> None:
        """The engine is gone for good (the program ends): keep what there is."""
        if self._running is not None:
            self.stopped = True
            self._end(self._running, "stopped", finish="cancelled")

    def _mine(self, job: str) -> _Running | None:
        return self._running if self._running is not None and self._running.job == job else None

    def _on_state(self, state: State) -> None:
        self.state = state

    def _on_prompt(self, job: str, progress: PromptProgress) -> None:
        running = self._mine(job)
        if running is None:
            return
        if progress.thinking and running.was is None and not opened(running.message):
            running.message = replace(running.message, settings=noted(running.message.settings))
            self._unsaved.update(running.message.id, settings=running.message.settings)
        self.reading.emit(progress)

    def _on_delta(self, job: str, _side: str, delta: Delta) -> None:
        running = self._mine(job)
        if running is None:
            return
        self._name_author(running)
        running.text += delta.text
        running.tokens += delta.tokens
        running.dirty = running.dirty or bool(delta.text)
        running.message = replace(running.message, content=running.text, timings=wire.dump(delta.timings))
        self.changed.emit(running.message)
        self.measured.emit(delta.timings)

    def _on_rounds(self, job: str, records: tuple[RoundRecord, ...]) -> None:
        ended = self._ended if self._ended is not None and self._ended.job == job else None
        running = ended or self._mine(job)
        if running is None:
            return
        made = [asdict(record) | {"round": record.round + running.first_round} for record in records]
        running.rounds.extend(made)
        if ended is not None:
            rounds = tuple(ended.rounds)
            more = self._running
            if more is not None and more.was is not None and more.was.id == ended.message.id:  # it goes on already
                more.rounds.extend(made)
                more.was = replace(more.was, rounds=rounds)
            self.rounds_changed.emit(ended.message.id, rounds)
            self._unsaved.update(ended.message.id, rounds=rounds)

    def _on_finished(self, job: str, end: Finished) -> None:
        running = self._mine(job)
        if running is None:
            return
        if running.nothing_new:
            self._leave(running, itself=end.reason == "stop")
            return
        self._name_author(running)
        self.measured.emit(end.timings)
        self._end(
            running,
            "stopped" if end.reason == "cancelled" else "complete",
            tokenizer=end.tokenizer,
            seed=end.seed,
            start=end.start - len(end.prefix),
            finish=end.reason,
            note=end.note,
            timings=wire.dump(end.timings),
            **_made_of(running, end.prefix or None, end.ids),
        )

    def _name_author(self, running: _Running) -> None:
        if running.target is None and self.state.target is not None:
            running.target, running.tokenizer = self.state.target.id, self.state.target.tokenizer
            if running.message.target != running.target:
                running.message = replace(running.message, target=running.target)
                if running.was is None:
                    self._unsaved.update(running.message.id, target=running.target)
                else:
                    running.unwritten["target"] = running.target

    def _on_failed(self, job: str, error: EngineError) -> None:
        running = self._mine(job)
        if running is None:
            return
        if error.code == ErrorCode.CANCELLED:
            self._end(running, "stopped", finish="cancelled")
            return
        message = self._end(running, "failed", error=error.to_wire()["error"])
        self.failed.emit(message, error, running.was is not None)

    def _leave(self, running: _Running, *, itself: bool = False) -> Message:
        """It did not go on, and is as it was; ``itself`` = the model found that it had ended."""
        assert running.was is not None
        self._running = None
        self._flusher.stop()
        message = running.was
        if itself:
            message = replace(message, state="complete", finish="stop")
            self._unsaved.finish(message.id, state="complete", finish="stop")
        self.changed.emit(message)
        self.running_changed.emit(False)
        self.ended.emit(message.chat)
        if itself:
            self.nothing_added.emit()
        return message

    def _end(self, running: _Running, state: MessageState, **fields: Any) -> Message:
        if running.nothing_new:
            return self._leave(running)
        self._running, self._ended = None, running
        self._flusher.stop()
        fields = running.unwritten | self._told(running) | {"timings": running.message.timings} | fields
        fields |= {"content": running.text, "state": state, "rounds": tuple(running.rounds)}
        begun = len(running.begun.encode("utf-8", "replace"))
        fields["tokens"] = joined(running.message.tokens, begun, running.tokens, running.first_round)
        if running.target is not None:
            draft = self.state.draft
            fields |= {"target": running.target, "draft": draft.id if draft else None}
        running.message = message = replace(running.message, **fields)
        self.changed.emit(message)
        self._unsaved.finish(message.id, **fields)
        self.running_changed.emit(False)
        self.ended.emit(message.chat)
        return message

    def _flush(self) -> None:
        running = self._running
        if running is not None and running.dirty:
            running.dirty = False
            fields, running.unwritten = running.unwritten, {}
            fields |= {"content": running.text, "timings": running.message.timings}
            self._unsaved.update(running.message.id, **fields)

    @staticmethod
    def _told(running: _Running) -> dict[str, Any]:
        """The tokens by what came of them, for a reply whose end the engine does not live to tell."""
        if running.tokenizer is None or not running.tokens:
            return {"ids": None}
        before = running.message.ids if running.message.tokenizer == running.tokenizer else None
        ids = [token.id for token in running.tokens]
        return {"tokenizer": running.tokenizer} | _made_of(running, before, ids)


def _made_of(running: _Running, before: Sequence[int] | None, ids: Sequence[int]) -> dict[str, Any]:
    """The ids of all its text; none where those of its beginning are not known."""
    if running.was is None:
        return {"ids": tuple(ids)}
    if before is None:
        return {"ids": None}
    *others, last = running.message.parts
    return {"ids": (*before, *ids), "parts": (*others, last | {"ids": len(before)})}
