"""Where a message is written: it grows, Enter sends, Shift+Enter makes a line, an input method may finish first."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QInputMethodEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from desktop.figures import count
from desktop.theme.icons import IconButton
from desktop.widgets.elided import Elided
from desktop.words import FILES, IMAGES, Notice

_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".heic", ".tif", ".tiff")
_MOST_LINES = 9
_MOST_OF_MANY = 24
_COUNTED = "Tokens that the model would read if this message were sent: the conversation so far, and the message."
_BUSY = "A reply is being written: Esc stops it, your message stays here."


class Composer(QFrame):
    """The message box with its token count and its one button, which sends or stops."""

    submitted = Signal(str)
    stopped = Signal()
    refused = Signal(object)
    counting = Signal(str)
    """The text stopped changing: its tokens may be counted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._running = False
        self.edit = MessageEdit()
        self.edit.entered.connect(self.submit)
        self.edit.refused.connect(self.refused)
        self.edit.textChanged.connect(self._changed)
        self.edit.installEventFilter(self)
        self._note = Elided("")
        self._note.setObjectName("subtle")
        self._standing = ""
        self._count = QLabel()
        self._count.setObjectName("count")
        self._count.setToolTip(_COUNTED)
        self.button = IconButton("send", "Send", shortcut="Return")
        self.button.setProperty("primary", True)
        self.button.clicked.connect(self._pressed)
        self.button.setAutoRaise(False)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(0, 0, 0, 0)
        bottom.addWidget(self._note, 1)
        bottom.addSpacing(8)
        bottom.addWidget(self._count)
        bottom.addSpacing(8)
        bottom.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 8, 8)
        layout.setSpacing(2)
        layout.addWidget(self.edit)
        layout.addLayout(bottom)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._pause = QTimer(self, singleShot=True, interval=300)
        self._pause.timeout.connect(lambda: self.counting.emit(self.text))
        self.setFocusProxy(self.edit)
        self._refresh()

    @property
    def text(self) -> str:
        """What is written."""
        return self.edit.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace it; what an example replaces comes back with the text field's own undo."""
        if not text:
            self.edit.clear()  # what was sent is in the conversation
            return
        cursor = self.edit.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.edit.setTextCursor(cursor)

    def replace_text(self, text: str) -> None:
        """Another chat's: nothing of this one comes back with the text field's undo."""
        self.edit.setPlainText(text)
        self.edit.moveCursor(QTextCursor.MoveOperation.End)

    def set_running(self, running: bool) -> None:
        """While a reply runs the button stops it; writing goes on."""
        self._running = running
        self._note.set_full_text(self._standing)
        self._refresh()

    @property
    def note(self) -> str:
        """What the line below the text says."""
        return self._note.full_text

    def set_note(self, text: str) -> None:
        """A quiet word about the model, as long as nothing else has to be said there."""
        if text != self._standing:
            self._standing = text
            self._note.set_full_text(text)

    def set_count(self, tokens: int | None, size: int | None) -> None:
        """Show the prompt's size."""
        over = tokens is not None and size is not None and tokens >= size
        text = "" if tokens is None else f"{count(tokens)} tok" + (f" of {count(size)}" if over and size else "")
        self._count.setText(text)
        if self._count.property("over") != over:
            self._count.setProperty("over", over)
            self._count.style().polish(self._count)

    def submit(self) -> None:
        """Hand the text over; who takes it clears it, so that a message that was not sent stays."""
        if not self._running:
            self.submitted.emit(self.text)
        elif self.text.strip():
            self._note.set_full_text(_BUSY)
            QAccessible.updateAccessibility(QAccessibleEvent(self._note, QAccessible.Event.Alert))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.edit and isinstance(event, QFocusEvent):
            self.setProperty("focused", event.gotFocus())
            self.style().polish(self)
        return super().eventFilter(watched, event)

    def _pressed(self) -> None:
        if self._running:
            self.stopped.emit()
        else:
            self.submit()

    def _changed(self) -> None:
        self._pause.start()
        self._refresh()

    def _refresh(self) -> None:
        if self._running:
            self.button.set_icon("stop")
            self.button.set_label("Stop", "Esc")
        else:
            self.button.set_icon("send")
            self.button.set_label("Send", "Return")
        self.button.setEnabled(self._running or bool(self.text.strip()))


class MessageEdit(QPlainTextEdit):
    """The text field itself.

    Args:
        lines: it is for a text of many lines: Enter makes one, Ctrl+Enter enters the text.
    """

    entered = Signal()
    refused = Signal(object)

    def __init__(self, *, lines: bool = False) -> None:
        super().__init__()
        self._lines = lines
        self.setPlaceholderText("Message…")
        self.setAccessibleName("Message")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(2)
        self._composing = False
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        held = event.modifiers()
        newline = bool(held & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier))
        if self._lines:
            newline = not held & Qt.KeyboardModifier.ControlModifier
        if enter and not newline and not self._composing:
            self.entered.emit()
            return
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasImage() or source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        refusal = refusal_for(source)
        if refusal is not None:
            self.refused.emit(refusal)
        else:
            super().insertFromMimeData(source)

    def _fit(self) -> None:
        # a plain-text document measures itself in lines
        most = _MOST_OF_MANY if self._lines else _MOST_LINES
        lines = min(max(round(self.document().size().height()), 1), most)
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 8)


def refusal_for(source: QMimeData) -> Notice | None:
    """The sentence for what cannot be sent; None for plain text."""
    files = [url for url in source.urls() if url.isLocalFile()]
    if files:
        images = any(url.fileName().lower().endswith(_IMAGE_ENDINGS) for url in files)
        return IMAGES if images else FILES
    return IMAGES if source.hasImage() and not source.hasText() else None
