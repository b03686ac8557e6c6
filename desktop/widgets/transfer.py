"""What is being downloaded, and how to stop it: a part of the status bar while a download runs."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from desktop.figures import progress
from desktop.theme.icons import IconButton
from desktop.widgets.tips import plain


class Transfer(QWidget):
    """Hidden while nothing is downloaded."""

    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = QLabel()
        self._label.setAccessibleName("Download")
        self._cancel = IconButton("close", "Cancel download")
        self._cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self._label)
        row.addWidget(self._cancel)
        self.hide()

    @property
    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def show_progress(self, name: str, done: int, total: int, speed: float) -> None:
        """Bytes done, bytes in all (0 = not known yet), bytes a second."""
        self._label.setText(f"Downloading {100 * done / total:.0f} %" if total else "Downloading…")
        what = progress(name, done, total, speed)
        self._label.setToolTip(plain(what))
        self._label.setAccessibleDescription(what)
        self.show()
