"""How long the window's thread is away from its event loop, and when what is asked for has been painted.

Blocks are measured by a timer of a millisecond on the window's own thread: each time it fires it takes the time, and
the gap since the last time is what a key press at its beginning would have waited. So everything counts that keeps the
thread: slots, layout, painting, collecting garbage, and waiting for Python's lock while another thread has it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from tests.long.driven import until

_QUIET_S = 0.15
"""So long without a paint, and the picture stands."""


class LoopWatch(QObject):
    """Watches from its making until :meth:`end`."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps: list[float] = []
        self._last = time.perf_counter()
        self._timer = QTimer(self, interval=1, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.perf_counter()
        self.gaps.append(now - self._last)
        self._last = now

    def end(self) -> None:
        """Watch no more."""
        self._timer.stop()

    @property
    def longest(self) -> float:
        """The longest gap, in ms."""
        return 1e3 * max(self.gaps)

    @property
    def percentile(self) -> float:
        """The 99th percentile, in ms, weighed by time: 99 % of all moments lie in gaps no longer than this.

        Counted by gaps instead, the many short ones between two frames would hide the long ones.
        """
        left = 0.01 * sum(self.gaps)
        for gap in sorted(self.gaps, reverse=True):
            left -= gap
            if left < 0:
                break
        return 1e3 * gap


class Paints(QObject):
    """When a widget, or one in it, was painted last."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self._widget = widget
        self.last = 0.0
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget) and self._widget.isAncestorOf(watched):
            QTimer.singleShot(0, self, self._painted)
        return False

    def _painted(self) -> None:
        self.last = time.perf_counter()

    def close(self) -> None:
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]


def to_painted(widget: QWidget, act: Callable[[], object], there: Callable[[], bool]) -> float:
    """From ``act`` to the last paint of what it brings, in ms: the picture then stands, and ``there`` is true."""
    paints = Paints(widget)
    began = time.perf_counter()
    act()
    until(there)
    seen = time.perf_counter()
    until(lambda: time.perf_counter() - max(paints.last, seen) > _QUIET_S)
    paints.close()
    return 1e3 * (paints.last - began)
