"""Which draft is the best for a target on this machine: what was measured here counts before what is only planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

from desktop.models.outlook import UNKNOWN, Outlook

Speedup = Callable[[str, str], float | None]
"""What a pair has shown here, by the ids of target and draft; None = nothing was measured."""


class Ranking:
    """Orders the drafts of one target.

    Those that were measured to make it faster here come first, by how much; then the others by the plan's time for a
    token, and where it is not known, small ones first; then those measured to make it slower; last what would not fit
    into the memory beside it.

    Args:
        target: its id.
        pairs: what the target comes to with each draft, by the draft's id.
        speedup: what pairs have shown.
    """

    def __init__(self, target: str, pairs: Mapping[str, Outlook], speedup: Speedup) -> None:
        self._target, self._pairs, self._speedup = target, pairs, speedup

    def best(self, choices: Iterable[Any]) -> str | None:
        """The draft that "Automatic" comes to: the first of those that are here and fit, None = there is none."""
        return self._first(c for c in choices if c.ready)

    def recommended(self, choices: Iterable[Any]) -> str:
        """That one, or else the one to download; empty where nothing says that it would help."""
        offered = list(choices)
        best = self.best(offered) or self._first(c for c in offered if c.fits and not c.model.installed)
        return best if best is not None and self._helps(best) else ""

    def _first(self, choices: Iterable[Any]) -> str | None:
        best = min(choices, key=lambda c: self._place(c.model.id), default=None)
        return None if best is None else str(best.model.id)

    def _place(self, draft: str) -> tuple[int, float]:
        pair, ratio = self._pairs.get(draft, UNKNOWN), self._speedup(self._target, draft)
        if pair.fits is False:
            return 3, 0.0
        if ratio is None:
            return 1, pair.ms or inf
        return (0, -ratio) if ratio > 1 else (2, -ratio)

    def _helps(self, draft: str) -> bool:
        pair, ratio = self._pairs.get(draft, UNKNOWN), self._speedup(self._target, draft)
        return pair.fits is not False and (ratio or pair.gain) > 1
