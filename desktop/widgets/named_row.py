"""One of several named things: chosen from a list, with new, duplicate and delete beside it, and that undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.theme.icons import IconButton
from desktop.widgets.picker import ChoiceBox


@dataclass(slots=True, frozen=True)
class Called:
    """What one of the things is called, and what the buttons beside them say: whole texts, marked for translation."""

    one: str
    new: str
    duplicate: str
    delete: str


class NamedRow(QWidget):
    """Only asks; what there is comes from outside."""

    chosen = Signal(str)
    made = Signal()
    duplicated = Signal(str)
    deleted = Signal(str)
    undone = Signal()

    def __init__(self, called: Called, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = ChoiceBox()
        self.box.setAccessibleName(tr(called.one))
        self.box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.box.setSizeAdjustPolicy(ChoiceBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(8)
        self.box.activated.connect(lambda _: self.chosen.emit(self.current))
        self.new = IconButton("plus", tr(called.new))
        self.copy = IconButton("copy", tr(called.duplicate))
        self.trash = IconButton("trash", tr(called.delete))
        self.new.clicked.connect(self.made)
        self.copy.clicked.connect(lambda: self.duplicated.emit(self.current))
        self.trash.clicked.connect(lambda: self.deleted.emit(self.current))
        self._gone = QLabel()
        self._gone.setWordWrap(True)
        self.undo = QPushButton(tr("Undo delete"))
        self.undo.clicked.connect(self.undone)
        self.setFocusProxy(self.box)
        upper, lower = QHBoxLayout(), QHBoxLayout()
        upper.setSpacing(2)
        upper.addWidget(self.box, 1)
        for button in (self.new, self.copy, self.trash):
            upper.addWidget(button)
        lower.addWidget(self._gone, 1)
        lower.addWidget(self.undo)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(upper)
        layout.addLayout(lower)
        self.show_deleted("")

    @property
    def current(self) -> str:
        """The id of what is chosen; empty = there is nothing."""
        return str(self.box.currentData() or "")

    def show_entries(self, names: Mapping[str, str], current: str, *, fixed: bool) -> None:
        """Ids and names, and the one to show; ``fixed`` = that one cannot be deleted."""
        self.box.clear()
        for number, name in names.items():
            self.box.addItem(name, number)
        self.box.setCurrentIndex(max(self.box.findData(current), 0) if names else -1)
        self.box.setEnabled(bool(names))
        self.copy.setEnabled(bool(names))
        self.trash.setEnabled(bool(names) and not fixed)

    def rename(self, number: str, name: str) -> None:
        """Another name of one of them."""
        self.box.setItemText(self.box.findData(number), name)

    def show_deleted(self, name: str) -> None:
        """What can come back; empty = nothing."""
        self._gone.setText(tr("“{name}” was deleted.", name=name) if name else "")
        self._gone.setVisible(bool(name))
        self.undo.setVisible(bool(name))
        if name:
            QAccessible.updateAccessibility(QAccessibleEvent(self._gone, QAccessible.Event.Alert))
