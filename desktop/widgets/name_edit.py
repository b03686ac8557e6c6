"""The name of something that a person has made; what cannot be its name is said below."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.widgets.form import quiet


class NameEdit(QWidget):
    """``check`` gives the reason why a name cannot be, shown letter by letter as it is, or nothing."""

    changed = Signal()

    def __init__(self, label: str, check: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._check = check
        self.problem = ""
        self.edit = QLineEdit()
        self.edit.setObjectName("field")
        self.edit.setAccessibleName(label)
        self.edit.textEdited.connect(self._read)
        self.words = quiet("")
        self.words.setObjectName("bad")
        self.words.hide()
        self.setFocusProxy(self.edit)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.edit)
        layout.addWidget(self.words)

    @property
    def name(self) -> str:
        """What is typed."""
        return self.edit.text().strip()

    def show_name(self, name: str, *, fixed: bool) -> None:
        """Of another one; ``fixed`` = it cannot be changed."""
        self.edit.setText(name)
        self.edit.setEnabled(not fixed)
        self._say("")

    def _read(self, _text: str) -> None:
        self._say(self._check(self.name))
        if not self.problem:
            self.changed.emit()

    def _say(self, problem: str) -> None:
        told, self.problem = self.problem, problem
        self.words.setText(tr("Not used: {problem}", problem=problem) if problem else "")
        self.words.setVisible(bool(problem))
        self.edit.setProperty("wrong", bool(problem))
        self.edit.setAccessibleDescription(self.words.text())
        self.edit.style().polish(self.edit)
        if problem and problem != told:
            QAccessible.updateAccessibility(QAccessibleEvent(self.words, QAccessible.Event.Alert))
