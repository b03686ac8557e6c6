"""What of a proposal stands, down its chain or its tree by the target's rows. Stateful samplers see what was walked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

from backend.protocol import Origin, Outcome
from backend.speculation.contracts import Proposal, Rows
from backend.speculation.verify import Rule, Verdict


class Emitted(NamedTuple):
    """One token of a round, with where it came from and its lead over the second best."""

    token: int
    origin: Origin
    margin: float | None
    row: int
    """Its row in :attr:`Round.rows`."""


class Walked(NamedTuple):
    """What was emitted, which tokens of the proposal stood (by number), and how the walk ended."""

    emitted: list[Emitted]
    path: list[int]
    outcome: Outcome


def walk(rule: Rule, rows: Rows, history: list[int], proposal: Proposal | None, ends: Collection[int]) -> Walked:
    """Judge a proposal.

    Args:
        rule: by which a token is chosen and judged.
        rows: at the history's last token and at each of the proposal.
        history: grows by what is emitted.
        proposal: None = there is only the target's own token.
        ends: end-of-generation ids; the walk ends with one.
    """
    if proposal is not None and proposal.parents is not None:
        return _tree(rule, rows, history, proposal, ends)
    emitted: list[Emitted] = []
    tokens = proposal.tokens if proposal else []
    for i, token in enumerate(tokens):
        drawn_from = proposal.laws[i] if proposal and proposal.laws else None
        verdict = rule.judge(rows[i], history, len(history), token, drawn_from)
        history.append(verdict.token)
        if verdict.token != token:
            emitted.append(_emit(verdict, "correction", i))
            return Walked(emitted, list(range(i)), "correction")
        emitted.append(_emit(verdict, "accepted", i))
        if token in ends:
            return Walked(emitted, list(range(i + 1)), "cut")
    n = len(tokens)
    verdict = rule.choose(rows[n], history, len(history))
    history.append(verdict.token)
    emitted.append(_emit(verdict, "bonus" if n else "plain", n))
    return Walked(emitted, list(range(n)), "bonus" if n else "plain")


def _tree(rule: Rule, rows: Rows, history: list[int], proposal: Proposal, ends: Collection[int]) -> Walked:
    """Each token is the target's own; where a node holds it, the next comes of that node's row.

    So any tree is exact where a token does not depend on what was proposed: under the greedy and the coupled rule.
    """
    emitted: list[Emitted] = []
    path: list[int] = []
    while True:
        row = path[-1] + 1 if path else 0
        verdict = rule.choose(rows[row], history, len(history))
        history.append(verdict.token)
        behind = proposal.behind(row - 1)
        node = next((i for i in behind if proposal.tokens[i] == verdict.token), None)
        if node is None:
            outcome: Literal["correction", "bonus"] = "correction" if behind else "bonus"
            return Walked([*emitted, _emit(verdict, outcome, row)], path, outcome)
        emitted.append(_emit(verdict, "accepted", row))
        path.append(node)
        if verdict.token in ends:
            return Walked(emitted, path, "cut")


def _emit(verdict: Verdict, origin: Origin, row: int) -> Emitted:
    return Emitted(verdict.token, origin, verdict.margin, row)
