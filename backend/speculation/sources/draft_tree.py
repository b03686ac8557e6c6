"""One tree of a draft model: grown level by level, each a pass of the draft over all nodes that are worth a look."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from backend.sampling.chain import Row
from backend.speculation.calibration import MarginLogistic
from backend.speculation.contracts import Model, Proposal
from backend.speculation.cost import PassCosts
from backend.speculation.tree import Budget, Growth
from backend.speculation.verify import CAP, Rule


class _Said(NamedTuple):
    """What the draft said behind a node: its choices with the numbers of their nodes, and the lead of the first."""

    nodes: dict[int, int]
    margin: float


class DraftTree:
    """The tree of one round.

    Args:
        model: the draft's context; it holds the text, and then the nodes that were looked behind.
        rule: under which a choice is judged by its token alone.
        width: ids from here on are never proposed.
        ends: end-of-generation ids; nothing follows one.
        calibration: acceptance from scores.
        costs: the draft's pass costs.
    """

    def __init__(
        self,
        model: Model,
        rule: Rule,
        width: int,
        ends: Collection[int],
        calibration: MarginLogistic,
        costs: PassCosts,
    ) -> None:
        self._model = model
        self._rule = rule
        self._width = width
        self._ends = ends
        self._calibration = calibration
        self._costs = costs
        self._said: dict[int, _Said] = {}
        self._held: dict[int, int] = {}
        """Of the nodes that were looked behind, their numbers in the model's own tree."""
        self._proposed: list[int] = []

    def grow(self, history: list[int], row: Row, budget: Budget, began: float, out: Proposal) -> None:
        """Fill ``out``.

        Args:
            history: the text; left as it was.
            row: at its end.
            budget: how large the tree may become.
            began: when drafting did (``time.perf_counter``).
            out: the proposal.
        """
        growth = Growth(budget, self._costs.at, self._model.branches)
        self._look(growth, -1, history, row)
        while level := growth.next_level(1e3 * (time.perf_counter() - began))[: self._room()]:
            passed = time.perf_counter()
            held = [self._held.get(growth.parents[node], -1) for node in level]
            rows = self._model.grow([growth.tokens[node] for node in level], held)
            for node, row in zip(level, rows, strict=True):
                self._held[node] = len(self._held)
                self._look(growth, node, history, row)
            self._costs.observe(len(level), 1e3 * (time.perf_counter() - passed))
        self._fill(growth, out, 1e3 * (time.perf_counter() - began))

    def held_of(self, path: Sequence[int]) -> list[int]:
        """The nodes of the model's tree on this path of the proposal, as far as it was looked behind."""
        nodes = [self._proposed[i] for i in path]
        return [self._held[node] for node in nodes if node in self._held]

    def learn(self, emitted: Sequence[int], calibration: MarginLogistic) -> None:
        """Of the choices at each place of the text that the tree knows."""
        node = -1
        for token in emitted:
            if node not in self._said:
                return
            nodes, margin = self._said[node]
            hit = next(iter(nodes)) == token
            calibration.observe(margin, hit)
            if not hit:
                calibration.missed(token in nodes)
            if token not in nodes:
                return
            node = nodes[token]

    def _room(self) -> int:
        return max(0, min(self._model.most_rows, self._model.room - len(self._held)))

    def _look(self, growth: Growth, node: int, history: list[int], row: Row) -> None:
        end = len(history)
        history += growth.path(node)  # a long one is not copied for each node
        try:
            tokens, scores = self._rule.choices(row[: self._width], history, len(history))
        finally:
            del history[end:]
        first = len(growth.tokens)
        growth.add(node, tokens, self._calibration.chances(scores), self._ends.__contains__)
        margin = min(CAP, scores[0] - scores[1]) if len(scores) > 1 else CAP
        self._said[node] = _Said({token: first + i for i, token in enumerate(tokens)}, margin)

    def _fill(self, growth: Growth, out: Proposal, spent: float) -> None:
        chosen = self._proposed = growth.chosen(spent)
        number = {-1: -1} | {node: i for i, node in enumerate(chosen)}
        out.tokens = [growth.tokens[node] for node in chosen]
        out.expected = [growth.expected[node] for node in chosen]
        out.parents = [number[growth.parents[node]] for node in chosen] if chosen else None
        out.drafted = len(chosen)
