"""Measuring the loaded pair: begins when nothing else decodes, and keeps what was measured however it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QObject, Signal

from backend.bench.duration import Pace
from backend.bench.report import Row
from backend.bench.runner import Run
from backend.bench.series import Series, Turn
from backend.errors import EngineError, ErrorCode
from backend.protocol import State
from desktop.bridge import EngineBridge
from desktop.language import marked, tr
from desktop.models.engine import Engine
from desktop.models.report import Report
from desktop.settings import SettingsFile

Phase = Literal["idle", "waiting", "warming", "running", "over"]
_LOST = marked("The engine stopped. Restart it, then measure again.")
_OVERTAKEN = marked("Other models were chosen meanwhile. Measure again when they are loaded.")


class Benchmark(QObject):
    """One at a time.

    Args:
        bridge: to the engine.
        engine: whose pair is measured; replies wait meanwhile.
        settings: which draft a person has chosen.
        busy: whether a reply or a comparison is being made.
    """

    changed = Signal()
    """``phase``, ``runs`` or ``rows`` changed."""

    def __init__(
        self,
        bridge: EngineBridge,
        engine: Engine,
        settings: SettingsFile,
        busy: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge, self._engine, self._settings, self._busy = bridge, engine, settings, busy
        self.phase: Phase = "idle"
        self.series: Series | None = None
        self.runs: list[Run] = []
        self.rows: list[Row] = []
        self.error: EngineError | None = None
        """Why it ended before its end."""
        self._state = State()
        """Of the engine while it measured, with its costs as they were last."""
        self._turns: list[Turn] = []
        self._pace: Pace | None = None
        self._since = 0.0
        self._draft = ""
        self._job = ""
        bridge.warmed.connect(self._on_warmed)
        bridge.benched.connect(self._on_benched)
        bridge.bench_ended.connect(self._on_ended)
        bridge.failed.connect(self._on_failed)
        engine.changed.connect(self.look)

    @property
    def under_way(self) -> bool:
        """Whether it waits or measures."""
        return self.phase in ("waiting", "warming", "running")

    @property
    def next(self) -> Turn | None:
        """The reply that is being measured."""
        return self._turns[len(self.runs)] if self.under_way and len(self.runs) < len(self._turns) else None

    @property
    def left(self) -> float | None:
        """Milliseconds that the rest will take; None where that is not known yet."""
        whole = self._pace.left() if self._pace is not None else None
        if whole is None:
            return None
        since = 1e3 * (time.monotonic() - self._since) if self.phase == "running" else 0.0
        return max(0.0, whole - since)

    @property
    def report(self) -> Report | None:
        """Of what is measured so far; None where that is nothing."""
        if self.series is None or not self.runs:
            return None
        return Report(tuple(self.runs), tuple(self.rows), self._state, self.series.options())

    def begin(self, series: Series) -> None:
        """Start as soon as nothing else is being done; what was measured before is forgotten."""
        if self.under_way:
            return
        self.phase, self.series, self.error = "waiting", series, None
        self.runs, self.rows, self._turns, self._pace = [], [], series.turns(), None
        self.changed.emit()
        self.look()

    def stop(self) -> None:
        """At once; what was measured stays."""
        if self.under_way:
            self._end(EngineError(ErrorCode.CANCELLED, tr("Stopped.")))

    def look(self) -> None:
        """Something ended, or began: perhaps it is our turn, or no longer."""
        engine = self._engine
        if not self.under_way:
            return
        if engine.mode == "lost":
            self._end(EngineError(ErrorCode.WORKER_GONE, tr(_LOST)))
        elif self.phase != "waiting":
            if engine.busy or self._settings.now.draft != self._draft:
                self._end(EngineError(ErrorCode.BUSY, tr(_OVERTAKEN)))
        elif engine.mode == "up" and not engine.busy and not engine.lent and not self._busy():
            if engine.state.target is None:
                self._end(EngineError(ErrorCode.NO_MODEL, tr("No model is loaded; choose one first.")))
            else:
                self._start()

    # -- on its way -----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        assert self.series is not None
        state = self._state = self._engine.state
        self.phase, self._draft = "warming", self._settings.now.draft
        self._pace = Pace(self.series, state.cost, has_draft=state.draft is not None)
        self._engine.lend("benchmark")
        self._job = self._bridge.bench(self.series)
        self.changed.emit()

    def _end(self, error: EngineError | None = None) -> None:
        if self._job:
            self._bridge.cancel(self._job)
        self._job, self.phase, self.error = "", "over", error
        if self._engine.lent == "benchmark":
            self._engine.take_back(orderly=True)
        self.changed.emit()

    def _on_warmed(self, job: str, _: None) -> None:
        if job and job == self._job:
            self.phase, self._since = "running", time.monotonic()
            self.changed.emit()

    def _on_benched(self, job: str, found: tuple[Run, list[Row]]) -> None:
        if not job or job != self._job:
            return
        run, self.rows = found
        self.runs.append(run)
        self._since = time.monotonic()
        if self._pace is not None:
            self._pace.add(run.wall_ms)
        if self._engine.state.target is not None:
            self._state = self._engine.state
        self.changed.emit()

    def _on_ended(self, job: str, _: None) -> None:
        if job and job == self._job:
            self._end()

    def _on_failed(self, job: str, error: EngineError) -> None:
        if job and job == self._job:  # of an engine that ended the job may tell first
            self._end(EngineError(error.code, tr(_LOST)) if error.code is ErrorCode.WORKER_GONE else error)
