"""Where a message is written: it grows, a key of a person's choice sends it, an input method may finish first."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QFocusEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from desktop.figures import count
from desktop.language import marked, tr
from desktop.settings import SendWith
from desktop.shortcuts import key_text
from desktop.store import Draft
from desktop.theme.icons import IconButton
from desktop.widgets.elided import Elided
from desktop.widgets.writing import Writing

_COUNTED = marked(
    "Tokens that the model would read if this message were sent: the conversation so far, and the message."
)
_ESTIMATED = marked("About how many tokens that is: while no model is loaded they cannot be counted.")
_BUSY = marked("A reply is being written: Esc stops it, your message stays here.")
_READING = marked("{names} is still being read. Wait a moment, or remove it.")
_DROP = marked("Drop to attach")


class Composer(QFrame):
    """The message box with its token count and its one button, which sends or stops."""

    submitted = Signal(str)
    sent = Signal()
    """What was written went out."""
    stopped = Signal()
    counting = Signal()
    """What is written stopped changing: its tokens may be counted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self._running = False
        self.writing = Writing()
        self.edit = self.writing.edit
        self.edit.entered.connect(self.submit)
        self.writing.edited.connect(self._changed)
        self.writing.clip.set_label(tr("Attach files"), key_text("attach"))
        self.edit.installEventFilter(self)
        self._note = Elided("")
        self._note.setObjectName("subtle")
        self._standing = ""
        self._count = QLabel()
        self._count.setObjectName("count")
        self._count.setToolTip(tr(_COUNTED))
        self.button = IconButton("send", tr("Send"), shortcut="Return")
        self.button.setProperty("primary", True)
        self.button.clicked.connect(self._pressed)
        self.button.setAutoRaise(False)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(0, 0, 0, 0)
        bottom.addWidget(self._note, 1)
        bottom.addSpacing(8)
        bottom.addWidget(self.writing.clip)
        bottom.addSpacing(4)
        bottom.addWidget(self._count)
        bottom.addSpacing(8)
        bottom.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 8, 8)
        layout.setSpacing(2)
        layout.addWidget(self.writing)
        layout.addLayout(bottom)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._pause = QTimer(self, singleShot=True, interval=300)
        self._pause.timeout.connect(self.counting)
        self.setFocusProxy(self.edit)
        self._refresh()

    @property
    def text(self) -> str:
        """What is written."""
        return self.writing.text

    @property
    def draft(self) -> Draft:
        """That, and what was attached."""
        return self.writing.draft

    def set_text(self, text: str) -> None:
        """Replace the text; what an example replaces comes back with the text field's own undo."""
        cursor = self.edit.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        self.edit.setTextCursor(cursor)

    def clear(self) -> None:
        """What was sent is in the conversation."""
        self.edit.clear()
        self.writing.chips.replace(())
        self.sent.emit()

    def set_send_with(self, key: SendWith) -> None:
        """What sends the message; the other key makes a line."""
        self.edit.send_with = key
        self._refresh()

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

    def say(self, text: str, *, aloud: bool = False) -> None:
        """A word in passing; "" = it has passed."""
        self._note.set_full_text(text or self._standing)
        if aloud:
            QAccessible.updateAccessibility(QAccessibleEvent(self._note, QAccessible.Event.Alert))

    def show_drop(self, over: bool) -> None:
        """Something that can be attached is held over the page, or no more."""
        self.say(tr(_DROP) if over else "")
        self._show_focus(over or self.edit.hasFocus())

    def set_count(self, tokens: int | None, size: int | None, *, estimated: bool = False) -> None:
        """Show the prompt's size."""
        over = tokens is not None and size is not None and tokens >= size
        self._count.setText("" if tokens is None else _size(tokens, size if over else None, estimated=estimated))
        self._count.setToolTip(tr(_ESTIMATED if estimated else _COUNTED))
        if self._count.property("over") != over:
            self._count.setProperty("over", over)
            self._count.style().polish(self._count)

    def submit(self) -> None:
        """Hand the text over; who takes it clears it, so that a message that was not sent stays."""
        reading = self.writing.chips.reading
        if self._running and not self.writing.empty:
            self.say(tr(_BUSY), aloud=True)
        elif reading:
            self.say(tr(_READING, names=", ".join(reading)), aloud=True)
        elif not self._running:
            self.submitted.emit(self.text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.edit and isinstance(event, QFocusEvent):
            self._show_focus(event.gotFocus())
        return super().eventFilter(watched, event)

    def _show_focus(self, on: bool) -> None:
        self.setProperty("focused", on)
        self.style().polish(self)

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
            self.button.set_label(tr("Stop"), key_text("stop"))
        else:
            self.button.set_icon("send")
            self.button.set_label(tr("Send"), "Return" if self.edit.send_with == "enter" else "Ctrl+Return")
        self.button.setEnabled(self._running or not self.writing.empty)


def _size(tokens: int, of: int | None, *, estimated: bool) -> str:
    """What the prompt takes, and of how much where that is too little."""
    taken = f"≈ {count(tokens)}" if estimated else count(tokens)
    return tr("{tokens} tok of {size}", tokens=taken, size=count(of)) if of else tr("{tokens} tok", tokens=taken)
