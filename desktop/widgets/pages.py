"""Several pages, one at a time: their titles stand in a list beside them, or in a drop-down above when it is narrow."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QListWidget, QListWidgetItem, QStackedWidget, QVBoxLayout, QWidget

from desktop.theme.units import lines
from desktop.widgets.picker import ChoiceBox

_LIST_LINES = 7
_AROUND = 2
"""Beside the longest title."""
_WIDE_LINES = 28


class Pages(QWidget):
    """The list and the drop-down are one choice."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = QListWidget()
        self.list.setObjectName("pages")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.box = ChoiceBox()
        self._stack = QStackedWidget()
        for widget in (self.list, self.box):
            widget.setAccessibleName(name)
        self.list.currentRowChanged.connect(self._turn)
        self.box.currentIndexChanged.connect(self._turn)
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(0)
        grid.addWidget(self.list, 0, 0, 2, 1)
        self._head = QWidget()
        self._above = QVBoxLayout(self._head)
        self._above.addWidget(self.box)
        grid.addWidget(self._head, 0, 1)
        grid.addWidget(self._stack, 1, 1)
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(1, 1)

    def add(self, key: str, title: str, page: QWidget) -> None:
        """A further page; ``key`` is what the program calls it, whatever the language."""
        self.box.addItem(title, key)
        self.list.addItem(QListWidgetItem(title))
        self._stack.addWidget(page)
        self._fit()

    @property
    def key(self) -> str:
        """Of the page that is shown."""
        return str(self.box.currentData())

    def turn_to(self, key: str) -> None:
        """Show that page."""
        self._turn(max(self.box.findData(key), 0))

    def focus_choice(self) -> None:
        """The keyboard to the choice of a page."""
        (self.list if self.list.isVisibleTo(self) else self.box).setFocus(Qt.FocusReason.TabFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_grid"):
            self._fit()

    def _turn(self, row: int) -> None:
        self._stack.setCurrentIndex(row)
        self.list.setCurrentRow(row)
        self.box.setCurrentIndex(row)

    def _fit(self) -> None:
        wide = self.width() >= lines(self, _WIDE_LINES)
        focused = self.list.hasFocus() or self.box.hasFocus()
        self.list.setVisible(wide)
        self._head.setVisible(not wide)
        titles = (self.list.item(row).text() for row in range(self.list.count()))
        widest = max(map(self.list.fontMetrics().horizontalAdvance, titles), default=0)
        self.list.setFixedWidth(max(lines(self, _LIST_LINES), widest + lines(self, _AROUND)))
        margin = lines(self, 0.6)
        self._above.setContentsMargins(margin, margin, margin, 0)
        for row in range(self.list.count()):
            self.list.item(row).setSizeHint(QSize(0, lines(self, 1.9)))
        if focused:
            self.focus_choice()
