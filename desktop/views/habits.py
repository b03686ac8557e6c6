"""What a window that is kept open does by itself: stand where it stood, and read out a reply that has ended."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QMainWindow

from desktop.models.conversation import Conversation
from desktop.models.thinking import whole_text
from desktop.settings import SettingsFile
from desktop.store import Message
from desktop.widgets.divided import Divided
from desktop.widgets.spoken import spoken

_READ_OUT = 1_000
"""Characters of a reply that a screen reader is given; all of it stands in the message."""


class Habits(QObject):
    """Of one window."""

    def __init__(self, window: QMainWindow, conversation: Conversation, settings: SettingsFile) -> None:
        super().__init__(window)
        self._window, self._settings, self._conversation = window, settings, conversation
        if settings.now.place:  # what cannot be read, or lies on no screen, Qt leaves or moves
            window.restoreGeometry(QByteArray.fromBase64(settings.now.place.encode("ascii", "replace")))
        for split in window.findChildren(Divided):
            split.take(settings.now.widths.get(split.objectName()))
        self._reply: Message | None = None
        conversation.running_changed.connect(self._ran)

    def keep(self) -> None:
        """Remember where the window stands, how large it is, and how its parts share that."""
        place = bytes(self._window.saveGeometry().toBase64().data()).decode("ascii")
        parts = {split.objectName(): split.shares for split in self._window.findChildren(Divided)}
        changed = {"place": place, "widths": self._settings.now.widths | parts}
        if any(getattr(self._settings.now, name) != value for name, value in changed.items()):
            self._settings.change(**changed)

    def _ran(self, running: bool) -> None:
        if running:
            self._reply = self._conversation.live
            return
        self._announce()

    def _announce(self) -> None:
        """Once for a reply: a screen reader that followed the stream would never come to an end."""
        for message in self._conversation.messages:
            if self._reply is not None and message.id == self._reply.id:  # not one of a chat that is not shown
                said = spoken(whole_text(message), _READ_OUT)
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._window, said))
