"""Which way a text is read, by the first letter in it that has a direction."""

from __future__ import annotations

import unicodedata

from PySide6.QtCore import Qt

_WAYS = {
    "L": Qt.LayoutDirection.LeftToRight,
    "R": Qt.LayoutDirection.RightToLeft,
    "AL": Qt.LayoutDirection.RightToLeft,
}


def direction(text: str, otherwise: Qt.LayoutDirection = Qt.LayoutDirection.LeftToRight) -> Qt.LayoutDirection:
    """The text's own; ``otherwise`` where no letter tells, as in a number."""
    return next((way for letter in text if (way := _WAYS.get(unicodedata.bidirectional(letter)))), otherwise)
