"""Rename, pin, delete and undo: written first, then shown. A fault is said, and everything stays as it was."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from desktop.language import tr
from desktop.models.attempt import Attempts, Steps
from desktop.store import Chat

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow


class ChatChanges(QObject):
    """What the sidebar asks for, done in the store and on the window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._deleted: list[Chat] = []
        self._attempts = Attempts(self)
        self._attempts.noticed.connect(window.page.notice.show_notice)
        self._attempts.withdrawn.connect(window.page.notice.withdraw)
        window.sidebar.renamed.connect(self.rename)
        window.sidebar.deleted.connect(self.delete)
        window.sidebar.pinned.connect(self.pin)

    def rename(self, chat: int, title: str) -> None:
        """Another title."""
        self._attempts.run(partial(self._rename, chat, title))

    def pin(self, chat: Chat) -> None:
        """To the top of the list, or back to its day."""
        self._attempts.run(partial(self._pin, chat))

    def delete(self, chat: Chat) -> None:
        """Delete with undo."""
        self._attempts.run(partial(self._delete, chat))

    def undo(self) -> None:
        """Bring the last deleted chat back; it stays deleted for good only after the next start."""
        if self._deleted:
            self._attempts.run(partial(self._restore, self._deleted[-1]))

    def _rename(self, chat: int, title: str) -> Steps:
        yield self._window.store.rename_chat(chat, title)
        self._window.conversation.renamed(chat, title)
        self._window.conversation.chat_changed.emit(chat)

    def _pin(self, chat: Chat) -> Steps:
        yield self._window.store.pin_chat(chat.id, not chat.pinned)
        self._window.conversation.chat_changed.emit(chat.id)

    def _delete(self, chat: Chat) -> Steps:
        window, conversation = self._window, self._window.conversation
        yield window.store.delete_chat(chat.id)
        self._deleted.append(chat)
        conversation.stop(chat.id)
        if conversation.chat is not None and conversation.chat.id == chat.id:
            window.new_chat()
        conversation.chat_changed.emit(chat.id)
        window.toast.say(tr("“{title}” was deleted.", title=chat.title), self.undo)

    def _restore(self, chat: Chat) -> Steps:
        yield self._window.store.undelete_chat(chat.id)
        self._window.toast.hide()
        if chat in self._deleted:
            self._deleted.remove(chat)
        self._window.conversation.chat_changed.emit(chat.id)
        self._window.open_chat(chat.id)
