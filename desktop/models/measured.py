"""The speed-up that each pair has really shown on this machine: what its last comparison or benchmark measured."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError
from backend.library.jsonfile import read_json, write_json
from backend.protocol import Comparison, State
from desktop.bridge import EngineBridge
from desktop.models.engine import Engine
from desktop.models.report import Report

log = logging.getLogger(__name__)
_KEPT = 200
_LEAST = 32
"""Tokens of both ways: shorter replies say little of a pair."""


class Measured(QObject):
    """Ratios of generation by target and draft.

    Args:
        path: of the JSON file; need not exist.
        bridge: whose comparisons count.
        engine: says which pair they were of.
    """

    changed = Signal()

    def __init__(self, path: Path, bridge: EngineBridge, engine: Engine) -> None:
        super().__init__(engine)
        self._path, self._engine = path, engine
        stored = read_json(path).get("speedups")
        self._speedups: dict[str, Any] = stored if isinstance(stored, dict) else {}
        bridge.compared.connect(self._on_compared)

    def speedup(self, target: str, draft: str) -> float | None:
        """The last one; None where none was measured."""
        value = self._speedups.get(_key(target, draft))
        return value if isinstance(value, float) and value > 0 else None

    def take(self, report: Report | None) -> None:
        """What a benchmark found of the pair over all its prompts, the engine choosing the lengths."""
        rows = reversed(report.rows) if report is not None else ()
        ratio = next((row.generation for row in rows if row.mode == "auto" and row.generation is not None), None)
        if report is not None and ratio is not None:
            self._keep(report.state, ratio.value)

    def _on_compared(self, _job: str, result: Comparison) -> None:
        if _telling(result):
            self._keep(self._engine.state, result.generation_ratio)

    def _keep(self, state: State, ratio: float) -> None:
        if state.target is None or state.draft is None:
            return
        key = _key(state.target.id, state.draft.id)
        before = self._speedups.pop(key, None)
        self._speedups[key] = round(ratio, 3)  # the latest stands last
        if before == self._speedups[key]:
            return
        try:
            write_json(self._path, {"speedups": dict(list(self._speedups.items())[-_KEPT:])})
        except EngineError as error:
            log.warning("a measured speed-up is not kept: %s", error)
        self.changed.emit()


def _telling(result: Comparison) -> bool:
    return min(result.plain.predicted_n, result.speculation.predicted_n) >= _LEAST


def _key(target: str, draft: str) -> str:
    return f"{target} {draft}"
