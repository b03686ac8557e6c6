"""Doing something once the typing pauses, and in any case before what is typed goes away."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

PAUSE_MS = 300


class Later(QTimer):
    """``start`` whenever something was typed."""

    def __init__(self, parent: QObject, act: Callable[[], object]) -> None:
        super().__init__(parent, singleShot=True, interval=PAUSE_MS)
        self._act = act
        self.timeout.connect(act)

    def now(self) -> None:
        """Do it at once if it is due."""
        if self.isActive():
            self.stop()
            self._act()
