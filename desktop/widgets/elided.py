"""A label that never asks for more width than there is; what does not fit is in its tooltip."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QCursor, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip

from desktop.widgets.tips import plain


class Elided(QLabel):
    """One line of plain text.

    Args:
        name: what assistive technology calls it; empty = its text.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._full, self._name, self._more = "", name, ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(name)

    @property
    def full_text(self) -> str:
        """All of it."""
        return self._full

    def set_full_text(self, text: str, more: str = "") -> None:
        """Show as much of ``text`` as fits; the tooltip has all of it, or ``more``."""
        if (text, more) != (self._full, self._more):
            self._full, self._more = text, more
            self._tell(plain(more or text))
            self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _tell(self, tip: str) -> None:
        """Set the tooltip; one that is being read follows, as Qt would leave it standing over another text."""
        before = self.toolTip()
        self.setToolTip(tip)
        if QToolTip.isVisible() and QToolTip.text() == before:
            QToolTip.showText(QCursor.pos(), tip, self)

    def _elide(self) -> None:
        self.setText(self.fontMetrics().elidedText(self._full, Qt.TextElideMode.ElideRight, max(self.width(), 20)))
        self.setAccessibleName(self._name or self._full)
        self.setAccessibleDescription((self._more or self._full) if self._name else "")
