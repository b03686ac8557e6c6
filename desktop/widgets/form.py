"""Pages of settings: rows of a label and what is chosen, with quiet sentences between; they scroll, and grow narrow."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from desktop.theme.units import lines
from desktop.widgets.labels import wrapped

_LABEL_LINES = 7.5
"""Width of the labels' column, in heights of a line."""
_ANY = 2**24 - 1


class Form(QScrollArea):
    """One page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = Column()
        self._rows = QFormLayout(inside)
        self._rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._rows.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        self._labels: list[QLabel] = []
        self.setWidget(inside)
        self._fit()

    def heading(self, text: str) -> None:
        """Begins a group."""
        label = QLabel(text)
        label.setObjectName("heading")
        label.setWordWrap(True)
        if self._rows.rowCount():
            self._rows.addRow(_gap(self))
        self._rows.addRow(label)

    def note(self, text: str) -> QLabel:
        """A sentence across."""
        label = quiet(text)
        self._rows.addRow(label)
        return label

    def row(self, label: str, field: QWidget, says: str = "") -> None:
        """A label, its field, and a sentence below that. The field is named by the label unless it has a name."""
        named = QLabel(label)
        named.setBuddy(field)
        if not field.accessibleName() and field.focusProxy() is None:
            field.setAccessibleName(label)
        self._labels.append(named)
        if says:
            field.setAccessibleDescription(says)
            field = _above(field, says)
        self._rows.addRow(named, field)
        self._fit()

    def wide(self, widget: QWidget) -> None:
        """A row of its own, across."""
        self._rows.addRow(widget)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_labels"):
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Labels in a column of their own, or above their fields where that would leave these too little."""
        line, beside = lines(self, 1), lines(self, _LABEL_LINES)
        narrow = self.viewport().width() < 3 * beside
        policy = QFormLayout.RowWrapPolicy.WrapAllRows if narrow else QFormLayout.RowWrapPolicy.DontWrapRows
        self._rows.setRowWrapPolicy(policy)
        self._rows.setContentsMargins(line, line, line, line)
        self._rows.setVerticalSpacing(lines(self, 0.4 if narrow else 0.7))
        self._rows.setHorizontalSpacing(line)
        for label in self._labels:
            label.setMinimumWidth(0 if narrow else beside)
            label.setMaximumWidth(_ANY if narrow else beside)
            label.setWordWrap(not narrow)


class Column(QWidget):
    """As tall as its rows are at its width; by itself Qt would have it as tall as they are at their narrowest."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("column")

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)


def quiet(text: str) -> QLabel:
    """A sentence beside what matters more, shown letter by letter."""
    label = wrapped("subtle", text)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return label


def _above(field: QWidget, says: str) -> QWidget:
    both = QWidget()
    column = QVBoxLayout(both)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    column.addWidget(field)
    column.addWidget(quiet(says))
    return both


def _gap(page: QWidget) -> QWidget:
    gap = QWidget()
    gap.setFixedHeight(lines(page, 0.3))
    return gap
