"""The button that leads to the end of a conversation while that is out of sight."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea

from desktop.language import tr
from desktop.theme.icons import IconButton

_NEAR = 40
"""Pixels to the end that need no button."""


class Jump(IconButton):
    """Lies over its view. A click leaves the keyboard where it is, with who writes."""

    def __init__(self, view: QScrollArea) -> None:
        super().__init__("down", tr("Jump to latest"), view)
        self._view = view
        self.setObjectName("jump")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def place(self) -> None:
        """Be there if it is wanted, at the lower end of the view."""
        view, bar = self._view, self._view.verticalScrollBar()
        self.setVisible(bar.maximum() - bar.value() > _NEAR)
        self.adjustSize()
        self.move((view.viewport().width() - self.width()) // 2, view.height() - self.height() - 10)
        self.raise_()
