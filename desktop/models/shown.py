"""The chat on screen and the branch of it that is shown: opened, found, and switched between versions.

No widgets here, and nothing is sent: that is ``conversation``'s.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.models.attempt import Attempts, Steps, attempt
from desktop.models.unsaved import Unsaved
from desktop.settings import ChatSettings, SettingsFile, tolerant
from desktop.store import Chat, Message, Store, StoreError
from desktop.words import DAMAGED, GONE, WAIT

log = logging.getLogger(__name__)


class Shown(QObject):
    """What is on screen. Signals carry store records."""

    opened = Signal(object)
    """list[Message]: show these instead of what is shown."""
    found = Signal(int, str)
    """A message that is shown now, and words in it."""
    appended = Signal(object)
    changed = Signal(object)
    noticed = Signal(object)
    withdrawn = Signal(object)
    """Notice: this one is no longer so."""

    def __init__(self, store: Store, settings: SettingsFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._settings = settings
        self.chat: Chat | None = None
        self.messages: list[Message] = []
        self.chat_settings: ChatSettings = settings.now.new_chat
        self.unsaved = Unsaved(store, self)
        self.unsaved.noticed.connect(self.noticed)
        self.unsaved.saved.connect(self.withdrawn)
        self._attempts = Attempts(self)
        self._attempts.noticed.connect(self.noticed)
        self._attempts.withdrawn.connect(self.withdrawn)

    @property
    def live(self) -> Message | None:
        """A reply that is being made, newer than what is stored of it."""
        return None

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
        self._attempts.run(partial(self._find, chat, message, words))

    def set_chat_settings(self, settings: ChatSettings) -> None:
        """Change this chat's settings; they count from the next message."""
        self.chat_settings = settings
        if self.chat is not None:
            self._attempts.run(partial(self._keep_settings, self.chat.id, settings))

    def set_settings_of(self, chat: int, settings: ChatSettings) -> None:
        """Change a chat's settings, shown or not."""
        if self._shows(chat):
            self.set_chat_settings(settings)
        else:
            self._attempts.run(partial(self._keep_settings, chat, settings))

    def set_new_chat(self, settings: ChatSettings) -> None:
        """What new chats begin with; an empty page on which nothing else was chosen follows."""
        follows = self.chat is None and self.chat_settings == self._settings.now.new_chat
        self._settings.change(new_chat=settings)
        if follows:
            self.chat_settings = settings

    def renamed(self, chat: int, title: str) -> None:
        """A chat has another title now."""
        if self.chat is not None and self.chat.id == chat:
            self.chat = replace(self.chat, title=title)

    def show_sibling(self, message: Message, step: int) -> None:
        """Another answer to the same message."""
        if self.chat is not None and self.live is None:
            self._attempts.run(partial(self._show_sibling, message, step))

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
        self.chat_settings, dropped = tolerant(ChatSettings, found.settings)
        self.opened.emit(messages)
        if dropped:
            log.warning("of the settings of chat %d these could not be used: %s", chat, ", ".join(dropped))
        if dropped or any(message.damaged for message in messages):
            self.noticed.emit(DAMAGED)

    def _keep_settings(self, chat: int, settings: ChatSettings) -> Steps:
        yield self._store.set_chat_settings(chat, settings.model_dump(mode="json"))

    def _find(self, chat: int, message: int, words: str) -> Steps:
        if not self._shows(chat):
            self._open(chat)
            if not self._shows(chat):
                return
        if message not in [m.id for m in self.messages]:
            if self.live is not None and self.live.chat == chat:  # on the branch that is shown
                self.noticed.emit(replace(WAIT, retry=partial(self.find, chat, message, words)))
                return
            yield from self._turn_to(chat, message)
        if self._shows(chat):
            self.found.emit(message, words)

    def _branch(self, chat: int) -> list[Message]:
        """The chat's branch as it really is: with what is not on disk yet."""
        live = self.live
        stored = self._store.branch(chat)
        return [live if live is not None and live.id == m.id else self.unsaved.over(m) for m in stored]

    def _show_sibling(self, message: Message, step: int) -> Steps:
        siblings = self._store.siblings(message)
        at = siblings.index(message.id) + step
        if 0 <= at < len(siblings):
            yield from self._turn_to(message.chat, siblings[at])

    def _turn_to(self, chat: int, message: int) -> Steps:
        """The branch that runs through ``message``."""
        yield self._store.set_tip(chat, self._store.leaf_below(message))
        self._read_again(chat)

    def _read_again(self, chat: int) -> None:
        """What is on screen of a chat, if it is this one."""
        if self._shows(chat):
            self.messages = self._branch(chat)
            self.opened.emit(self.messages)

    def _upto(self, chat: int, message: int) -> Generator[Future[Any], Any, list[Message] | None]:
        """The branch up to and with a message, which is on screen then; None = the chat is gone, or no longer shown."""
        if not self._shows(chat):
            self._open(chat)
            if not self._shows(chat):
                return None
        if message not in [m.id for m in self.messages]:
            yield from self._turn_to(chat, message)
            if not self._shows(chat):
                return None
        return self.messages[: [m.id for m in self.messages].index(message) + 1]

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
