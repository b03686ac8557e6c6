"""A message, being written anew in its place: handing it over starts another branch, and the old one stays."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop.language import marked, tr
from desktop.settings import SendWith
from desktop.store import Draft
from desktop.widgets.in_view import InView
from desktop.widgets.writing import Writing

_SENT = marked("Sends a new version. The old one stays beside it.")
_SAVED = marked("Saves your version of the reply. The old one stays beside it, and the chat goes on from yours.")


class Rewrite(QWidget):
    """The send key or *Send* hands the text over, Esc or *Cancel* leaves everything as it was.

    Args:
        draft: what it begins with.
        send_with: the key that sends.
        reply: a reply's, which has lines: Ctrl+Enter or *Save* hands it over.
    """

    sent = Signal(object)
    """Draft."""
    left = Signal()
    paused = Signal(object)
    """Draft: what is written, whenever the writing pauses."""

    def __init__(
        self, draft: Draft, send_with: SendWith, parent: QWidget | None = None, *, reply: bool = False
    ) -> None:
        super().__init__(parent)
        self.writing = Writing(reply=reply)
        self.writing.replace(draft)
        self.edit = self.writing.edit
        self.edit.send_with = "ctrl_enter" if reply else send_with
        self.edit.setAccessibleName(tr("Your version of the reply") if reply else tr("New version of the message"))
        self.edit.entered.connect(self._send)
        self.writing.edited.connect(self._refresh)
        self._pause = QTimer(self, singleShot=True, interval=300)
        self._pause.timeout.connect(lambda: self.paused.emit(self.writing.draft))
        words = QLabel(tr(_SAVED if reply else _SENT))
        words.setObjectName("subtle")
        words.setWordWrap(True)
        self.send = QPushButton(tr("Save") if reply else tr("Send"))
        key = tr("Enter") if self.edit.send_with == "enter" else tr("Ctrl+Enter")
        self.send.setToolTip(f"{self.send.text()} ({key})")
        self.send.setProperty("primary", True)
        self.send.clicked.connect(self._send)
        cancel = QPushButton(tr("Cancel"))
        cancel.clicked.connect(self.left)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 4)
        row.addWidget(words, 1)
        row.addWidget(self.writing.clip)
        row.addWidget(cancel)
        row.addWidget(self.send)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(_framed(self.writing) if reply else self.writing)  # a message is in its bubble already
        layout.addLayout(row)
        InView(self, self.edit)
        self.setFocusProxy(self.edit)

    def begin(self) -> None:
        """The caret at the end, and the keyboard here."""
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Esc is for what is written here, before it stops a reply: from whatever part of it the key comes."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                self.left.emit()
                return True
        return super().event(event)

    def _send(self) -> None:
        if self.send.isEnabled():
            self.sent.emit(self.writing.draft)

    def _refresh(self) -> None:
        self._pause.start()
        self.send.setEnabled(not self.writing.empty and not self.writing.chips.reading)


def _framed(edit: QWidget) -> QFrame:
    frame = QFrame()
    frame.setObjectName("bubble")
    inside = QVBoxLayout(frame)
    inside.setContentsMargins(14, 9, 14, 5)
    inside.addWidget(edit)
    return frame
