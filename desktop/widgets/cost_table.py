"""What passes cost on this machine, as a table that is as high as its rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QLabel, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.widgets.figure_table import FigureTable


class CostTableView(QWidget):
    """Rows of name, milliseconds and plain passes."""

    def __init__(self) -> None:
        super().__init__()
        heading = QLabel(tr("What passes cost here"))
        heading.setObjectName("heading")
        heading.setWordWrap(True)
        self.nothing = QLabel(tr("Passes are measured when a model is loaded."))
        self.nothing.setObjectName("subtle")
        self.nothing.setWordWrap(True)
        headings = (
            (tr("Tokens"), tr("Of the target, in one pass; or one of the draft's")),
            (tr("ms"), tr("Measured on this machine, milliseconds")),
            (tr("Plain passes"), tr("How many passes over one token take the same time")),
        )
        self.table = FigureTable(tr("What passes cost here"), headings)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for policy in (self.table.setHorizontalScrollBarPolicy, self.table.setVerticalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (heading, self.nothing, self.table):
            layout.addWidget(widget)
        self.show_rows([])

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Show these; none = nothing was measured."""
        self.table.setRowCount(min(self.table.rowCount(), len(rows)))
        for number, row in enumerate(rows):
            self.table.set_row(number, row)
        self.table.setVisible(bool(rows))
        self.nothing.setVisible(not rows)
        heights = (self.table.rowHeight(n) for n in range(self.table.rowCount()))
        height = self.table.horizontalHeader().sizeHint().height() + sum(heights) + 2 * self.table.frameWidth()
        self.table.setFixedHeight(height)
