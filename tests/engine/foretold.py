"""A draft model that was told what the target will say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.speculation.calibration import MarginLogistic
from backend.speculation.cost import PassCosts
from backend.speculation.sources.draft_model import DraftModel
from tests.speculation.tables import TableModel


class Foretold(TableModel):
    """Knows what the target will say, and proposes that, something else, or anything."""

    def __init__(self, kind: str, said: Sequence[int], start: int, n_vocab: int) -> None:
        super().__init__(n_vocab, seed=1, n_ctx=4096)
        self._kind, self._said, self._start = kind, list(said), start
        self._rng = np.random.default_rng(5)

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        at = len(tokens) - self._start
        right = self._said[at] if 0 <= at < len(self._said) else 5
        row = np.zeros(self.n_vocab, dtype=np.float32)
        if self._kind == "wrong":
            right = (right + 1) % self.n_vocab
        elif self._kind == "random" or (self._kind == "mixed" and self._rng.random() < 0.4):
            right = int(self._rng.integers(self.n_vocab))
        row[right] = 10.0
        return row

    def as_sources(self, pair: Any, rule: Any, learner: Any) -> list[Any]:
        """In place of ``reply.sources_of``: this model alone."""
        return [DraftModel(self, rule, self.n_vocab, (), MarginLogistic(), PassCosts())]
