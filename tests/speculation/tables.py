"""Table models: a target and a draft whose laws are known exactly, behind the same contract as real models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from backend.errors import EngineError, ErrorCode


@lru_cache(maxsize=4096)
def _table(n_vocab: int, scale: float, key: tuple[int, ...]) -> np.ndarray:
    """Not to be changed: the thousands of models that tests make share the few rows of their tables."""
    return (scale * np.random.default_rng(key).standard_normal(n_vocab)).astype(np.float32)


class TableModel:
    """logits = a fixed random function of the last ``order`` tokens.

    ``decode`` checks what a real KV cache would: that the loop's idea of the length is the model's.
    """

    def __init__(
        self, n_vocab: int, seed: int, order: int = 2, scale: float = 1.5, n_ctx: int = 512, max_rows: int = 64
    ) -> None:
        self.n_vocab = n_vocab
        self._seed = seed
        self._order = order
        self._scale = scale
        self.n_ctx = n_ctx
        self.max_rows = max_rows
        self.tokens: list[int] = []
        self.decodes: list[int] = []
        self.fail_after: int | None = None
        self.branches = 1
        self._open: list[list[int]] = []

    @property
    def length(self) -> int:
        return len(self.tokens)

    @property
    def room(self) -> int:
        return self.n_ctx - len(self.tokens)

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        key = (self._seed, len(tokens) if self._order > 8 else 0, *tokens[-self._order :])
        return _table(self.n_vocab, self._scale, key).copy()

    def decode(self, tokens: Sequence[int]) -> np.ndarray:
        assert 0 < len(tokens) <= self.max_rows
        assert len(tokens) <= self.room, "the loop asked for more than the context holds"
        assert all(0 <= t < self.n_vocab for t in tokens)
        if self.fail_after is not None and len(self.decodes) >= self.fail_after:
            self.fail_after = None
            raise EngineError(ErrorCode.DECODE_FAILED, "the draft fell over")
        self.decodes.append(len(tokens))
        self._open = []
        rows = []
        for token in tokens:
            self.tokens.append(token)
            rows.append(self.row(self.tokens))
        return np.stack(rows)

    def read(self, tokens: Sequence[int]) -> np.ndarray:
        size = self.max_rows
        return [self.decode(tokens[i : i + size]) for i in range(0, len(tokens), size)][-1][-1:]

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> np.ndarray:
        assert 0 < len(tokens) <= self.max_rows
        assert len(tokens) == len(parents)
        if not self._open:
            self._held = list(self.tokens)
        assert self._held == self.tokens, "the tree was forgotten meanwhile"
        for token, parent in zip(tokens, parents, strict=True):
            assert parent < len(self._open), "a node came before the one that it follows"
            self._open.append([*(self._open[parent] if parent >= 0 else []), token])
        assert len(self._open) <= self.room
        leaves = [p for p in self._open if not any(o[: len(p)] == p and len(o) > len(p) for o in self._open)]
        assert len(leaves) <= self.branches
        self.decodes.append(len(tokens))
        return np.stack([self.row([*self.tokens, *path]) for path in self._open[-len(tokens) :]])

    def settle(self, path: Sequence[int]) -> None:
        walked: list[int] = []
        for node in path:
            assert self._open[node][:-1] == walked, "this is no path"
            walked = self._open[node]
        self.tokens += walked
        self._open = []

    def truncate(self, n: int) -> None:
        assert n <= self.length
        self._open = []
        del self.tokens[n:]

    def keep(self, n: int) -> int:
        self.truncate(min(n, self.length))
        return self.length

    def mark(self) -> None: ...

    @property
    def most_rows(self) -> int:
        return self.max_rows

    def clear(self) -> None:
        self._open = []
        self.tokens.clear()


class MixedDraft(TableModel):
    """A draft that shares the target's table but for a noise of its own."""

    def __init__(self, target: TableModel, noise: float, seed: int = 99, n_vocab: int | None = None) -> None:
        super().__init__(n_vocab or target.n_vocab, seed, max_rows=8)
        self._target = target
        self._noise = noise

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        own = super().row(tokens)
        shared = self._target.row(tokens)
        n = min(len(own), len(shared))
        own[:n] = shared[:n] + self._noise * own[:n]
        return own
