"""An on/off switch that is a real check box to the keyboard and to assistive technology."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop.theme.tokens import tokens_now


class Switch(QCheckBox):
    """Draws itself; everything else is the check box's."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        height = max(24, round(self.fontMetrics().height() * 1.2))
        return QSize(round(height * 1.7), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: object) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        tokens = tokens_now()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(2, 3, -2, -3)
        radius = box.height() / 2
        on = self.isChecked()
        painter.setPen(QPen(tokens.accent if on else tokens.faint, 1.5))
        painter.setBrush(tokens.accent if on else tokens.page)
        painter.drawRoundedRect(box, radius, radius)
        knob = box.height() - 6
        forward = self.layoutDirection() == Qt.LayoutDirection.LeftToRight
        left = box.right() - knob - 3 if on == forward else box.left() + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tokens.on_accent if on else tokens.subtle)
        painter.drawEllipse(QRectF(left, box.top() + 3, knob, knob))
        if self.hasFocus():
            painter.setPen(QPen(tokens.ink, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius + 2, radius + 2)
