"""The reply that is being made, at most one: it grows here and is flushed at least once a second until its end."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from backend import wire
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, PromptProgress, ReplyRequest, RoundRecord, State, TokenRecord
from desktop.bridge import EngineBridge
from desktop.models.origins import pack
from desktop.models.unsaved import Unsaved
from desktop.store import Message
from desktop.store.records import ROUNDS_KEPT, MessageState

FLUSH_MS = 800


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


class Replying(QObject):
    """Signals carry the reply's record, whatever chat is on screen."""

    changed = Signal(object)
    rounds_changed = Signal(int, object)
    """Message id and all its rounds, after its end: its record may have become more than what was made here."""
    running_changed = Signal(bool)
    reading = Signal(object)
    measured = Signal(object)
    failed = Signal(object, object)
    """Message, EngineError"""
    ended = Signal()

    def __init__(self, bridge: EngineBridge, unsaved: Unsaved, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._unsaved = unsaved
        self._running: _Running | None = None
        self._ended: _Running | None = None
        """The last one: its last rounds may come after its end."""
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
        """Ask for ``reply``, whose row is on disk."""
        self._running = _Running("", reply)
        self.running_changed.emit(True)
        self._flusher.start()
        self._running.job = self._bridge.reply(request)

    def stop(self) -> None:
        """Stop it; what was written stays."""
        if self._running is not None:
            self._bridge.cancel(self._running.job)

    def finish(self) -> None:
        """The engine is gone for good (the program ends): keep what there is."""
        if self._running is not None:
            self._end(self._running, "stopped", finish="cancelled")

    def _mine(self, job: str) -> _Running | None:
        return self._running if self._running is not None and self._running.job == job else None

    def _on_state(self, state: State) -> None:
        self.state = state

    def _on_prompt(self, job: str, progress: PromptProgress) -> None:
        if self._mine(job):
            self.reading.emit(progress)

    def _on_delta(self, job: str, _side: str, delta: Delta) -> None:
        running = self._mine(job)
        if running is None:
            return
        self._name_author(running)
        running.text += delta.text
        running.tokens += delta.tokens
        running.dirty = True
        running.message = replace(running.message, content=running.text, timings=wire.dump(delta.timings))
        self.changed.emit(running.message)
        self.measured.emit(delta.timings)

    def _on_rounds(self, job: str, records: tuple[RoundRecord, ...]) -> None:
        ended = self._ended if self._ended is not None and self._ended.job == job else None
        running = ended or self._mine(job)
        if running is not None:
            running.rounds.extend(asdict(record) for record in records)
        if ended is not None:
            rounds = tuple(ended.rounds)
            self.rounds_changed.emit(ended.message.id, rounds)
            self._unsaved.update(ended.message.id, rounds=rounds)

    def _on_finished(self, job: str, end: Finished) -> None:
        running = self._mine(job)
        if running is None:
            return
        self._name_author(running)
        self.measured.emit(end.timings)
        self._end(
            running,
            "stopped" if end.reason == "cancelled" else "complete",
            ids=end.ids,
            tokenizer=end.tokenizer,
            seed=end.seed,
            start=end.start,
            finish=end.reason,
            note=end.note,
            timings=wire.dump(end.timings),
        )

    def _name_author(self, running: _Running) -> None:
        if running.target is None and self.state.target is not None:
            running.target = self.state.target.id
            if running.message.target != running.target:
                running.message = replace(running.message, target=running.target)
                self._unsaved.update(running.message.id, target=running.target)

    def _on_failed(self, job: str, error: EngineError) -> None:
        running = self._mine(job)
        if running is None:
            return
        if error.code == ErrorCode.CANCELLED:
            self._end(running, "stopped", finish="cancelled")
            return
        message = self._end(running, "failed", error=error.to_wire()["error"])
        self.failed.emit(message, error)

    def _end(self, running: _Running, state: MessageState, **fields: Any) -> Message:
        self._running, self._ended = None, running
        self._flusher.stop()
        fields = {"timings": running.message.timings} | fields
        fields |= {"content": running.text, "state": state, "rounds": tuple(running.rounds)}
        fields["tokens"] = pack(running.tokens)
        if running.target is not None:
            draft = self.state.draft
            fields |= {"target": running.target, "draft": draft.id if draft else None}
        running.message = message = replace(running.message, **fields)
        self.changed.emit(message)
        self._unsaved.finish(message.id, **fields)
        self.running_changed.emit(False)
        self.ended.emit()
        return message

    def _flush(self) -> None:
        running = self._running
        if running is not None and running.dirty:
            running.dirty = False
            self._unsaved.update(running.message.id, content=running.text, timings=running.message.timings)
