"""One fenced code block: language, a copy button, code that scrolls sideways and is coloured when it is whole."""

from __future__ import annotations

import math
import time

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QFocusEvent, QFont, QFontDatabase, QGuiApplication, QTextLayout, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.theme.highlight import highlight
from desktop.theme.icons import IconButton
from desktop.theme.tokens import tokens_now
from desktop.widgets.low_bar import LowBar

_SHORT = 6000
"""While streaming, code up to this length is coloured again four times a second; longer code waits for its end."""


class CodeBlock(QFrame):
    """Code with its own header."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("code")
        self._language = ""
        self._coloured_at = 0.0
        self._coloured: tuple[str, str, bool] | None = None
        self._name = QLabel()
        self._name.setTextFormat(Qt.TextFormat.PlainText)  # the fence's word is the model's: never HTML
        self._copy = IconButton("copy", tr("Copy code"))
        self._copy.clicked.connect(self.copy)
        self._edit = _Code()
        self._edit.installEventFilter(self)
        self._low = LowBar(self._edit, self)
        self._restore = QTimer(self, singleShot=True, interval=1500)
        self._restore.timeout.connect(lambda: self._copy.set_icon("copy"))
        head = QHBoxLayout()
        head.setContentsMargins(10, 2, 4, 0)
        head.addWidget(self._name)
        head.addStretch(1)
        head.addWidget(self._copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._edit)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """The code alone, as written."""
        return self._edit.source

    def set_code(self, text: str, language: str, closed: bool) -> None:
        """Show ``text``; while it only grows, the new part is appended."""
        self._language = language
        self._name.setText(language or tr("text"))
        self._edit.setAccessibleName(tr("Code, {language}", language=language) if language else tr("Code, plain text"))
        self._low.setAccessibleName(self._edit.accessibleName())
        self._edit.show_text(text)
        if closed or (len(text) < _SHORT and time.monotonic() - self._coloured_at > 0.25):
            self._colour()

    def copy(self) -> None:
        """The code to the clipboard, with a tick for confirmation."""
        QGuiApplication.clipboard().setText(self.text)
        self._copy.set_icon("check")
        self._restore.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QFocusEvent):
            self.setProperty("focused", event.gotFocus())
            self.style().polish(self)
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_restore"):
            self._colour()

    def _colour(self) -> None:
        self._coloured_at = time.monotonic()
        wanted = (self.text, self._language, tokens_now().dark)
        if wanted != self._coloured:  # the palette is told several times until it is shown
            self._coloured = wanted
            self._edit.colour(self._language, tokens_now().dark)


class _Code(QPlainTextEdit):
    def __init__(self) -> None:
        super().__init__()
        self.source = ""
        """The document's own text has other spaces and line ends."""
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
        font.setFixedPitch(True)
        self.setFont(font)  # its size is the style sheet's
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.document().setDocumentMargin(8)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.horizontalScrollBar().rangeChanged.connect(lambda *_: self._fit())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
            self._fit()

    def show_text(self, text: str) -> None:
        shown, self.source = self.source, text
        if text == shown:
            return
        if shown and text.startswith(shown):
            cursor = self.textCursor()
            cursor.movePosition(cursor.MoveOperation.End)
            cursor.insertText(text[len(shown) :])
        else:
            self.setPlainText(text)
        self._fit()

    def colour(self, language: str, dark: bool) -> None:
        by_line: dict[int, list[QTextLayout.FormatRange]] = {}
        for span in highlight(self.source, language, dark):
            made = QTextLayout.FormatRange()
            made.start, made.length, made.format = span.start, span.length, span.format
            by_line.setdefault(span.line, []).append(made)
        block = self.document().begin()
        while block.isValid():
            block.layout().setFormats(by_line.get(block.blockNumber(), []))
            block = block.next()
        self.document().markContentsDirty(0, self.document().characterCount())
        self.viewport().update()

    def _fit(self) -> None:
        lines = max(1, self.document().blockCount())
        bar = self.horizontalScrollBar()
        margin = self.document().documentMargin()
        line = self.blockBoundingRect(self.document().firstBlock()).height()
        if lines == 1:
            line -= margin  # the last one's rectangle holds the margin below it
        height = math.ceil(lines * (line if line > 0 else self.fontMetrics().lineSpacing()) + 2 * margin) + 2
        if bar.maximum() > 0:
            height += bar.sizeHint().height()
        self.setFixedHeight(height)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()  # up and down belong to the conversation

    def minimumSizeHint(self) -> QSize:
        return QSize(50, super().minimumSizeHint().height())
