"""What is being downloaded, and how to pause it: a part of the status bar while a download runs."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from desktop.figures import progress
from desktop.language import tr
from desktop.theme.icons import IconButton
from desktop.widgets.tips import plain


class Transfer(QWidget):
    """Hidden while nothing is downloaded."""

    paused = Signal()
    opened = Signal()
    """More is wanted: the models window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = QToolButton()
        self._words.setAutoRaise(True)
        self._words.setAccessibleName(tr("Download"))
        self._words.clicked.connect(self.opened)
        self._pause = IconButton("pause", tr("Pause download"))
        self._pause.clicked.connect(self.paused)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._words)
        row.addWidget(self._pause)
        self.hide()

    @property
    def text(self) -> str:
        """What it says."""
        return self._words.text()

    def show_progress(self, name: str, done: int, total: int, speed: float) -> None:
        """Bytes done, bytes in all (0 = not known yet), bytes a second."""
        self._words.setText(
            tr("Downloading {percent:.0f} %", percent=100 * done / total) if total else tr("Downloading…")
        )
        what = progress(name, done, total, speed)
        self._words.setToolTip(plain(what))
        self._words.setAccessibleName(tr("Download: {state}", state=self._words.text()))
        self._words.setAccessibleDescription(what)
        self.show()
