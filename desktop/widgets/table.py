"""A table: wide ones scroll sideways, and their columns are not squeezed until words fall apart.

A table in a script that is read from the right has its first column there; Qt knows no such tables, so the columns
change places before it reads them.
"""

from __future__ import annotations

import re
from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontInfo, QShowEvent, QTextCursor, QTextTable, QWheelEvent
from PySide6.QtWidgets import QWidget

from desktop.language import tr
from desktop.maths.typesetter import Typesetter
from desktop.widgets.direction import direction
from desktop.widgets.prose import Prose

_COLUMN_EM = 16
"""A column with longer text than this is broken into lines, but never into shorter ones."""
_MOST = 5_000
"""Cells that are laid out: more would take seconds, and only a model that repeats itself writes them."""
_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


class Table(Prose):
    """Markdown that is a table."""

    def __init__(self, parent: QWidget | None = None, maths: Typesetter | None = None) -> None:
        super().__init__(parent, maths)
        self.setAccessibleName(tr("Table"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._wanted = 0.0
        self._from_right = False

    def set_markdown(self, text: str, *, grows: bool = False, depth: int = 0) -> None:
        """Show the table, which may still get rows; one of very many cells as it is written."""
        lines = text.split("\n")
        if len(lines) * max(line.count("|") for line in lines) > _MOST:
            self._from_right = False
            self.set_plain(text)
            return
        self._from_right = direction(text) == Qt.LayoutDirection.RightToLeft
        super().set_markdown(_whole(text, mirrored=self._from_right), grows=grows, depth=depth)

    def _render(self) -> None:
        self._wanted = 0.0
        super()._render()
        for table in self._tables() if self._from_right else ():
            style = table.format()
            style.setAlignment(Qt.AlignmentFlag.AlignRight)
            table.setFormat(style)

    def _fit(self) -> None:
        document = self.document()
        self._wanted = self._wanted or self._measure()
        room = self.viewport().width()
        document.setTextWidth(max(room, self._wanted, 50))
        height = document.size().height()
        if document.size().width() > room + 1:
            height += self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(max(round(height + 0.5), self.fontMetrics().height()))

    def _measure(self) -> float:
        """The width below which it scrolls: each column's text in one line, or in lines that are long enough."""
        tables = self._tables()
        self.document().setTextWidth(1e5)
        most = _COLUMN_EM * QFontInfo(self.font()).pixelSize()
        return sum(
            ceil(min(_natural(table, n), most)) + _around(table) for table in tables[:1] for n in range(table.columns())
        )

    def _tables(self) -> list[QTextTable]:
        return [frame for frame in self.document().rootFrame().childFrames() if isinstance(frame, QTextTable)]

    def showEvent(self, event: QShowEvent) -> None:
        bar = self.horizontalScrollBar()
        at = bar.value()
        super().showEvent(event)
        bar.setValue(at)  # Qt goes to the text cursor, which is at the end

    def wheelEvent(self, event: QWheelEvent) -> None:
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - event.angleDelta().x())
        else:
            super().wheelEvent(event)


def _natural(table: QTextTable, column: int) -> float:
    """The width of the column's longest text in one line."""
    widest = 0.0
    for row in range(table.rows()):
        cursor: QTextCursor = table.cellAt(row, column).firstCursorPosition()
        widest = max(widest, cursor.block().layout().maximumWidth())
    return widest


def _around(table: QTextTable) -> float:
    """What a column needs beside its text."""
    return 2 * table.format().cellPadding() + table.format().border() + 1


def _whole(text: str, *, mirrored: bool) -> str:
    """The table with as many columns as its longest row has cells: Qt leaves out what stands beyond its rule.

    ``mirrored``: with its cells in reverse order.
    """
    rows = [_cells(line) for line in text.split("\n")]
    columns = max(map(len, rows))
    if not mirrored and columns == len(rows[1]):
        return text
    rows = [row + ["---" if n == 1 else ""] * (columns - len(row)) for n, row in enumerate(rows)]
    return "\n".join("|" + "|".join(reversed(row) if mirrored else row) + "|" for row in rows)


def _cells(line: str) -> list[str]:
    """What stands between the bars, but for those in code."""
    bare = line.strip().removeprefix("|")
    if bare.endswith("|") and not bare.endswith("\\|"):
        bare = bare[:-1]
    code = [(found.start(), found.end()) for found in _CODE.finditer(bare)]
    bars = [bar.start() for bar in _BAR.finditer(bare)]
    ends = [at for at in bars if not any(begin < at < end for begin, end in code)]
    return [bare[begin + 1 : end] for begin, end in zip([-1, *ends], [*ends, len(bare)], strict=True)]
