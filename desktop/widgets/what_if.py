"""What drafts would bring at other acceptance, length and cost: three sliders and a sentence."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSlider, QWidget

from backend.protocol import CostTable
from desktop.figures import percent
from desktop.language import figure, tr
from desktop.models.insight import says_what_if


class WhatIf(QWidget):
    """Starts at a common case: 0.8 accepted, drafts of 4, a step of a twentieth of a pass."""

    def __init__(self) -> None:
        super().__init__()
        self.cost: CostTable | None = None
        heading = QLabel(tr("What if"))
        heading.setObjectName("heading")
        heading.setWordWrap(True)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.addWidget(heading, 0, 0, 1, 3)
        self.alpha = self._slider(tr("Acceptance"), 0, 100, 80, lambda value: figure(value / 100, ".2f"))
        self.length = self._slider(tr("Draft length"), 0, 16, 4, str)
        self.share = self._slider(tr("Cost of a draft step, of a pass"), 0, 100, 5, lambda value: percent(value / 100))
        self.words = QLabel()
        self.words.setObjectName("subtle")
        self.words.setWordWrap(True)
        self._grid.addWidget(self.words, self._grid.rowCount(), 0, 1, 3)
        self.refresh()

    def set_cost(self, cost: CostTable | None) -> None:
        """What passes cost on this machine."""
        self.cost = cost
        self.refresh()

    def refresh(self) -> None:
        """Say it again."""
        self.words.setText(
            says_what_if(self.alpha.value() / 100, self.length.value(), self.share.value() / 100, self.cost)
        )

    def _slider(self, name: str, low: int, high: int, at: int, text: Callable[[int], str]) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setRange(low, high)
        slider.setValue(at)
        slider.setAccessibleName(name)
        label, value = QLabel(name), QLabel(text(at))
        label.setWordWrap(True)
        label.setBuddy(slider)
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        value.setMinimumWidth(value.fontMetrics().horizontalAdvance("100 %"))
        slider.valueChanged.connect(lambda now: value.setText(text(now)))
        slider.valueChanged.connect(lambda _: self.refresh())
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0)
        self._grid.addWidget(slider, row, 1)
        self._grid.addWidget(value, row, 2)
        return slider
