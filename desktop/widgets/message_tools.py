"""The buttons of a message: between its versions, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from desktop.language import tr
from desktop.shortcuts import key_text
from desktop.theme.icons import IconButton


class MessageTools(QWidget):
    """A row of them, at the right.

    Args:
        place: which of how many versions this is, counting from 1.
        earlier, later: what the buttons between versions say.
    """

    sibling = Signal(int)
    """Steps to another version."""

    def __init__(self, place: tuple[int, int], earlier: str, later: str) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addStretch(1)
        self._copy: IconButton | None = None
        n, of = place
        if of > 1:
            self.add("left", earlier, lambda: self.sibling.emit(-1)).setEnabled(n > 1)
            label = QLabel(f"{n}/{of}")
            label.setObjectName("subtle")
            self._row.addWidget(label)
            self.add("right", later, lambda: self.sibling.emit(1)).setEnabled(n < of)

    def add(self, icon: str, label: str, act: Callable[[], object], action: str = "") -> IconButton:
        """A button at the end of the row; ``action`` = that of the window which does the same by a key."""
        button = IconButton(icon, label, shortcut=key_text(action) if action else "")
        button.clicked.connect(lambda: act())
        self._row.addWidget(button)
        return button

    def add_copy(self, act: Callable[[], object]) -> None:
        """The button that copies the message."""
        self._copy = self.add("copy", tr("Copy message"), act)

    def show_copied(self) -> None:
        """For a moment."""
        if (copy := self._copy) is not None:
            copy.set_icon("check")
            QTimer.singleShot(1500, copy, lambda: copy.set_icon("copy"))
