"""Where a pass goes: one bar in three parts, and the same in words."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.models.insight import says_shares
from desktop.theme.tokens import tokens_now
from desktop.theme.units import lines


class TimeSplit(QWidget):
    """Drafting, the target's passes and the rest, in the colours that rounds have."""

    def __init__(self) -> None:
        super().__init__()
        heading = QLabel(tr("Where a pass goes"))
        heading.setObjectName("heading")
        heading.setWordWrap(True)
        self.bar = _Bar()
        self.words = QLabel()
        self.words.setObjectName("subtle")
        self.words.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (heading, self.bar, self.words):
            layout.addWidget(widget)
        self.show_shares(None)

    def show_shares(self, shares: tuple[float, float, float] | None) -> None:
        """Of the time; None = nothing was measured."""
        self.bar.shares = shares or ()
        self.bar.setVisible(shares is not None)
        self.bar.update()
        self.words.setText(says_shares(shares))
        self.bar.setAccessibleDescription(self.words.text())


class _Bar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.shares: tuple[float, ...] = ()
        self.setAccessibleName(tr("Where a pass goes"))
        self.setFixedHeight(max(8, lines(self, 0.6)))

    def paintEvent(self, _: QPaintEvent) -> None:
        painter, tokens = QPainter(self), tokens_now()
        left = 0.0
        for share, ink in zip(self.shares, (tokens.accent, tokens.faint, tokens.bad), strict=False):
            width = share * self.width()
            at = self.width() - left - width if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else left
            painter.fillRect(QRectF(at, 0, max(width - 1, 0), self.height()), ink)
            left += width
