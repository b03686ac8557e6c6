"""How Markdown looks: the space, sizes and colours that Qt leaves at their defaults, and words in place of images."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextImageFormat,
    QTextLength,
    QTextTable,
)

from desktop.theme.tokens import Tokens, tokens_now

ALLOWED_SCHEMES = frozenset({"http", "https", "mailto"})


def may_follow(address: str) -> bool:
    """Whether a link that a model wrote may be opened."""
    return QUrl(address).scheme().lower() in ALLOWED_SCHEMES


def dress(document: QTextDocument, tokens: Tokens, font: QFont, *, typed: bool = False, depth: int = 0) -> None:
    """Space, sizes and colours that Qt's Markdown leaves at their defaults, and words in place of images.

    ``typed``: it is no Markdown; each line is a block, and empty lines are the space between paragraphs. ``depth``: all
    of it stands in so many list items.
    """
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    _name_images(document)
    block = document.begin()
    while block.isValid():
        _style_block(QTextCursor(block), font, typed=typed)
        _indent(QTextCursor(block), depth)
        for at, length, style in parts_of(block):
            _style_part(document, at, length, style, tokens)
        block = block.next()
    cursor.endEditBlock()


def _name_images(document: QTextDocument) -> None:
    """Each image becomes its alternative text: laying an image out would open the file or the share that it names."""
    for at, length, image in reversed(_images(document)):
        cursor = QTextCursor(document)
        cursor.setPosition(at)
        cursor.setPosition(at + length, QTextCursor.MoveMode.KeepAnchor)
        style = QTextCharFormat()
        style.setFontItalic(True)
        style.setAnchor(True)
        style.setAnchorHref(image.name())
        cursor.insertText(str(image.property(QTextFormat.Property.ImageAltText) or "") * length, style)


def _images(document: QTextDocument) -> list[tuple[int, int, QTextImageFormat]]:
    found = []
    block = document.begin()
    while block.isValid():
        for at, length, style in parts_of(block):
            if style.isImageFormat():
                found.append((at, length, style.toImageFormat()))
        block = block.next()
    return found


def _style_block(cursor: QTextCursor, font: QFont, *, typed: bool) -> None:
    size = font.pointSizeF() if font.pointSizeF() > 0 else 10.0
    style = QTextBlockFormat()
    level = cursor.blockFormat().headingLevel()
    quoted = cursor.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel)
    style.setLineHeight(135, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    if level:
        _enlarge(cursor.block(), size * {1: 1.35, 2: 1.2}.get(level, 1.06))
        style.setTopMargin(size * 0.9 if cursor.block().blockNumber() else 0)
        style.setBottomMargin(size * 0.4)
    elif not typed:
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


def _enlarge(block: QTextBlock, points: float) -> None:
    """Qt's own adjustment of a heading's size goes before any size that is set: it has to go."""
    for at, length, style in parts_of(block):
        style.clearProperty(QTextFormat.Property.FontSizeAdjustment)
        style.setFontPointSize(points)
        style.setFontWeight(QFont.Weight.DemiBold)
        part = QTextCursor(block)
        part.setPosition(at)
        part.setPosition(at + length, QTextCursor.MoveMode.KeepAnchor)
        part.setCharFormat(style)


def parts_of(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """Stretches of one look: where, how long, which."""
    found = []
    parts: Any = block.begin()
    while not parts.atEnd():
        part = parts.fragment()
        found.append((part.position(), part.length(), part.charFormat()))
        parts += 1
    return found


def _indent(cursor: QTextCursor, depth: int) -> None:
    if not depth:
        return
    if not (items := cursor.currentList()):
        style = QTextBlockFormat()
        style.setIndent(cursor.blockFormat().indent() + depth)
        cursor.mergeBlockFormat(style)
    elif items.item(0) == cursor.block():
        look = items.format()
        look.setIndent(look.indent() + depth)
        items.setFormat(look)


def _style_part(document: QTextDocument, at: int, length: int, current: QTextCharFormat, tokens: Tokens) -> None:
    style = QTextCharFormat()
    if current.fontFixedPitch():
        style.setFontFamilies([QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()])
        style.setBackground(tokens.hover)
    if current.isAnchor():
        allowed = may_follow(current.anchorHref())
        style.setForeground(tokens.accent if allowed else tokens.subtle)
        style.setFontUnderline(allowed)
        # encoded: a tooltip that looks like HTML would be shown as HTML, its images opened
        style.setToolTip(QUrl(current.anchorHref()).toString(QUrl.ComponentFormattingOption.FullyEncoded))
        if not allowed:
            style.setAnchor(False)
    if style.propertyCount():
        cursor = QTextCursor(document)
        cursor.setPosition(at)
        cursor.setPosition(at + length, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(style)


def dress_tables(document: QTextDocument, tokens: Tokens) -> None:
    """The same for tables, once the document is no longer being edited: before, it knows of none."""
    tables = [frame for frame in document.rootFrame().childFrames() if isinstance(frame, QTextTable)]
    if tables:
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        for table in tables:
            _style_table(table, tokens)
        cursor.endEditBlock()


def _style_table(table: QTextTable, tokens: Tokens) -> None:
    style = table.format()
    style.setBorderCollapse(True)
    style.setBorder(1)
    style.setBorderBrush(tokens.line)
    style.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    style.setCellPadding(6)
    style.setCellSpacing(0)
    style.setWidth(QTextLength(QTextLength.Type.VariableLength, 0))
    table.setFormat(style)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        head = cell.format()
        head.setBackground(tokens.code)
        cell.setFormat(head)
    inside = table.firstCursorPosition()
    inside.setPosition(table.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    close = QTextBlockFormat()
    close.setLineHeight(100, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    close.setBottomMargin(0)
    inside.mergeBlockFormat(close)
    for at in (table.firstPosition() - 1, table.lastPosition() + 1):
        _flatten(QTextCursor(table.document().findBlock(at)))


def _flatten(cursor: QTextCursor) -> None:
    """Qt puts an empty line before and after a table."""
    if not cursor.block().text():
        flat = QTextBlockFormat()
        flat.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        flat.setBottomMargin(0)
        cursor.mergeBlockFormat(flat)
