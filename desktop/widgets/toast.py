"""A line over the page for what was just done, with its undo. It goes by itself."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

SHOWN_MS = 8000


class Toast(QFrame):
    """Lies over its parent."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self._label = QLabel()
        self._undo = QToolButton()
        self._undo.setText("Undo")
        self._undo.setAccessibleName("Undo")
        self._undo.clicked.connect(self._act)
        self._action: Callable[[], None] | None = None
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 6, 8, 6)
        layout.addWidget(self._label)
        layout.addWidget(self._undo)
        self._timer = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._timer.timeout.connect(self.hide)
        self.hide()

    def say(self, text: str, undo: Callable[[], None] | None = None) -> None:
        """Show ``text``, with an undo button if there is something to undo."""
        self._label.setText(text)
        self._action = undo
        self._undo.setVisible(undo is not None)
        self.adjustSize()
        self.place()
        self.show()
        self.raise_()
        self._timer.start()

    def place(self) -> None:
        """Keep to the top centre of the parent, where it covers neither the composer nor a notice."""
        parent = self.parentWidget()
        if parent is not None:
            self.move((parent.width() - self.width()) // 2, 58)

    def _act(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()
