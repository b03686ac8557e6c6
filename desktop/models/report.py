"""What a benchmark found: to be shown, copied and saved. All that takes long is made from it beside the window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.bench import words
from backend.bench.record import facts, record
from backend.bench.report import Divergence, Row, divergences
from backend.bench.runner import Run
from backend.protocol import CostTable, State
from backend.wire import to_bytes


@dataclass(frozen=True, slots=True)
class Report:
    """Whole or not: of as many replies as were measured.

    Args:
        runs: at least one, in the order of measuring.
        rows: their figures, as ``tandem bench`` makes them.
        state: the engine's, with its costs as they were measured last.
        options: what was asked for.
    """

    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    state: State
    options: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        """One sentence; empty where nothing can be said yet."""
        said = words.verdict(self.rows, pair=self.state.draft is not None)
        return f"{said}." if said else ""

    @property
    def noise(self) -> str:
        """How much of a difference means nothing."""
        return words.noise(self.rows)

    @property
    def differences(self) -> list[Divergence]:
        """Where texts leave plain's."""
        return divergences(self.runs)

    def text(self) -> str:
        """Everything for people, to be pasted somewhere."""
        head = [line for line in (self.verdict, self.noise) if line]
        measured_with = [f"{name}: {value}" for name, value in self._facts().items()]
        return "\n".join([*head, "", *words.lines(self.runs), "", *measured_with, ""])

    def json(self) -> bytes:
        """What ``tandem bench --json`` writes."""
        return to_bytes(record(self.runs, self.state, self.options, self.state.version))

    def page(self) -> bytes:
        """What ``tandem bench --html`` writes. Not for the window's thread: what draws takes a second to load."""
        from backend.bench.html import page

        costs = (self.state.cost or CostTable()).target
        return page(self.runs, self._facts(), costs, verdict=self.verdict.rstrip(".")).encode("utf-8", "replace")

    def _facts(self) -> dict[str, object]:
        return facts(self.state, self.options, self.state.version)
