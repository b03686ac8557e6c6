"""How Markdown looks: the space, sizes and colours that Qt leaves at their defaults, and words in place of images."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
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


def dress(document: QTextDocument, tokens: Tokens, font: QFont, *, typed: bool = False) -> None:
    """Space, sizes and colours that Qt's Markdown leaves at their defaults, and words in place of images.

    ``typed``: it is no Markdown; each line is a block, and empty lines are the space between paragraphs.
    """
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    _name_images(document)
    block = document.begin()
    while block.isValid():
        _style_block(QTextCursor(block), font, typed=typed)
        fragments = block.begin()
        while not fragments.atEnd():
            _style_fragment(document, fragments.fragment(), tokens)
            fragments += 1
        block = block.next()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            _style_table(frame, tokens)
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
        parts = block.begin()
        while not parts.atEnd():
            part = parts.fragment()
            if part.charFormat().isImageFormat():
                found.append((part.position(), part.length(), part.charFormat().toImageFormat()))
            parts += 1
        block = block.next()
    return found


def _style_block(cursor: QTextCursor, font: QFont, *, typed: bool) -> None:
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
    elif not inside and not typed:
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
        allowed = may_follow(current.anchorHref())
        style.setForeground(tokens.accent if allowed else tokens.subtle)
        style.setFontUnderline(allowed)
        # encoded: a tooltip that looks like HTML would be shown as HTML, its images opened
        style.setToolTip(QUrl(current.anchorHref()).toString(QUrl.ComponentFormattingOption.FullyEncoded))
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
