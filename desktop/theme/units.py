"""Lengths in heights of a line of text: what is measured so keeps its shape in every text size."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def lines(widget: QWidget, n: float) -> int:
    """``n`` heights of a line of the widget's text, in pixels."""
    return round(n * widget.fontMetrics().height())
