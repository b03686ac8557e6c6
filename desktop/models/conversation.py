"""The chat on screen: what is sent, which branch is shown, and another answer to a message.

No widgets here. The order is fixed: the message and an empty reply are written together and on disk, then the request
goes out. Everything that is shown was written first, so that a fault of the disk leaves nothing half-done.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend import protocol, wire
from backend.errors import EngineError
from backend.protocol import ModelInfo, ReplyRequest, State
from desktop.bridge import EngineBridge
from desktop.gate import WAITED
from desktop.models import asking
from desktop.models.attempt import attempt
from desktop.models.replying import Replying
from desktop.models.titles import title_from
from desktop.models.unsaved import Unsaved
from desktop.settings import ChatSettings, SettingsFile
from desktop.store import Chat, Message, NewChat, Store, StoreError
from desktop.words import DAMAGED, EMPTY, GONE, WAIT, notice

log = logging.getLogger(__name__)


class Conversation(QObject):
    """The chat on screen. Signals carry store records."""

    opened = Signal(object)
    """list[Message]: show these instead of what is shown."""
    rewrote = Signal(int)
    """A message of which another version was sent."""
    found = Signal(int, str)
    """A message that is shown now, and words in it."""
    appended = Signal(object)
    changed = Signal(object)
    running_changed = Signal(bool)
    reading = Signal(object)
    measured = Signal(object)
    noticed = Signal(object)
    withdrawn = Signal(object)
    """Notice: this one is no longer so."""
    chats_changed = Signal()

    def __init__(
        self, store: Store, bridge: EngineBridge, settings: SettingsFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._bridge = bridge
        self._settings = settings
        self.chat: Chat | None = None
        self.messages: list[Message] = []
        self.chat_settings: ChatSettings = settings.now.new_chat
        self.unsaved = Unsaved(store, self)
        self.unsaved.noticed.connect(self.noticed)
        self.unsaved.saved.connect(self.withdrawn)
        self._replying = replying = Replying(bridge, self.unsaved, self)
        replying.changed.connect(self._replace)
        replying.rounds_changed.connect(lambda message, rounds: self._change(message, rounds=rounds))
        replying.running_changed.connect(self.running_changed)
        replying.reading.connect(self.reading)
        replying.measured.connect(self.measured)
        replying.failed.connect(self._on_failed)
        replying.ended.connect(self.chats_changed)

    @property
    def running(self) -> bool:
        """Whether a reply is being made."""
        return self._replying.message is not None

    @property
    def job(self) -> str:
        """The running reply's, as the engine knows it."""
        return self._replying.job

    @property
    def target(self) -> ModelInfo | None:
        """The model that answers now."""
        return self._replying.state.target

    # -- which chat -----------------------------------------------------------------------------------------------

    def new(self) -> None:
        """An empty page; the chat is made when its first message is sent."""
        self.chat, self.messages = None, []
        self.chat_settings = self._settings.now.new_chat
        self.opened.emit([])

    def open(self, chat: int) -> None:
        """Show a stored chat; a reply that streams in another one goes on."""
        if not self._shows(chat):
            attempt(partial(self._open, chat), self.noticed.emit)

    def find(self, chat: int, message: int, words: str) -> None:
        """Show a message of a stored chat, on whatever branch it is."""
        attempt(partial(self._find, chat, message, words), self.noticed.emit)

    def set_chat_settings(self, settings: ChatSettings) -> None:
        """Change this chat's settings; they count from the next message."""
        self.chat_settings = settings
        if self.chat is not None:
            chat, stored = self.chat.id, settings.model_dump(mode="json")
            attempt(lambda: self._store.set_chat_settings(chat, stored).result(), self.noticed.emit)

    def renamed(self, chat: int, title: str) -> None:
        """A chat has another title now."""
        if self.chat is not None and self.chat.id == chat:
            self.chat = replace(self.chat, title=title)

    def show_sibling(self, message: Message, step: int) -> None:
        """Another answer to the same message."""
        if self.chat is not None and not self.running:
            attempt(partial(self._show_sibling, message, step), self.noticed.emit)

    def place(self, message: Message) -> tuple[int, int]:
        """``(n, of)`` among the answers to the same message, counting from 1."""
        try:
            siblings = self._store.siblings(message)
        except StoreError:
            log.warning("the answers beside one could not be read", exc_info=True)
            return 1, 1
        return (siblings.index(message.id) + 1 if message.id in siblings else 1), len(siblings)

    def _shows(self, chat: int | None) -> bool:
        return (self.chat.id if self.chat is not None else None) == chat

    def _open(self, chat: int) -> None:
        found, messages = self._store.chat(chat), self._branch(chat)
        if found is None:
            self.noticed.emit(GONE)
            return
        self.chat, self.messages = found, messages
        self.chat_settings = wire.read(ChatSettings, found.settings) or self._settings.now.new_chat
        self.opened.emit(messages)
        if any(message.damaged for message in messages):
            self.noticed.emit(DAMAGED)

    def _find(self, chat: int, message: int, words: str) -> None:
        if not self._shows(chat):
            self._open(chat)
        if message not in [m.id for m in self.messages]:
            if self.running and self._replying.message is not None and self._replying.message.chat == chat:
                return  # a reply is written on the branch that is shown
            self._turn_to(chat, message)
        self.found.emit(message, words)

    def _branch(self, chat: int) -> list[Message]:
        """The chat's branch as it really is: with what is not on disk yet."""
        live = self._replying.message
        stored = self._store.branch(chat)
        return [live if live is not None and live.id == m.id else self.unsaved.over(m) for m in stored]

    def _show_sibling(self, message: Message, step: int) -> None:
        siblings = self._store.siblings(message)
        at = siblings.index(message.id) + step
        if 0 <= at < len(siblings):
            self._turn_to(message.chat, siblings[at])

    def _turn_to(self, chat: int, message: int) -> None:
        """The branch that runs through ``message``."""
        self._store.set_tip(chat, self._store.leaf_below(message)).result()
        if self._shows(chat):
            self.messages = self._branch(chat)
            self.opened.emit(self.messages)

    # -- replies --------------------------------------------------------------------------------------------------

    def send(self, text: str, again: Callable[[], object] | None = None) -> bool:
        """Write the message, then ask for a reply.

        Args:
            text: the message.
            again: sends once more what could not be written.

        Returns:
            False when nothing was written and the text should stay where it is.
        """
        if self.running:
            return False
        if not text.strip():
            self.noticed.emit(EMPTY)
            return False
        try:
            self._send(text)
        except StoreError as error:
            self.noticed.emit(notice(error, retry=again))
            return False
        return True

    def rewrite(self, message: Message, text: str) -> None:
        """Another version of a message that was sent, beside the old one, and the reply to it."""
        if self.running:
            self.noticed.emit(replace(WAIT, retry=partial(self.rewrite, message, text)))
        elif not text.strip():
            self.noticed.emit(EMPTY)
        else:
            attempt(partial(self._rewrite, message, text), self.noticed.emit)

    def regenerate(self, message: Message | None = None) -> None:
        """Another answer to the same message, beside the old one: with a fresh seed unless one is pinned."""
        if self.running or not self.messages:
            return
        ids = [m.id for m in self.messages]
        at = ids.index(message.id) if message is not None and message.id in ids else len(ids) - 1
        if self.messages[at].role == "assistant":
            at -= 1
        if at >= 0:
            self.answer(self.messages[at].chat, ids[at])

    def answer(self, chat: int, asked: int) -> None:
        """Another answer to the message ``asked``, also when other messages are on screen by now."""
        if self.running:
            self.noticed.emit(replace(WAIT, retry=partial(self.answer, chat, asked)))
        else:
            attempt(partial(self._answer, chat, asked), self.noticed.emit)

    def stop(self, chat: int | None = None) -> None:
        """Stop the running reply (if ``chat`` is given: only one of that chat); what was written stays."""
        live = self._replying.message
        if live is not None and chat in (None, live.chat):
            self._replying.stop()

    def finish(self) -> None:
        """The engine is gone for good (the program ends): keep what there is."""
        self._replying.finish()
        self.unsaved.settle()

    def prompt(self, typed: str = "") -> list[protocol.Message]:
        """What the engine would read if ``typed`` were sent now."""
        return asking.prompt(self.messages, self.chat_settings.system_prompt, typed)

    def request_again(self, reply: Message) -> ReplyRequest:
        """The request that made ``reply``, for a comparison."""
        before = self.messages[: [m.id for m in self.messages].index(reply.id)]
        return asking.request_again(reply, before, self.chat_settings)

    def set_comparison(self, reply: Message, comparison: dict[str, Any]) -> None:
        """Keep a comparison's figures with its reply."""
        self._change(reply.id, comparison=comparison)
        self.unsaved.update(reply.id, comparison=comparison)

    def _send(self, text: str) -> None:
        chat: Chat | NewChat | None = self.chat
        if chat is None:
            chat = NewChat(title_from(text), self.chat_settings.model_dump(mode="json"))
        parent = self.messages[-1].id if self.messages else None
        request = asking.request(self.messages, self.chat_settings, text)
        turn = self._store.add_turn(chat, parent, text, **self._made_with(request))
        self.chat, asked, reply = turn.result()
        for message in (asked, reply):
            self.messages.append(message)
            self.appended.emit(message)
        self._replying.begin(reply, request)
        self.chats_changed.emit()

    def _rewrite(self, message: Message, text: str) -> None:
        upto = self._upto(message.chat, message.id)
        if upto is None or self.chat is None:
            return
        request = asking.request(upto[:-1], self.chat_settings, text)
        turn = self._store.add_turn(self.chat, message.parent, text, **self._made_with(request))
        self.chat, asked, reply = turn.result()
        self.messages = [*upto[:-1], asked, reply]
        self.opened.emit(self.messages[:-1])
        self.rewrote.emit(message.id)
        self.appended.emit(reply)
        self._replying.begin(reply, request)
        self.chats_changed.emit()

    def _answer(self, chat: int, asked: int) -> None:
        upto = self._upto(chat, asked)
        if upto is None:
            return
        request = asking.request(upto, self.chat_settings)
        made_with = self._made_with(request)
        reply = self._store.add_message(chat, asked, "assistant", "", "streaming", **made_with).result()
        self.messages = [*upto, reply]
        self.opened.emit(upto)
        self.appended.emit(reply)
        self._replying.begin(reply, request)

    def _upto(self, chat: int, message: int) -> list[Message] | None:
        """The branch up to and with a message, which is on screen then; None = the chat is gone."""
        if not self._shows(chat):
            self._open(chat)
            if not self._shows(chat):
                return None
        if message not in [m.id for m in self.messages]:
            self._turn_to(chat, message)
        return self.messages[: [m.id for m in self.messages].index(message) + 1]

    def _made_with(self, request: ReplyRequest) -> dict[str, Any]:
        """What a reply's row says of how it is made, before its first word: no model while another is on its way."""
        state = State() if self._bridge.holding else self._replying.state
        return {
            "target": state.target.id if state.target else None,
            "draft": state.draft.id if state.draft else None,
            "settings": asking.recipe(request, self.chat_settings),
        }

    def _on_failed(self, message: Message, error: EngineError) -> None:
        again = partial(self.answer, message.chat, message.parent) if message.parent is not None else None
        if error.details.get(WAITED):  # its pair did not come: what can be tried again is said there
            again = None
        self.noticed.emit(notice(error, partial=bool(message.content), retry=again))

    def _change(self, message: int, **fields: Any) -> None:
        """Some of what is on screen."""
        for shown in self.messages:
            if shown.id == message:
                self._replace(replace(shown, **fields))

    def _replace(self, message: Message) -> None:
        for at, old in enumerate(self.messages):
            if old.id == message.id:
                self.messages[at] = message
                self.changed.emit(message)
