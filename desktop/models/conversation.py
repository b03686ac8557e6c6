"""One conversation: what is sent, what streams back, and that all of it is on disk in time.

No widgets here. The order is fixed: the message and an empty reply are written and on disk, then the request goes out,
then the reply is flushed at least once a second until its end, whatever that end is.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from backend import protocol, wire
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, PromptProgress, ReplyRequest, State, Timings
from desktop.bridge import EngineBridge
from desktop.models.titles import title_from
from desktop.settings import ChatSettings, SettingsFile
from desktop.store import Chat, Message, Store, StoreError
from desktop.store.records import MessageState
from desktop.words import EMPTY, Notice, notice

log = logging.getLogger(__name__)
FLUSH_MS = 800


@dataclass
class _Running:
    """The reply that streams now."""

    job: str
    message: Message
    text: str = ""
    rounds: list[dict[str, Any]] = field(default_factory=list)
    dirty: bool = False


class Conversation(QObject):
    """The chat on screen. Signals carry store records."""

    opened = Signal(object)
    """list[Message]: show these instead of what is shown."""
    appended = Signal(object)
    changed = Signal(object)
    running_changed = Signal(bool)
    reading = Signal(object)
    measured = Signal(object)
    noticed = Signal(object)
    chats_changed = Signal()

    def __init__(
        self, store: Store, bridge: EngineBridge, settings: SettingsFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._settings = settings
        self._state = State()
        self._running: _Running | None = None
        self.chat: Chat | None = None
        self.messages: list[Message] = []
        self.chat_settings: ChatSettings = settings.now.new_chat
        self._flusher = QTimer(self, interval=FLUSH_MS)
        self._flusher.timeout.connect(self._flush)
        bridge.state_changed.connect(self._on_state)
        bridge.delta.connect(self._on_delta)
        bridge.prompt_progress.connect(self._on_prompt)
        bridge.finished.connect(self._on_finished)
        bridge.failed.connect(self._on_failed)

    @property
    def running(self) -> bool:
        """Whether a reply is being made."""
        return self._running is not None

    # -- which chat -----------------------------------------------------------------------------------------------

    def new(self) -> None:
        """An empty page; the chat is made when its first message is sent."""
        self.chat, self.messages = None, []
        self.chat_settings = self._settings.now.new_chat
        self.opened.emit([])

    def open(self, chat: int) -> None:
        """Show a stored chat; a reply that streams in another one goes on."""
        if self.chat is not None and self.chat.id == chat:
            return
        try:
            self._store.flush()
            self.chat = self._store.chat(chat)
            self.messages = self._store.branch(chat)
        except StoreError as error:
            self.noticed.emit(notice(error))
            return
        if self._running is not None:
            live = self._running.message
            self.messages = [live if m.id == live.id else m for m in self.messages]
        stored = self.chat.settings if self.chat else {}
        self.chat_settings = wire.read(ChatSettings, stored) or self._settings.now.new_chat
        self.opened.emit(self.messages)

    def set_chat_settings(self, settings: ChatSettings) -> None:
        """Change this chat's settings; they count from the next message."""
        self.chat_settings = settings
        if self.chat is not None:
            self._store.set_chat_settings(self.chat.id, settings.model_dump(mode="json"))

    def show_sibling(self, message: Message, step: int) -> None:
        """Another answer to the same message."""
        if self.chat is None or self.running:
            return
        siblings = self._store.siblings(message)
        at = siblings.index(message.id) + step
        if 0 <= at < len(siblings):
            self._store.set_tip(self.chat.id, self._store.leaf_below(siblings[at])).result()
            self.messages = self._store.branch(self.chat.id)
            self.opened.emit(self.messages)

    def place(self, message: Message) -> tuple[int, int]:
        """``(n, of)`` among the answers to the same message, counting from 1."""
        siblings = self._store.siblings(message)
        return (siblings.index(message.id) + 1 if message.id in siblings else 1), len(siblings)

    # -- replies --------------------------------------------------------------------------------------------------

    def send(self, text: str) -> bool:
        """Write the message, then ask for a reply. False = nothing was sent and the text should stay where it is."""
        if self.running:
            return False
        if not text.strip():
            self.noticed.emit(EMPTY)
            return False
        try:
            if self.chat is None:
                settings = self.chat_settings.model_dump(mode="json")
                self.chat = self._store.add_chat(title_from(text), settings).result()
            parent = self.messages[-1].id if self.messages else None
            message = self._store.add_message(self.chat.id, parent, "user", text).result()
            self.messages.append(message)
            self.appended.emit(message)
            self.chats_changed.emit()
            self._ask()
        except StoreError as error:
            self.noticed.emit(notice(error))
            return False
        return True

    def regenerate(self, message: Message | None = None) -> None:
        """Another answer to the same message, beside the old one: with a fresh seed unless one is pinned."""
        if self.running or not self.messages:
            return
        at = self.messages.index(message) if message in self.messages else len(self.messages) - 1
        if self.messages[at].role == "assistant":
            at -= 1
        if at < 0:
            return
        self.messages = self.messages[: at + 1]
        self.opened.emit(self.messages)
        try:
            self._ask()
        except StoreError as error:
            self.noticed.emit(notice(error))

    def stop(self) -> None:
        """Stop the running reply; what was written stays."""
        if self._running is not None:
            self._bridge.cancel(self._running.job)

    def request_for(self, upto: list[Message], seed: int | None = None, sampling: Any = None) -> ReplyRequest:
        """The engine's request for the next reply after ``upto``."""
        chosen = sampling or self.chat_settings.sampling
        if seed is not None:
            chosen = chosen.model_copy(update={"seed": seed})
        target = self._state.target
        return ReplyRequest(
            messages=tuple(self.prompt(upto)),
            sampling=chosen,
            max_tokens=self.chat_settings.max_tokens,
            template_kwargs=self.chat_settings.template_kwargs(target.template_variables if target else []),
        )

    def prompt(self, upto: list[Message], typed: str = "") -> list[protocol.Message]:
        """The messages as the engine takes them; replies carry their token ids, so that nothing is read anew."""
        system = self.chat_settings.system_prompt.strip()
        made = [protocol.Message(role="system", content=_valid(system))] if system else []
        for m in upto:
            if m.content or m.role != "assistant":
                made.append(protocol.Message(role=m.role, content=m.content, x_ids=m.ids, x_tokenizer=m.tokenizer))
        if typed:
            made.append(protocol.Message(role="user", content=_valid(typed)))
        return made

    def request_again(self, reply: Message) -> ReplyRequest:
        """The request that made ``reply``, under its seed and sampling (for a comparison)."""
        sampling = wire.read(protocol.Sampling, reply.settings.get("sampling", {}))
        upto = self.messages[: self.messages.index(reply)]
        limit = max(1, len(reply.ids)) if reply.ids and reply.state == "stopped" else None
        request = self.request_for(upto, reply.seed, sampling)
        return request.model_copy(update={"max_tokens": limit}) if limit else request

    def set_comparison(self, reply: Message, comparison: dict[str, Any]) -> None:
        """Keep a comparison's figures with its reply."""
        self._replace(replace(reply, comparison=comparison))
        self._store.update_message(reply.id, comparison=comparison)

    def _ask(self) -> None:
        assert self.chat is not None
        request = self.request_for(self.messages)
        target, draft = self._state.target, self._state.draft
        reply = self._store.add_message(
            self.chat.id,
            self.messages[-1].id,
            "assistant",
            "",
            "streaming",
            target=target.id if target else self._settings.now.target,
            draft=draft.id if draft else None,
            settings={"sampling": request.sampling.model_dump(mode="json"), "max_tokens": request.max_tokens},
        ).result()
        self.messages.append(reply)
        self._running = _Running("", reply)
        self.appended.emit(reply)
        self.running_changed.emit(True)
        self._flusher.start()
        self._running.job = self._bridge.reply(request)

    def finish(self) -> None:
        """The engine is gone for good (the program ends): keep what the running reply has."""
        if self._running is not None:
            self._end(self._running, "stopped", finish="cancelled")

    # -- what comes back ------------------------------------------------------------------------------------------

    def _mine(self, job: str) -> _Running | None:
        return self._running if self._running is not None and self._running.job == job else None

    def _on_state(self, state: State) -> None:
        self._state = state

    def _on_prompt(self, job: str, progress: PromptProgress) -> None:
        if self._mine(job):
            self.reading.emit(progress)

    def _on_delta(self, job: str, _side: str, delta: Delta) -> None:
        running = self._mine(job)
        if running is None:
            return
        running.text += delta.text
        running.rounds.extend(asdict(r) for r in delta.rounds)
        running.dirty = True
        timings = wire.dump(delta.timings)
        running.message = self._replace(replace(running.message, content=running.text, timings=timings))
        self.measured.emit(delta.timings)

    def _on_finished(self, job: str, end: Finished) -> None:
        running = self._mine(job)
        if running is None:
            return
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

    def _on_failed(self, job: str, error: EngineError) -> None:
        running = self._mine(job)
        if running is None:
            return
        if error.code == ErrorCode.CANCELLED:
            self._end(running, "stopped", finish="cancelled")
            return
        partial = bool(running.text)
        self._end(running, "failed", error=error.to_wire()["error"])
        self.noticed.emit(notice(error, partial=partial))

    def _end(self, running: _Running, state: MessageState, **fields: Any) -> None:
        self._running = None
        self._flusher.stop()
        target, draft = self._state.target, self._state.draft
        fields |= {"content": running.text, "state": state, "rounds": tuple(running.rounds)}
        if target is not None:
            fields |= {"target": target.id, "draft": draft.id if draft else None}
        self._replace(replace(running.message, **fields))
        saved = self._store.update_message(running.message.id, **fields)
        self.running_changed.emit(False)
        self.chats_changed.emit()
        try:
            saved.result()
        except StoreError as error:
            self.noticed.emit(notice(error))

    def _flush(self) -> None:
        running = self._running
        if running is not None and running.dirty:
            running.dirty = False
            saved = self._store.update_message(
                running.message.id, content=running.text, timings=running.message.timings
            )
            saved.add_done_callback(_log_failure)

    def _replace(self, message: Message) -> Message:
        for at, old in enumerate(self.messages):
            if old.id == message.id:
                self.messages[at] = message
                self.changed.emit(message)
        return message


def timings_of(message: Message) -> Timings | None:
    """A stored reply's counters."""
    return wire.read(Timings, message.timings) if message.timings else None


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _log_failure(future: Any) -> None:
    if error := future.exception():
        log.warning("a reply was not flushed: %s", error)


__all__ = ["Conversation", "Notice", "timings_of"]
