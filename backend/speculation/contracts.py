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
from backend.speculation.tree import Budget

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

    @property
    def branches(self) -> int:
        """Paths of a tree that can be held at once; 1 = this model cannot branch."""

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> Rows:
        """Add nodes to the tree at the end of what is held; whatever else is asked of the model forgets the tree.

        Args:
            tokens: of the nodes.
            parents: of each the number of the node before it, counted over all calls; -1 = what is held.

        Returns:
            Logits at every one of them, valid until the next call.
        """

    def settle(self, path: Sequence[int]) -> None:
        """Keep the nodes of one path from the tree's beginning, as part of what is held; the others are forgotten."""

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
    """Draft tokens for one round: a chain, or a tree.

    Attributes:
        tokens: to be verified, in order.
        source: who proposed them.
        laws: for each token the law it was *drawn* from, or None where it was chosen deterministically.
        expected: predicted acceptance of each token given the ones before it.
        drafted: tokens drafted, those dropped before verification included; of a tree those that are verified.
        features: what the predictions were made from (calibration), of all that were drafted; none of a tree.
        parents: of a tree, for each token the number of the one before it; -1 = the end of the text.
    """

    tokens: list[int]
    source: str
    laws: list[Law | None] | None = None
    expected: list[float] = field(default_factory=list)
    drafted: int = 0
    features: list[float] = field(default_factory=list)
    parents: list[int] | None = None

    def behind(self, node: int) -> list[int]:
        """The tokens, by number, that may come next after token ``node``; -1 = the end of the text."""
        if self.parents is None:
            return [node + 1] if node + 1 < len(self.tokens) else []
        return [i for i, parent in enumerate(self.parents) if parent == node]

    def along(self, path: Sequence[int]) -> list[int]:
        """The tokens of ``path`` and the likeliest behind it: of a tree, the one chain that is shown and counted."""
        if self.parents is None:
            return self.tokens
        nodes = list(path)
        while behind := self.behind(nodes[-1] if nodes else -1):
            nodes.append(max(behind, key=lambda i: self.expected[i]))
        return [self.tokens[i] for i in nodes]


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

    @property
    def may_branch(self) -> bool:
        """Whether :meth:`branch` can be called."""

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        """At most ``k`` tokens; ``go_on`` None means exactly k where possible. ``history`` is left as it was."""

    def branch(self, history: list[int], budget: Budget) -> Proposal:
        """A tree, as large as pays within ``budget``."""

    def walked(self, path: Sequence[int]) -> None:
        """Of the tree proposed last, the text goes on with these nodes; told before :meth:`truncate`."""

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
