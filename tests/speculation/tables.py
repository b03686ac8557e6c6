"""Table models: a target and a draft whose laws are known exactly, behind the same contract as real models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from backend.errors import EngineError, ErrorCode


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

    @property
    def length(self) -> int:
        return len(self.tokens)

    @property
    def room(self) -> int:
        return self.n_ctx - len(self.tokens)

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        key = [self._seed, len(tokens) if self._order > 8 else 0, *tokens[-self._order :]]
        rng = np.random.default_rng(key)
        return (self._scale * rng.standard_normal(self.n_vocab)).astype(np.float32)

    def decode(self, tokens: Sequence[int]) -> np.ndarray:
        assert 0 < len(tokens) <= self.max_rows
        assert len(tokens) <= self.room, "the loop asked for more than the context holds"
        assert all(0 <= t < self.n_vocab for t in tokens)
        if self.fail_after is not None and len(self.decodes) >= self.fail_after:
            self.fail_after = None
            raise EngineError(ErrorCode.DECODE_FAILED, "the draft fell over")
        self.decodes.append(len(tokens))
        rows = []
        for token in tokens:
            self.tokens.append(token)
            rows.append(self.row(self.tokens))
        return np.stack(rows)

    def read(self, tokens: Sequence[int]) -> np.ndarray:
        size = self.max_rows
        return [self.decode(tokens[i : i + size]) for i in range(0, len(tokens), size)][-1][-1:]

    def truncate(self, n: int) -> None:
        assert n <= self.length
        del self.tokens[n:]

    def keep(self, n: int) -> int:
        self.truncate(min(n, self.length))
        return self.length

    def mark(self) -> None: ...

    @property
    def most_rows(self) -> int:
        return self.max_rows

    def clear(self) -> None:
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
