"""All keyboard shortcuts by what they are about, made from the one table; a word finds some of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from desktop.language import tr
from desktop.settings import SendWith
from desktop.shortcuts import GROUPS, SHORTCUTS, all_keys, fixed
from desktop.theme.units import lines
from desktop.widgets.form import Column


class CheatSheet(QDialog):
    """Shows; Esc closes it.

    Args:
        send_with: the key that sends.
    """

    def __init__(self, send_with: SendWith, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.search = QLineEdit()
        self.search.setObjectName("field")
        self.search.setPlaceholderText(tr("Find a shortcut"))
        self.search.setAccessibleName(tr("Find a shortcut"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self._none = QLabel(tr("No shortcut is called that."))
        self._none.setObjectName("subtle")
        self._none.hide()
        inside = Column()
        self._column = QVBoxLayout(inside)
        self._column.setSpacing(lines(self, 0.3))
        self._column.addWidget(self._none)
        self._rows: list[_Row] = []
        for group in GROUPS:
            self._add(group, send_with)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("scroll")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        scroll.setAccessibleName(tr("Keyboard shortcuts"))
        scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the arrow keys scroll it
        close = QPushButton(tr("Close"))
        close.setAutoDefault(False)
        close.clicked.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.search)
        layout.addWidget(scroll, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        self.resize(lines(self, 26), lines(self, 34))

    @property
    def shown(self) -> list[str]:
        """What the rows say that are shown."""
        return [row.text for row in self._rows if row.keys and not row.widget.isHidden()]

    def _add(self, group: str, send_with: SendWith) -> None:
        shown = tr(group)
        heading = QLabel(shown)
        heading.setObjectName("heading")
        heading.setMinimumHeight(lines(self, 1.7))
        heading.setAlignment(Qt.AlignmentFlag.AlignBottom)
        self._add_row(_Row(heading, shown, shown))
        rows = [(s.text, _any_of(all_keys(s))) for s in SHORTCUTS if s.group == group]
        for text, keys in [*rows, *((text, key) for key, text, of in fixed(send_with) if of == group)]:
            key = QLabel(keys)
            key.setObjectName("key")
            key.setAccessibleName(tr("{title}: {text}", title=text, text=keys))
            label = QLabel(text)
            label.setWordWrap(True)
            self._add_row(_Row(_beside(label, key), shown, text, keys))

    def _add_row(self, row: _Row) -> None:
        self._rows.append(row)
        self._column.addWidget(row.widget)

    def _filter(self, typed: str) -> None:
        words = typed.casefold().split()
        groups = {row.group for row in self._rows if row.keys and row.has(words)}
        for row in self._rows:
            row.widget.setVisible(row.has(words) if row.keys else row.group in groups)
        self._none.setVisible(not groups)


@dataclass(slots=True, frozen=True)
class _Row:
    """One line; without keys it is a group's heading."""

    widget: QWidget
    group: str
    text: str
    keys: str = ""

    def has(self, words: list[str]) -> bool:
        said = f"{self.text} {self.keys} {self.group}".casefold()
        return all(word in said for word in words)


def _beside(label: QLabel, key: QLabel) -> QWidget:
    whole = QWidget()
    row = QHBoxLayout(whole)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(label, 1)
    row.addWidget(key)
    return whole


def _any_of(keys: list[QKeySequence]) -> str:
    shown = (key.toString(QKeySequence.SequenceFormat.NativeText) for key in keys)
    return reduce(lambda one, other: tr("{one} or {other}", one=one, other=other), shown)
