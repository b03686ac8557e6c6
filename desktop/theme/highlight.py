"""Colours for code: Pygments finds the tokens, the theme's scheme colours them.

Qt counts UTF-16 units, Python counts code points: an emoji before a keyword shifts it by one, hence the widths below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtGui import QColor, QFont, QTextCharFormat

LIMIT = 64_000
"""Characters; longer code stays in one ink."""


@dataclass(slots=True, frozen=True)
class Span:
    """A stretch of one line, in UTF-16 units."""

    line: int
    start: int
    length: int
    format: QTextCharFormat


def highlight(code: str, language: str, dark: bool) -> list[Span]:
    """The coloured stretches of ``code``; none for an unknown language or very long code."""
    if not language or len(code) > LIMIT:
        return []
    from pygments.lexers import get_lexer_by_name  # about 100 ms: only once code is on screen
    from pygments.styles import get_style_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    style = get_style_by_name(style_name(dark))
    formats: dict[Any, QTextCharFormat | None] = {}
    spans: list[Span] = []
    line = column = 0
    for kind, text in lexer.get_tokens(code):
        if kind not in formats:
            formats[kind] = _format(style.style_for_token(kind))
        for number, part in enumerate(text.split("\n")):
            if number:
                line, column = line + 1, 0
            width = len(part) + sum(1 for c in part if ord(c) > 0xFFFF)
            chosen = formats[kind]
            if width and chosen is not None:
                spans.append(Span(line, column, width, chosen))
            column += width
    return spans


def style_name(dark: bool) -> str:
    """Which of the schemes of Pygments colours code."""
    return "github-dark" if dark else "xcode"


def _format(style: Any) -> QTextCharFormat | None:
    made = QTextCharFormat()
    if style["color"]:
        made.setForeground(QColor(f"#{style['color']}"))
    if style["bold"]:
        made.setFontWeight(QFont.Weight.DemiBold)
    if style["italic"]:
        made.setFontItalic(True)
    return made if made.propertyCount() else None
