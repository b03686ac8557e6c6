"""The text field that messages are written in: it grows, and an input method may finish before Enter sends."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent, QTextOption
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from desktop.language import tr
from desktop.settings import SendWith
from desktop.widgets.wrapping import wrap_mode
from desktop.words import IMAGES, Notice

_MOST_LINES = 9
_MOST_OF_MANY = 24
LONG = 10_000
"""Characters of a pasted text from which on it would rather be an attachment: some 200 lines."""


class MessageEdit(QPlainTextEdit):
    """Plain text comes in by itself; anything else is offered to whoever knows what to do with it.

    Args:
        lines: it is for a text of many lines, which grows further and takes a long text as it is.
    """

    entered = Signal()
    offered = Signal(object)
    """list[Path]: files; str: a long text; Notice: what cannot be sent, and why."""

    def __init__(self, *, lines: bool = False) -> None:
        super().__init__()
        self._lines = lines
        self.setPlaceholderText(tr("Message…"))
        self.setAccessibleName(tr("Message"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.document().setDocumentMargin(2)
        self.send_with: SendWith = "enter"
        """The key that enters the text; the other makes a line."""
        self._composing = False
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not self._composing and self._enters(event.modifiers()):
            self.entered.emit()
            return
        super().keyPressEvent(event)

    def _enters(self, held: Qt.KeyboardModifier) -> bool:
        if self.send_with == "ctrl_enter":
            return bool(held & Qt.KeyboardModifier.ControlModifier)
        return not held & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = bool(event.preeditString())
        super().inputMethodEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasImage() or source.hasUrls() or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        offer = offer_in(source)
        if offer is None or (self._lines and isinstance(offer, str)):
            self._wrap_for(source.text())
            super().insertFromMimeData(source)
        else:
            self.offered.emit(offer)

    def insert(self, text: str) -> None:
        """As if it were typed at the caret."""
        self._wrap_for(text)
        self.textCursor().insertText(text)
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def setPlainText(self, text: str) -> None:
        self.setWordWrapMode(wrap_mode(text))
        super().setPlainText(text)

    def _wrap_for(self, more: str) -> None:
        """Before a text comes in that would take long to lay out."""
        if (mode := wrap_mode(more)) == QTextOption.WrapMode.WrapAnywhere:
            self.setWordWrapMode(mode)

    def _fit(self) -> None:
        # a plain-text document measures itself in lines
        most = _MOST_OF_MANY if self._lines else _MOST_LINES
        lines = min(max(round(self.document().size().height()), 1), most)
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 8)


def offer_in(source: QMimeData) -> list[Path] | str | Notice | None:
    """What of a clipboard or of a drag is more than plain text; None = nothing."""
    files = [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
    if files:
        return files
    if source.hasImage() and not source.hasText():
        return IMAGES
    text = source.text() if source.hasText() else ""
    return text if len(text) >= LONG else None
