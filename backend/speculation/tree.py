"""A tree of drafts: the likeliest paths, found level by level, as long as another level is worth its step.

Where a pass costs nearly the same however many tokens it checks, second and third choices beside a draft's first ones
cost next to nothing, and one of them stands where the first falls. A path stands with the product of its tokens'
calibrated acceptances; the likeliest nodes are those of the largest products, and they hang together by themselves,
since no token is likelier than the one before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

Cost = Callable[[int], float]
"""Milliseconds by number of tokens."""

_SIZES = frozenset(n - 1 for n in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64))
"""Nodes of a tree, so that passes are of few sizes: what each costs is then seen again and again, not once."""
_WIDE = 8
"""Nodes of a level by which another one's cost is told."""
_AHEAD = 0.9
"""One of the tokens behind a node stands with about this chance, where the node does."""


class Budget(NamedTuple):
    """How large a tree may become.

    Attributes:
        nodes: at most.
        depth: tokens of its longest path at most.
        verify: milliseconds of the pass that checks so many nodes.
    """

    nodes: int
    depth: int
    verify: Cost


class Growth:
    """A tree that grows. Nodes are numbered in the order in which they came; -1 is the end of the text.

    Args:
        budget: how large it may become.
        step: milliseconds of a pass of the draft over so many nodes.
        branches: paths that the draft's memory can hold at once.
    """

    def __init__(self, budget: Budget, step: Cost, branches: int) -> None:
        self._budget = budget
        self._step = step
        self._branches = branches
        self._paths = 1
        self._level: list[int] = []
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.expected: list[float] = []
        """Chance of each node, given that the one before it stands."""
        self._stands: list[float] = []
        self._depth: list[int] = []

    def add(self, parent: int, tokens: Sequence[int], chances: Sequence[float], final: Callable[[int], bool]) -> None:
        """What may follow ``parent``, and with which chance each; nothing follows a ``final`` token."""
        stands, depth = (self._stands[parent], self._depth[parent] + 1) if parent >= 0 else (1.0, 1)
        for token, chance in zip(tokens, chances, strict=True):
            if depth < self._budget.depth and not final(token):
                self._level.append(len(self.tokens))
            self.tokens.append(token)
            self.parents.append(parent)
            self.expected.append(chance)
            self._stands.append(stands * chance)
            self._depth.append(depth)

    def path(self, node: int) -> list[int]:
        """The tokens up to and with ``node``."""
        out: list[int] = []
        while node >= 0:
            out.append(self.tokens[node])
            node = self.parents[node]
        return out[::-1]

    def next_level(self, spent: float) -> list[int]:
        """The newest nodes that are worth a step of the draft, ``spent`` milliseconds having gone into the tree."""
        level, self._level = self._level, []
        best, nodes = self._likeliest(), self._budget.nodes
        _, now = self._paying(best, spent)
        # what another node has to be worth: what its check costs on the whole (what single sizes cost is rough), or,
        # where the tree is full, what it takes the place of
        checked = now * (self._budget.verify(nodes) - self._budget.verify(0)) / nodes
        floor = max(checked, self._stands[best[-1]] if len(best) == nodes else 0.0)
        each = max(0.0, now * (self._step(_WIDE) - self._step(1)) / (_WIDE - 1))
        gains = {node: _AHEAD * self._stands[node] - floor for node in level}
        wide = self._fitting(sorted((node for node in level if gains[node] > each), key=lambda node: -gains[node]))
        if not wide or sum(gains[node] for node in wide) <= now * self._step(len(wide)):
            return []
        return wide

    def chosen(self, spent: float) -> list[int]:
        """As many of the likeliest nodes as pay, each behind the one it follows."""
        best = self._likeliest()
        return sorted(best[: self._paying(best, spent)[0]])

    def _paying(self, best: Sequence[int], spent: float) -> tuple[int, float]:
        """How many of these nodes give the most tokens a millisecond, and that rate."""
        n, most, tokens = 0, 1.0 / (self._budget.verify(0) + spent), 1.0
        for i, node in enumerate(best, start=1):
            tokens += self._stands[node]
            if i in _SIZES or i == len(best):
                rate = tokens / (self._budget.verify(i) + spent)
                if rate > most:
                    n, most = i, rate
        return n, most

    def _likeliest(self) -> list[int]:
        """Ascending numbers where two are as likely, so that none comes before what it follows."""
        return sorted(range(len(self.tokens)), key=lambda node: -self._stands[node])[: self._budget.nodes]

    def _fitting(self, level: Sequence[int]) -> list[int]:
        """As many as the draft can hold: each but the first behind a node is one more path."""
        out: list[int] = []
        grown: set[int] = set()
        for node in level:
            more = self.parents[node] in grown
            if self._paths + more <= self._branches:
                grown.add(self.parents[node])
                self._paths += more
                out.append(node)
        return out
