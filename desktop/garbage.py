"""Garbage in cycles is collected on the window's thread, never on another.

Python collects on whichever thread happens to allocate, and here that is often the one that reads the catalogue. A
widget in a cycle, or one that Qt is deleting at this moment, must not be touched from there: the program would end in
the middle of anything (the case is an old one: https://github.com/napari/napari/issues/1029).
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

_EVERY_MS = 1000


class Garbage(QObject):
    """From now on a timer collects, as much as Python itself would, until closed. To be made on the main thread.

    What is there already, the program itself, stays and is not looked through each time: that alone took 30 ms.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        gc.freeze()
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(collect)
        self._timer.start()

    def close(self) -> None:
        """Python collects by itself again."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()


def collect() -> None:
    """The oldest generation that has passed its threshold, and with it the younger ones."""
    counts = zip(gc.get_count(), gc.get_threshold(), strict=True)
    passed = [generation for generation, (count, limit) in enumerate(counts) if count > limit]
    if passed:
        gc.collect(passed[-1])
