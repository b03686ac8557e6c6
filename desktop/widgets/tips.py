"""Tooltips that show their words as they are: Qt takes text with a tag in it for rich text."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as RichText


def plain(text: str) -> str:
    """``text`` so that a tooltip shows it letter by letter: names, titles and an engine's sentences say anything."""
    if not RichText.mightBeRichText(text):
        return text
    return RichText.convertFromPlainText(text, Qt.WhiteSpaceMode.WhiteSpaceNormal)
