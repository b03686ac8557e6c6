"""An attachment of a sent message: a folded card with its name, which opens to the text that the model reads."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, Qt, QTimer
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from backend.documents import Attachment
from backend.text import shown_size
from desktop.language import figure, tr
from desktop.theme.icons import IconButton
from desktop.widgets.elided import Elided
from desktop.widgets.marks import mark
from desktop.widgets.tips import plain

_SHOWN = 100_000
"""Characters of a text that are laid out."""
_LINES = 14
_NAME_EM = 16


class Attached(QFrame):
    """One attachment."""

    def __init__(self, attachment: Attachment, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("attached")
        self.attachment = attachment
        self.text: QPlainTextEdit | None = None
        """Made when it is first opened."""
        self._toggle = IconButton("file", tr("Show"), text=True)
        self._toggle.setCheckable(True)
        width = _NAME_EM * 2 * self.fontMetrics().averageCharWidth()
        name = self.fontMetrics().elidedText(attachment.shown, Qt.TextElideMode.ElideMiddle, width)
        self._toggle.setText(name.replace("&", "&&"))  # no key of the button's
        self._toggle.toggled.connect(self._show)
        facts = Elided("")
        facts.setObjectName("subtle")
        facts.set_full_text(" · ".join(filter(None, [shown_size(attachment.size), attachment.part, attachment.note])))
        self._copy = IconButton("copy", tr("Copy text"))
        self._copy.setAccessibleName(tr("Copy {name}", name=attachment.shown))
        self._copy.clicked.connect(self.copy)
        head = QHBoxLayout()
        head.setContentsMargins(2, 1, 4, 1)
        head.addWidget(self._toggle)
        head.addSpacing(4)
        head.addWidget(facts, 1)
        head.addWidget(self._copy)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(0)
        self._layout.addLayout(head)
        self._name(False)

    def copy(self) -> None:
        """All of the text."""
        QGuiApplication.clipboard().setText(self.attachment.text)
        self._copy.set_icon("check")
        QTimer.singleShot(1500, self._copy, lambda: self._copy.set_icon("copy"))

    def open(self) -> None:
        """Show the text."""
        self._toggle.setChecked(True)

    def mark(self, words: Sequence[str]) -> tuple[QWidget, QRect] | None:
        """Mark words in the text, which is opened for it, or (none) no more; the first place."""
        folded = self.attachment.text[:_SHOWN].casefold()
        if any(word.casefold() in folded for word in words):
            self.open()
        if self.text is None or mark(self.text, words) is None:
            return None
        places = self.text.extraSelections()
        first = QTextCursor(self.text.document())
        first.setPosition(min(place.cursor.selectionStart() for place in places))
        self.text.setTextCursor(first)
        self.text.ensureCursorVisible()
        return self.text, self.text.cursorRect(first)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            QTimer.singleShot(0, self, self._fit)  # the text has its letters then

    def _fit(self) -> None:
        if self.text is not None:
            document = self.text.document()
            lines = document.size().height()  # of a plain text: how many, broken ones too
            if document.lastBlock().length() <= 1:
                lines = max(lines - 1, 1)  # what a line break at the end begins
            self.text.setFixedHeight(math.ceil(min(lines, _LINES) * self.text.fontMetrics().lineSpacing()) + 14)

    def _show(self, shown: bool) -> None:
        if shown and self.text is None:
            self._build()
        if self.text is not None:
            self._body.setVisible(shown)
        self._name(shown)

    def _name(self, shown: bool) -> None:
        name = self.attachment.shown
        words = tr("Hide {name}", name=name) if shown else tr("Show {name}", name=name)
        self._toggle.setAccessibleName(words)
        self._toggle.setToolTip(plain(words))

    def _build(self) -> None:
        self.text = text = QPlainTextEdit(self.attachment.text[:_SHOWN])
        text.setReadOnly(True)
        text.setFrameShape(QFrame.Shape.NoFrame)
        text.setTabChangesFocus(True)
        text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        text.setAccessibleName(tr("Text of {name}", name=self.attachment.shown))
        text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if self.attachment.language:
            text.setFont(QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families()))
            text.setObjectName("mono")  # its size is the style sheet's
        text.verticalScrollBar().rangeChanged.connect(lambda *_: self._fit())  # known once it is laid out
        self._fit()
        self._body = QWidget()
        body = QVBoxLayout(self._body)
        body.setContentsMargins(8, 0, 4, 4)
        body.addWidget(text)
        if len(self.attachment.text) > _SHOWN:
            shown, total = figure(_SHOWN, ","), figure(len(self.attachment.text), ",")
            words = tr("Here are the first {shown} of {total} characters. Copy takes all.", shown=shown, total=total)
            more = QLabel(words)
            more.setObjectName("subtle")
            more.setWordWrap(True)
            body.addWidget(more)
        self._layout.addWidget(self._body)
