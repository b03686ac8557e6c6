"""A table of figures: names at the left, numbers at the right and never jumping, a definition behind each heading."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from desktop.widgets.tips import plain


class FigureTable(QTableWidget):
    """Rows can be selected, not edited.

    Args:
        name: for assistive technology.
        headings: each with its definition.
        names: so many columns hold names, the others numbers.
        whole: names are never shortened: where there is no room for all columns, they are scrolled.
    """

    def __init__(
        self,
        name: str,
        headings: Sequence[tuple[str, str]],
        *,
        names: int = 1,
        whole: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(0, len(headings), parent)
        self._names = names
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels([heading for heading, _ in headings])
        for column, (_, tip) in enumerate(headings):
            item = self.horizontalHeaderItem(column)
            assert item is not None
            item.setToolTip(tip)
            item.setTextAlignment(self._alignment(column))
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        if whole:
            header.setStretchLastSection(True)
        else:
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # what tells files apart stands at the end
        font = QFont(self.font())
        font.setFeature(QFont.Tag("tnum"), 1)
        self.setFont(font)

    def set_row(self, row: int, texts: Sequence[str]) -> None:
        """Show these in a row that is there or in the next one; what is the same already is left alone."""
        if row == self.rowCount():
            self.insertRow(row)
        for column, text in enumerate(texts):
            item = self.item(row, column)
            if item is None:
                item = QTableWidgetItem()
                item.setTextAlignment(self._alignment(column))
                self.setItem(row, column, item)
            if item.text() != text:
                item.setText(text)
                item.setToolTip(plain(text))

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignLeft if column < self._names else Qt.AlignmentFlag.AlignRight
        return Qt.AlignmentFlag.AlignVCenter | side
