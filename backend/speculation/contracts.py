"""What the round loop needs from a model and from a source. Nothing here knows llama.cpp.

The whole loop runs against these two protocols, so it is tested with table models whose law is known exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from backend.sampling.chain import Law

Rows = NDArray[np.float32]

SMALL_READ = 8
"""Unseen tokens up to here a draft reads along with its first step; more is an investment, made slice by slice."""


class Model(Protocol):
    """A model with a KV cache over one sequence of tokens."""

    @property
    def n_vocab(self) -> int:
        """Number of token ids; rows have this width."""

    @property
    def length(self) -> int:
        """Tokens held in the KV cache."""

    @property
    def tokens(self) -> Sequence[int]:
        """The tokens held, oldest first."""

    @property
    def room(self) -> int:
        """How many more tokens fit."""

    @property
    def max_rows(self) -> int:
        """Most tokens in one :meth:`decode` call."""

    def decode(self, tokens: Sequence[int]) -> Rows:
        """Append ``tokens``; logits at every one of them, shape (len(tokens), n_vocab), valid until the next call."""

    def read(self, tokens: Sequence[int]) -> Rows:
        """Append any number of ``tokens`` in slices; logits at the last one only, shape (1, n_vocab)."""

    def truncate(self, n: int) -> None:
        """Keep the first ``n`` tokens."""

    def clear(self) -> None:
        """Forget everything."""


@dataclass(slots=True)
class Proposal:
    """Draft tokens for one round.

    Attributes:
        tokens: to be verified, in order.
        source: who proposed them.
        laws: for each token the law it was *drawn* from, or None where it was chosen deterministically.
        expected: predicted acceptance of each token given the ones before it.
        drafted: tokens drafted, those dropped before verification included.
        read, read_ms: history tokens that the draft had to read first, and the time where it was more than a few.
        features: what the prediction was made from (calibration).
        shadow: drafted only to be judged.
    """

    tokens: list[int]
    source: str
    laws: list[Law | None] | None = None
    expected: list[float] = field(default_factory=list)
    drafted: int = 0
    read: int = 0
    read_ms: float = 0.0
    features: list[float] = field(default_factory=list)
    shadow: bool = False


GoOn = Callable[[Sequence[float]], bool]
"""Asked with the expected acceptances so far (the newest last): is drafting one more token worth its cost?"""


def shadow(expected: Sequence[float]) -> bool:
    """A :data:`GoOn` that keeps no token: one is drafted, and judged by what plain decoding emits."""
    return False


class Source(Protocol):
    """Where a draft comes from."""

    name: str

    @property
    def may_drop(self) -> bool:
        """Whether a token that was drafted may be left unverified (the rejection rule forbids it)."""

    def begin(self, history: Sequence[int]) -> None:
        """A new reply starts; ``history`` is its rendered prompt."""

    def expect(self, history: Sequence[int], k: int) -> list[float]:
        """Predicted acceptance of up to ``k`` draft tokens now, without drafting them; empty = nothing to propose."""

    def cost(self, k: int, unseen: int) -> float:
        """Milliseconds that proposing ``k`` tokens would take now, ``unseen`` history tokens being read first."""

    def unseen(self, history: Sequence[int]) -> int:
        """History tokens the source would have to read before it can propose."""

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        """At most ``k`` tokens; ``go_on`` None means exactly k where possible. ``history`` is left as it was."""

    def observe(self, history: Sequence[int], start: int, proposal: Proposal | None, accepted: int) -> None:
        """After a round: ``history[start:]`` was emitted; ``proposal`` is this source's own, else None."""

    def truncate(self, n: int) -> None:
        """Of what was fed so far, only the first ``n`` tokens of the history stand."""
