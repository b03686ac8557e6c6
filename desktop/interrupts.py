"""Ctrl-C, ``kill``, a closed terminal and a logout end the program as its close button does, with everything written.

Python runs a signal's handler only between two steps of its own, and a window at rest takes none: the signal's number
therefore comes through a socket that Qt's loop watches.
"""

from __future__ import annotations

import contextlib
import signal
import socket
from types import FrameType
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier, Signal

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Not every system has all of them."""


class Interrupts(QObject):
    """``asked`` fires when one of the signals came. To be made on the main thread, before the window is shown."""

    asked = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._came)
        self._old_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._old: dict[int, Any] = {}
        for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:  # who started this in the background wants it so
                self._old[number] = signal.signal(number, _nothing)

    def close(self) -> None:
        """Signals do again what they did before."""
        for number, handler in self._old.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_fd)
        self._notifier.setEnabled(False)
        self._read.close()
        self._write.close()

    def _came(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if set(self._read.recv(64)) & set(self._old):
                self.asked.emit()


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """In place of KeyboardInterrupt in the middle of anything."""
