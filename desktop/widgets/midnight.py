"""Tells when a new day has begun."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from PySide6.QtCore import QObject, QTimer, Signal


class Midnight(QTimer):
    """Waits at most an hour at a time: a clock may be set, and a machine may sleep."""

    passed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent, singleShot=True)
        self._day = date.today()
        self.timeout.connect(self._look)
        self._wait()

    def _look(self) -> None:
        today = date.today()
        if today != self._day:
            self._day = today
            self.passed.emit()
        self._wait()

    def _wait(self) -> None:
        now = datetime.now()
        midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time())
        self.start(min(3_600_000, 1000 + round(1e3 * (midnight - now).total_seconds())))
