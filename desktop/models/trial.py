"""Trying drafts on the replies in the chats: begins when nothing else decodes, ends with the old draft or a new one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from backend.bench.tune import Failed, Trying
from backend.errors import EngineError, ErrorCode
from backend.forecast import Forecast
from desktop.bridge import EngineBridge
from desktop.language import marked, tr
from desktop.models.engine import Engine

Phase = Literal["idle", "waiting", "running", "done"]
_NO_DRAFT = marked("No draft model that fits this target is here. The draft list offers some to download.")
_LOST = marked("The engine stopped. Restart it, then try again.")
_OVERTAKEN = marked("The models are being exchanged. Try again when that is done.")


class Trial(QObject):
    """One trial at a time.

    Args:
        bridge: to the engine.
        engine: whose drafts are tried.
        chats: the database.
        busy: whether a reply or a comparison is being made.
    """

    changed = Signal()
    """``phase``, ``progress`` or ``found`` changed."""
    failed = Signal(object)
    """EngineError: it ended before its end."""

    def __init__(
        self,
        bridge: EngineBridge,
        engine: Engine,
        chats: Path,
        busy: Callable[[], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge, self._engine, self._chats, self._busy = bridge, engine, chats, busy
        self.phase: Phase = "idle"
        self.used = ""
        """The draft in use before; empty = none."""
        self.progress: Trying | None = None
        self.found: list[Forecast | Failed] = []
        self.replies = 0
        """That were judged; known at the end."""
        self._job = ""
        bridge.trying.connect(self._on_trying)
        bridge.tried.connect(self._on_tried)
        bridge.judged.connect(self._on_judged)
        bridge.failed.connect(self._on_failed)
        engine.changed.connect(self.look)

    def begin(self) -> None:
        """Start as soon as nothing else is being done."""
        if self.phase != "idle":
            return
        self.phase, self.progress, self.found, self.replies = "waiting", None, [], 0
        self.changed.emit()
        self.look()

    def look(self) -> None:
        """Something ended, or began: perhaps it is our turn, or no longer."""
        engine = self._engine
        if self.phase == "idle":
            return
        if engine.mode == "lost":
            self._fail(EngineError(ErrorCode.WORKER_GONE, tr(_LOST)))
        elif self.phase != "waiting":
            if engine.busy:
                self._fail(EngineError(ErrorCode.BUSY, tr(_OVERTAKEN)))
        elif engine.mode == "up" and not engine.busy and not engine.lent and not self._busy():
            if engine.state.target is None:
                self._fail(EngineError(ErrorCode.NO_MODEL, tr("No model is loaded; choose one first.")))
            else:
                self._start()

    def leave(self, chosen: str = "") -> None:
        """Go on with a draft, by default the one from before. A trial that is not over yet is stopped, at once."""
        self._end(orderly=self.phase == "done", chosen=chosen)

    def _start(self) -> None:
        self.phase = "running"
        self.used = self._engine.state.draft.id if self._engine.state.draft else ""
        self._job = self._engine.try_drafts(self._chats)
        if self._job:
            self.changed.emit()
        else:
            self._fail(EngineError(ErrorCode.BAD_REQUEST, tr(_NO_DRAFT)))

    def _fail(self, error: EngineError, *, orderly: bool = False) -> None:
        self._end(orderly=orderly)
        self.failed.emit(error)

    def _end(self, *, orderly: bool, chosen: str = "") -> None:
        if self._job:
            self._bridge.cancel(self._job)
        self._job, self.phase = "", "idle"
        if self._engine.lent == "trial":
            self._engine.take_back(chosen=chosen, orderly=orderly)
        self.changed.emit()

    def _on_trying(self, job: str, progress: Trying) -> None:
        if job and job == self._job:
            self.progress = progress
            self.changed.emit()

    def _on_tried(self, job: str, found: Forecast | Failed) -> None:
        if job and job == self._job:
            self.found.append(found)
            self.changed.emit()

    def _on_judged(self, job: str, end: tuple[int, tuple[Forecast | Failed, ...]]) -> None:
        if job and job == self._job:
            self._job, self.phase = "", "done"
            self.replies = end[0]
            self.changed.emit()

    def _on_failed(self, job: str, error: EngineError) -> None:
        if job and job == self._job:
            self._fail(error, orderly=self.progress is None)  # then none has been exchanged
