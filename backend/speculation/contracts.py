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
LAG = 16
"""Tokens that a draft left aside is asked about at once."""


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
        """Most tokens in one :meth:`decode` call of which any may be taken back."""

    @property
    def most_rows(self) -> int:
        """Most tokens in one :meth:`decode` call."""

    def decode(self, tokens: Sequence[int]) -> Rows:
        """Append ``tokens``; logits at every one of them, shape (len(tokens), n_vocab), valid until the next call."""

    def read(self, tokens: Sequence[int]) -> Rows:
        """Append any number of ``tokens`` in slices; logits at the last one only, shape (1, n_vocab)."""

    def truncate(self, n: int) -> None:
        """Keep the first ``n`` tokens."""

    def keep(self, n: int) -> int:
        """Keep the first ``n`` tokens, or as many of them as the memory allows; returns how many are held."""

    def mark(self) -> None:
        """:meth:`keep` can come back to here; not more than a note where it can to anywhere."""

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
        features: what the predictions were made from (calibration), of all that were drafted.
    """

    tokens: list[int]
    source: str
    laws: list[Law | None] | None = None
    expected: list[float] = field(default_factory=list)
    drafted: int = 0
    features: list[float] = field(default_factory=list)


GoOn = Callable[[Sequence[float]], bool]
"""Asked with the expected acceptances so far (the newest last): is drafting one more token worth its cost?"""


class Source(Protocol):
    """Where a draft comes from."""

    name: str

    @property
    def may_follow(self) -> bool:
        """Whether :meth:`follow` can teach it anything."""

    def begin(self, history: Sequence[int]) -> None:
        """A new reply starts; ``history`` is its rendered prompt."""

    def expect(self, history: Sequence[int], k: int) -> list[float]:
        """Predicted acceptance of up to ``k`` draft tokens now, without drafting them; empty = nothing to propose."""

    def cost(self, k: int, unseen: int) -> float:
        """Milliseconds that proposing ``k`` tokens would take now, ``unseen`` history tokens being read first."""

    def unseen(self, history: Sequence[int]) -> int:
        """History tokens the source would have to read before it can propose."""

    def read(self, history: Sequence[int], end: int) -> int:
        """Read one slice of what is unseen, up to position ``end``; how many tokens that was."""

    def follow(self, history: Sequence[int]) -> None:
        """Read the next :data:`LAG` unseen tokens, and learn whether each would have been drafted.

        They are the target's, all of them; so a source that is left aside shows that it would pay again.
        """

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        """At most ``k`` tokens; ``go_on`` None means exactly k where possible. ``history`` is left as it was."""

    def observe(self, history: Sequence[int], start: int, proposal: Proposal | None, accepted: int) -> None:
        """After a round: ``history[start:]`` was emitted; ``proposal`` is this source's own, else None."""

    def hear(self, history: Sequence[int], start: int, tokens: Sequence[int], rows: Rows, accepted: int) -> None:
        """After a round in which draft tokens did not stand: what the target said after those, for whoever can use it.

        Args:
            history: up to and with what the round emitted.
            start: where that begins.
            tokens: the draft, whoever proposed it.
            rows: at ``history[start - 1]`` and at each token of the draft.
            accepted: how many tokens stood.
        """

    def truncate(self, n: int) -> None:
        """Of what was fed so far, only the first ``n`` tokens of the history stand."""
