"""Formulas for the window: drawn by another process, kept, and never waited for."""

from __future__ import annotations

import json
import logging
import sys
from collections import OrderedDict
from collections.abc import Sequence

from PySide6.QtCore import QObject, QProcess, QTimer, Signal

from desktop.maths.typeset import LIMIT, Drawing

log = logging.getLogger(__name__)

_KEPT = 2000
"""Drawings, of some kilobytes each."""
_PATIENCE_MS = 2000
"""For one formula: usual ones take 2 to 20 ms."""
_START_MS = 30_000
_IDLE_MS = 120_000
"""After which the process is ended; the next formula starts it again."""
_TELL_MS = 30
"""Between two times that ``ready`` is emitted: what comes meanwhile is laid out together."""
_DEATHS = 5
"""Starts in a row that come to nothing, after which the process is not started again."""

Key = tuple[str, bool]


def typesetter_command() -> list[str]:
    """The argv that starts the process, from a checkout or an installation and from a frozen application."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--maths-worker"]
    return [sys.executable, "-m", "desktop.maths.worker"]


class Typesetter(QObject):
    """Draws one formula after the other, the latest asked for first; what takes too long is refused.

    Args:
        command: argv of the process; None = :func:`typesetter_command`.
        patience_ms: how long one formula may take.
    """

    ready = Signal()
    """Formulas that were asked for are known now."""

    def __init__(
        self, parent: QObject | None = None, *, command: Sequence[str] | None = None, patience_ms: int = _PATIENCE_MS
    ) -> None:
        super().__init__(parent)
        self._command = list(command) if command is not None else typesetter_command()
        self._patience_ms = patience_ms
        self._known: OrderedDict[Key, Drawing | None] = OrderedDict()
        """None = refused: its source is shown for ever."""
        self._wanted: dict[Key, None] = {}
        self._asked: Key | None = None
        self._process: QProcess | None = None
        self._greeted = False
        self._deaths = 0
        self._patience = QTimer(self, singleShot=True)
        self._patience.timeout.connect(self._too_long)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._end)
        self._tell = QTimer(self, singleShot=True, interval=_TELL_MS)
        self._tell.timeout.connect(self.ready)

    @property
    def busy(self) -> bool:
        """Whether something that was asked for is not known yet."""
        return self._asked is not None or bool(self._wanted)

    def drawing(self, latex: str, display: bool) -> Drawing | None:
        """The formula, or None: it is refused, or not known yet and comes with ``ready``."""
        key = (latex, display)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        if key != self._asked and len(latex) <= LIMIT and self._deaths < _DEATHS:
            self._wanted[key] = None
            self._next()
        return None

    def waits(self, latex: str, display: bool) -> bool:
        """Whether it was asked for and may still come."""
        key = (latex, display)
        return key in self._wanted or key == self._asked

    def close(self) -> None:
        """End the process; nothing is drawn any more."""
        self._deaths = _DEATHS
        self._wanted.clear()
        self._end()

    def _next(self) -> None:
        if self._asked is not None or not self._wanted:
            return
        self._idle.stop()
        if self._process is None:
            self._start()
        elif self._greeted:
            self._asked = self._wanted.popitem()[0]
            self._process.write(json.dumps(self._asked).encode() + b"\n")
            self._patience.start(self._patience_ms)

    def _start(self) -> None:
        self._greeted = False
        process = self._process = QProcess(self)
        process.setStandardErrorFile(QProcess.nullDevice())
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._ended)
        process.errorOccurred.connect(self._failed)
        self._patience.start(_START_MS)
        process.start(self._command[0], self._command[1:])

    def _read(self) -> None:
        while self._process is not None and self._process.canReadLine():
            line = self._process.readLine().toStdString()
            self._patience.stop()
            if not self._greeted:
                self._greeted, self._deaths = True, 0
            elif self._asked is not None:
                answer = json.loads(line)
                self._keep(Drawing(**answer) if answer else None)
            self._next()
        if self._asked is None and not self._wanted:
            self._idle.start()

    def _keep(self, drawing: Drawing | None) -> None:
        if self._asked is not None:
            self._known[self._asked] = drawing
            self._asked = None
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
            if not self._tell.isActive():
                self._tell.start()

    def _too_long(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _failed(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart:  # then it does not finish either
            self._deaths = _DEATHS
            self._ended()

    def _ended(self) -> None:
        """By itself, or because a formula took too long: that one is refused, and another process goes on."""
        if self._process is None:
            return
        self._process.deleteLater()
        self._process = None
        self._patience.stop()
        self._deaths += 1
        self._keep(None)
        if self._deaths >= _DEATHS:
            log.warning("formulas are not drawn: %s does not run", " ".join(self._command))
            self._wanted.clear()
            self._tell.start()
        self._next()

    def _end(self) -> None:
        process, self._process = self._process, None
        self._asked = None
        for timer in (self._patience, self._idle):
            timer.stop()
        if process is not None:
            process.finished.disconnect(self._ended)
            process.closeWriteChannel()
            process.kill()
            process.waitForFinished(2000)
            process.deleteLater()
