"""What a window that is kept open does by itself: stand where it stood, and tell that a reply has ended unseen."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QObject
from PySide6.QtWidgets import QApplication, QMainWindow

from desktop.models.conversation import Conversation
from desktop.settings import SettingsFile


class Habits(QObject):
    """Of one window."""

    def __init__(self, window: QMainWindow, conversation: Conversation, settings: SettingsFile) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        if settings.now.place:  # what cannot be read, or lies on no screen, Qt leaves or moves
            window.restoreGeometry(QByteArray.fromBase64(settings.now.place.encode("ascii", "replace")))
        conversation.running_changed.connect(self._ended)

    def keep(self) -> None:
        """Remember where the window stands and how large it is."""
        place = bytes(self._window.saveGeometry().toBase64().data()).decode("ascii")
        if place != self._settings.now.place:
            self._settings.change(place=place)

    def _ended(self, running: bool) -> None:
        if not running and not self._window.isActiveWindow():
            QApplication.alert(self._window)
