"""A line over the page for what was just done, with its undo. It goes by itself, but not from under a hand."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from desktop.language import tr

SHOWN_MS = 8000
_MARGIN = 8


class Toast(QFrame):
    """Lies over its parent.

    Args:
        undo_key: the key that undoes too, as people read it.
    """

    def __init__(self, parent: QWidget, undo_key: str = "") -> None:
        super().__init__(parent)
        self.setObjectName("toast")
        self._text = ""
        self._label = QLabel()
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._undo = QToolButton()
        self._undo.setText(tr("Undo ({key})", key=undo_key) if undo_key else tr("Undo"))
        self._undo.setAccessibleName(tr("Undo"))
        self._undo.clicked.connect(self._act)
        self._action: Callable[[], None] | None = None
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 6, 8, 6)
        layout.addWidget(self._label)
        layout.addWidget(self._undo)
        self._timer = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._timer.timeout.connect(self._go)
        self.hide()

    def say(self, text: str, undo: Callable[[], None] | None = None) -> None:
        """Show ``text``, with an undo button if there is something to undo."""
        self._text, self._action = text, undo
        self._undo.setVisible(undo is not None)
        self.setAccessibleName(f"{text} {self._undo.text()}" if undo is not None else text)
        self.place()
        self.show()
        self.raise_()
        self._timer.start()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def place(self) -> None:
        """Keep to the top centre of the parent, where it covers neither the composer nor a notice."""
        parent = self.parentWidget()
        if parent is None:
            return
        self._label.setText("")
        taken = self.sizeHint().width() + 2 * _MARGIN
        room = max(parent.width() - taken, 0)
        self._label.setText(self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideMiddle, room))
        self.adjustSize()
        self.move((parent.width() - self.width()) // 2, 58)

    def _go(self) -> None:
        if self.underMouse() or self._undo.hasFocus():
            self._timer.start()
        else:
            self.hide()

    def _act(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()
