"""What a window that is kept open does by itself: stand where it stood, and tell that a reply has ended."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication, QMainWindow

from desktop.models.conversation import Conversation
from desktop.settings import SettingsFile
from desktop.store import Message

_READ_OUT = 1_000
"""Characters of a reply that a screen reader is given; all of it stands in the message."""


class Habits(QObject):
    """Of one window."""

    def __init__(self, window: QMainWindow, conversation: Conversation, settings: SettingsFile) -> None:
        super().__init__(window)
        self._window, self._settings, self._conversation = window, settings, conversation
        if settings.now.place:  # what cannot be read, or lies on no screen, Qt leaves or moves
            window.restoreGeometry(QByteArray.fromBase64(settings.now.place.encode("ascii", "replace")))
        self._reply: Message | None = None
        conversation.running_changed.connect(self._ran)

    def keep(self) -> None:
        """Remember where the window stands and how large it is."""
        place = bytes(self._window.saveGeometry().toBase64().data()).decode("ascii")
        if place != self._settings.now.place:
            self._settings.change(place=place)

    def _ran(self, running: bool) -> None:
        if running:
            self._reply = self._conversation.live
            return
        if not self._window.isActiveWindow():
            QApplication.alert(self._window)
        self._announce()

    def _announce(self) -> None:
        """Once for a reply: a screen reader that followed the stream would never come to an end."""
        for message in self._conversation.messages:
            if self._reply is not None and message.id == self._reply.id:  # not one of a chat that is not shown
                said = message.content[:_READ_OUT]
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._window, said))
