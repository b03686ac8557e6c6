"""Where a message is written, and what goes along with it: the text field with its chips above."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop.language import tr
from desktop.store import Draft
from desktop.theme.icons import IconButton
from desktop.widgets.chips import Chips
from desktop.widgets.message_edit import MessageEdit
from desktop.words import NO_FILES


class Writing(QWidget):
    """A draft, on screen.

    Args:
        reply: of a reply, which has many lines and takes no files.
    """

    edited = Signal()
    """Text or attachments changed."""
    offered = Signal(object)
    """Something that is no plain text was dropped or pasted (see ``MessageEdit``), or None: a file is to be chosen."""

    def __init__(self, parent: QWidget | None = None, *, reply: bool = False) -> None:
        super().__init__(parent)
        self.chips = Chips(self)  # before the text, for the keyboard too
        self.edit = MessageEdit(lines=reply)
        self.clip = IconButton("clip", tr("Attach files"))
        """For whoever shows this to place."""
        self.clip.clicked.connect(lambda: self.offered.emit(None))
        if reply:
            self.clip.hide()
        self.edit.offered.connect(lambda what: self.offered.emit(NO_FILES if reply else what))
        self.edit.textChanged.connect(self.edited)
        self.chips.changed.connect(self.edited)
        self.chips.emptied.connect(lambda: self.edit.setFocus(Qt.FocusReason.OtherFocusReason))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.chips)
        layout.addWidget(self.edit)
        self.setFocusProxy(self.edit)

    @property
    def draft(self) -> Draft:
        """What is written, and what was attached; what is still being read is no part of it."""
        return Draft(self.text, self.chips.attachments)

    @property
    def text(self) -> str:
        """What is written: every letter of it, also the spaces that Qt's plain text makes usual ones."""
        return as_typed(self.edit.document().toRawText())

    @property
    def empty(self) -> bool:
        """Whether there is nothing to send."""
        return not self.text.strip() and not self.chips.chips

    def replace(self, draft: Draft) -> None:
        """Another one: nothing of this one comes back with the text field's undo."""
        self.edit.setPlainText(draft.text)
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.chips.replace(draft.attachments)


def as_typed(text: str) -> str:
    """With the one end of a line that a text field knows."""
    for end in ("\r\n", "\r", "\u2028", "\u2029"):
        text = text.replace(end, "\n")
    return text
