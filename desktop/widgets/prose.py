"""One block of Markdown as a read-only document that is exactly as tall as its text.

Models write links and images of their own; nothing is ever fetched or opened from disk for them, and only plain web
and mail links can be followed.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFont,
    QFontDatabase,
    QResizeEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextOption,
    QTextTable,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

from desktop.theme.tokens import Tokens, tokens_now

ALLOWED_SCHEMES = frozenset({"http", "https", "mailto"})
_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML


class Prose(QTextBrowser):
    """Markdown without fenced code. ``set_markdown`` may be called as often as the text grows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("prose")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setOpenLinks(False)
        self.setAccessibleName("Text of the message")
        self.anchorClicked.connect(self.follow)
        self.document().setDocumentMargin(0)
        self.document().setIndentWidth(24)
        option = QTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.document().setDefaultTextOption(option)
        self._markdown = ""
        self._plain = False

    def set_markdown(self, text: str) -> None:
        """Show ``text``."""
        if text != self._markdown or self._plain:
            self._markdown, self._plain = text, False
            self._render()

    def set_plain(self, text: str) -> None:
        """Show ``text`` as typed (a person's own message)."""
        self._markdown, self._plain = text, True
        self._render()

    def follow(self, url: QUrl) -> bool:
        """Open a link in the system's browser if its scheme is on the list; says whether it was."""
        allowed = url.scheme().lower() in ALLOWED_SCHEMES
        return allowed and QDesktopServices.openUrl(url)

    def loadResource(self, kind: int, url: QUrl | str) -> Any:
        """Never load anything that a model wrote an address of."""
        return None

    def _render(self) -> None:
        document = self.document()
        if self._plain:
            document.setPlainText(self._markdown)
        else:
            document.setMarkdown(self._markdown, _FEATURES)
        _style(document, tokens_now(), self.font())
        self._fit()

    def _fit(self) -> None:
        document = self.document()
        document.setTextWidth(max(self.viewport().width(), 50))
        self.setFixedHeight(max(round(document.size().height() + 0.5), self.fontMetrics().height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_plain"):
            self._render()

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()  # the conversation scrolls, not the block

    def minimumSizeHint(self) -> QSize:
        return QSize(50, super().minimumSizeHint().height())


def _style(document: QTextDocument, tokens: Tokens, font: QFont) -> None:
    """Space, sizes and colours that Qt's Markdown leaves at their defaults."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    block = document.begin()
    while block.isValid():
        _style_block(QTextCursor(block), font)
        fragments = block.begin()
        while not fragments.atEnd():
            _style_fragment(document, fragments.fragment(), tokens)
            fragments += 1
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _style_table(frame, tokens)
    cursor.endEditBlock()


def _style_block(cursor: QTextCursor, font: QFont) -> None:
    size = font.pointSizeF() if font.pointSizeF() > 0 else 10.0
    style = QTextBlockFormat()
    level = cursor.blockFormat().headingLevel()
    inside = cursor.currentTable() is not None
    quoted = cursor.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel)
    style.setLineHeight(100 if inside else 135, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if level:
        big = QTextCharFormat()
        big.setFontPointSize(size * {1: 1.35, 2: 1.2}.get(level, 1.06))
        big.setFontWeight(QFont.Weight.DemiBold)
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        cursor.mergeCharFormat(big)
        style.setTopMargin(size * 0.9 if cursor.block().blockNumber() else 0)
        style.setBottomMargin(size * 0.4)
    elif not inside:
        style.setBottomMargin(size * (0.3 if cursor.currentList() else 0.8))
        style.setTopMargin(size * 0.5 if quoted else 0)
    if quoted:
        quiet = QTextCharFormat()
        quiet.setForeground(tokens_now().subtle)
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        cursor.mergeCharFormat(quiet)
    if not cursor.block().next().isValid():
        style.setBottomMargin(0)
    cursor.mergeBlockFormat(style)


def _style_fragment(document: QTextDocument, fragment: Any, tokens: Tokens) -> None:
    current = fragment.charFormat()
    style = QTextCharFormat()
    if current.fontFixedPitch():
        style.setFontFamilies([QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()])
        style.setBackground(tokens.hover)
    if current.isAnchor():
        allowed = QUrl(current.anchorHref()).scheme().lower() in ALLOWED_SCHEMES
        style.setForeground(tokens.accent if allowed else tokens.subtle)
        style.setFontUnderline(allowed)
        style.setToolTip(current.anchorHref())
        if not allowed:
            style.setAnchor(False)
    if style.propertyCount():
        cursor = QTextCursor(document)
        cursor.setPosition(fragment.position())
        cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(style)


def _style_table(table: QTextTable, tokens: Tokens) -> None:
    style = table.format()
    style.setBorderCollapse(True)
    style.setBorder(1)
    style.setBorderBrush(tokens.line)
    style.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    style.setCellPadding(5)
    style.setCellSpacing(0)
    style.setTopMargin(4)
    style.setBottomMargin(8)
    style.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
    table.setFormat(style)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        head = cell.format()
        head.setBackground(tokens.code)
        cell.setFormat(head)
