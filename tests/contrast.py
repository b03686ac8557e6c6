"""How far two colours stand out from each other, as WCAG 2.2 counts it."""

from __future__ import annotations

from PySide6.QtGui import QColor

TEXT = 4.5
SHAPE = 3.0
"""Of what is no text, but must be seen."""


def contrast(a: QColor, b: QColor) -> float:
    """From 1 (the same) to 21."""
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    red, green, blue = (_linear(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
