"""A sent message, being written anew in its place: sending it starts another branch, and the old one stays."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.widgets.composer import MessageEdit

_WORDS = "Sends a new version. The old one stays beside it."


class Rewrite(QWidget):
    """Enter or *Send* hands the text over, Esc or *Cancel* leaves everything as it was."""

    sent = Signal(str)
    left = Signal()
    paused = Signal(str)
    """What is written, whenever the writing pauses."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = MessageEdit()
        self.edit.setAccessibleName("New version of the message")
        self.edit.setPlainText(text)
        self.edit.entered.connect(self._send)
        self.edit.textChanged.connect(self._refresh)
        self._pause = QTimer(self, singleShot=True, interval=300)
        self._pause.timeout.connect(lambda: self.paused.emit(self.edit.toPlainText()))
        self.edit.installEventFilter(self)
        words = QLabel(_WORDS)
        words.setObjectName("subtle")
        words.setWordWrap(True)
        self.send = QPushButton("Send")
        self.send.setProperty("primary", True)
        self.send.clicked.connect(self._send)
        cancel = QPushButton("Cancel")
        cancel.clicked.connect(self.left)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 4)
        row.addWidget(words, 1)
        row.addWidget(cancel)
        row.addWidget(self.send)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.edit)
        layout.addLayout(row)
        self.setFocusProxy(self.edit)

    def begin(self) -> None:
        """The caret at the end, and the keyboard here."""
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc is for what is written here, before it stops a reply."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    def _send(self) -> None:
        if self.edit.toPlainText().strip():
            self.sent.emit(self.edit.toPlainText())

    def _refresh(self) -> None:
        self._pause.start()
        self.send.setEnabled(bool(self.edit.toPlainText().strip()))
