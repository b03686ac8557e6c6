"""A long reply that ends where nobody looks is told by the desktop: people turn to something else meanwhile.

Who has stopped it, deleted its chat or closed the window knows that it has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from desktop.language import tr
from desktop.models.conversation import Conversation

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow

LONG_MS = 8_000
"""A reply that takes less is waited for."""


class Unseen(QObject):
    """Of one window. There is an icon in the tray only from a message on until the window is looked at."""

    def __init__(self, window: MainWindow, conversation: Conversation) -> None:
        super().__init__(window)
        self._window, self._conversation = window, conversation
        self._chat: int | None = None
        """Where the reply is written."""
        self._clock = QElapsedTimer()
        self._tray: QSystemTrayIcon | None = None
        conversation.running_changed.connect(self._ran)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.applicationStateChanged.connect(self._looked)

    def _ran(self, running: bool) -> None:
        if running:
            self._chat = self._conversation.live.chat if self._conversation.live is not None else None
            self._clock.start()
        elif self._clock.elapsed() >= LONG_MS and not self._conversation.stopped and not self._seen():
            self._tell()

    def _seen(self) -> bool:
        shown = self._conversation.chat.id if self._conversation.chat is not None else None
        return self._window.isActiveWindow() and not self._window.isMinimized() and shown == self._chat

    def _tell(self) -> None:
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            QApplication.alert(self._window)
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._window.windowIcon(), self)
            self._tray.setToolTip("Tandem")
            self._tray.messageClicked.connect(self._show)
            self._tray.activated.connect(lambda _: self._show())
        self._tray.show()
        self._tray.showMessage(tr("A reply has ended"), tr("Click here to read it."), self._window.windowIcon())

    def _show(self) -> None:
        """The window, and in it the reply."""
        self._window.raise_to_front()
        shown = self._conversation.chat.id if self._conversation.chat is not None else None
        if self._chat is not None and shown != self._chat:
            self._window.open_chat(self._chat)
        self._put_away()

    def _looked(self, state: Qt.ApplicationState) -> None:
        if state == Qt.ApplicationState.ApplicationActive:
            self._put_away()

    def _put_away(self) -> None:
        if self._tray is not None:
            self._tray.hide()
