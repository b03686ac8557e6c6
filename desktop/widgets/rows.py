"""A list of rows with a second line and headings, in which keys and mouse choose one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListView, QWidget

from desktop.widgets.picker import VALUE, Row, RowDelegate, row_model


class RowList(QListView):
    """Emits the value of the row that is selected, and of one that is activated (Enter, double click)."""

    selected = Signal(str)
    activated_value = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rows")
        self.setAccessibleName(name)
        self.setItemDelegate(RowDelegate(self, chosen=True))
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._rows: list[Row] = []
        self._value = ""
        self._filling = False
        self.setModel(row_model([]))
        self.doubleClicked.connect(self._activate)

    @property
    def rows(self) -> list[Row]:
        """What it shows."""
        return self._rows

    @property
    def value(self) -> str:
        """The selected row's; empty = none is selected."""
        return self._value

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show these; the selected row stays selected if it is still there, and where it was on screen."""
        if list(rows) == self._rows:
            return
        same = [row.value for row in rows] == [row.value for row in self._rows]
        self._rows = list(rows)
        if same:
            self._retell()
            return
        at, before = self.verticalScrollBar().value(), self.currentIndex().row()
        self._filling = True
        self.setModel(row_model(rows))
        selection = self.selectionModel()
        selection.selectionChanged.connect(self._changed)
        self.select(self._value)
        self._filling = False
        if self.currentIndex().row() == before:
            self.verticalScrollBar().setValue(at)  # else it has moved, and is kept in sight
        self._changed()

    def select(self, value: str) -> bool:
        """Select the row with this value; False = there is none."""
        at = next((n for n, row in enumerate(self._rows) if row.value and row.value == value), -1)
        index = self.model().index(at, 0) if at >= 0 else QModelIndex()
        self.setCurrentIndex(index)
        if at == 1:
            self.scrollToTop()  # its heading too
        elif at > 1:
            self.scrollTo(index)
        return at >= 0

    def select_first(self) -> None:
        """The first that can be chosen."""
        self.select(next((row.value for row in self._rows if row.value), ""))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._value:
            self.activated_value.emit(self._value)
            return
        super().keyPressEvent(event)

    def _retell(self) -> None:
        """Other words for the same rows: while a download runs, several times a second."""
        model = self.model()
        for number, row in enumerate(self._rows):
            index = model.index(number, 0)
            if model.data(index) != row.text:
                model.setData(index, row.text)
            for role, words in _roles(row):
                if model.data(index, role) != words:
                    model.setData(index, words, role)

    def _changed(self, _now: QItemSelection | None = None, _before: QItemSelection | None = None) -> None:
        if self._filling:
            return
        value = str(self.currentIndex().data(VALUE) or "") if self.selectionModel().hasSelection() else ""
        if value != self._value:
            self._value = value
            self.selected.emit(value)

    def _activate(self, index: QModelIndex) -> None:
        if value := str(index.data(VALUE) or ""):
            self.activated_value.emit(value)


def _roles(row: Row) -> tuple[tuple[int, str], ...]:
    spoken = f"{row.text}. {row.detail}" if row.detail else row.text
    return (VALUE + 1, row.detail), (Qt.ItemDataRole.AccessibleTextRole, spoken)
