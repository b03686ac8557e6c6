"""Work beside the window, one piece after the other; what comes of it is told on the window's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

Made = TypeVar("Made")


class Errands(QObject):
    """One thread, begun with the first errand. After :meth:`close` nothing is begun and nothing is told.

    Args:
        name: the thread's.
        parent: as everywhere in Qt.
    """

    _back = Signal(object)

    def __init__(self, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # the program's end does not wait for a daemon: an executor's thread that hangs on a disk would keep it
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._closed = False
        self._back.connect(self._tell)

    def run(self, work: Callable[[], Made], good: Callable[[Made], object], bad: Callable[[Exception], object]) -> None:
        """Do ``work`` after what was asked for before; then ``good`` what it made, or ``bad`` what it raised."""

        def errand() -> None:
            try:
                made = work()
            except Exception as error:  # noqa: BLE001 - a thread's top: ``bad`` says it
                fault = error
                self._bring(lambda: bad(fault))
            else:
                self._bring(lambda: good(made))

        if self._closed:
            return
        if self._thread.ident is None:
            self._thread.start()
        self._waiting.put(errand)

    def close(self, patience: float | None = None) -> None:
        """Begin nothing more, and wait ``patience`` seconds for what runs; None = until it has ended."""
        self._closed = True
        if self._thread.ident is not None:
            self._waiting.put(None)
            self._thread.join(patience)

    def _work(self) -> None:
        while (errand := self._waiting.get()) is not None:
            if not self._closed:
                errand()

    def _bring(self, act: Callable[[], object]) -> None:
        if not self._closed:
            self._back.emit(act)

    def _tell(self, act: Callable[[], object]) -> None:
        if not self._closed:
            act()
