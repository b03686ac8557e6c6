"""A message, being written anew in its place: handing it over starts another branch, and the old one stays."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.widgets.composer import MessageEdit

_SENT = "Sends a new version. The old one stays beside it."
_SAVED = "Saves your version of the reply. The old one stays beside it, and the chat goes on from yours."


class Rewrite(QWidget):
    """Enter or *Send* hands the text over, Esc or *Cancel* leaves everything as it was.

    Args:
        text: what it begins with.
        reply: a reply's, which has lines: Ctrl+Enter or *Save* hands it over.
    """

    sent = Signal(str)
    left = Signal()
    paused = Signal(str)
    """What is written, whenever the writing pauses."""

    def __init__(self, text: str, parent: QWidget | None = None, *, reply: bool = False) -> None:
        super().__init__(parent)
        self.edit = MessageEdit(lines=reply)
        self.edit.setAccessibleName("Your version of the reply" if reply else "New version of the message")
        self.edit.setPlainText(text)
        self.edit.entered.connect(self._send)
        self.edit.textChanged.connect(self._refresh)
        self._pause = QTimer(self, singleShot=True, interval=300)
        self._pause.timeout.connect(lambda: self.paused.emit(self.text))
        self.edit.installEventFilter(self)
        words = QLabel(_SAVED if reply else _SENT)
        words.setObjectName("subtle")
        words.setWordWrap(True)
        self.send = QPushButton("Save" if reply else "Send")
        self.send.setToolTip("Save (Ctrl+Enter)" if reply else "Send (Enter)")
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
        layout.addWidget(_framed(self.edit) if reply else self.edit)  # a message is in its bubble already
        layout.addLayout(row)
        self.setFocusProxy(self.edit)

    @property
    def text(self) -> str:
        """What is written: every letter of it, also the spaces that Qt's plain text makes usual ones."""
        return as_typed(self.edit.document().toRawText())

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
        if self.text.strip():
            self.sent.emit(self.text)

    def _refresh(self) -> None:
        self._pause.start()
        self.send.setEnabled(bool(self.text.strip()))


def _framed(edit: QWidget) -> QFrame:
    frame = QFrame()
    frame.setObjectName("bubble")
    inside = QVBoxLayout(frame)
    inside.setContentsMargins(14, 9, 14, 5)
    inside.addWidget(edit)
    return frame


def as_typed(text: str) -> str:
    """With the one end of a line that a text field knows."""
    for end in ("\r\n", "\r", "\u2028", "\u2029"):
        text = text.replace(end, "\n")
    return text
