"""How long a benchmark will take: from measured pass costs before it, from its own replies while it runs."""

from __future__ import annotations

from collections import defaultdict

from backend.bench.series import Series, Turn
from backend.equations import between, expected_tokens, ms_per_token
from backend.protocol import CostTable

_LETTERS = 3.5
"""Of a token, in prompts."""
_WRAPPING = 20
"""Tokens that a template puts around a prompt."""
_ACCEPTANCE = 0.6
"""Of a fixed draft length, before anything is known: a usual one, on the low side."""


class Pace:
    """The time that the rest of a benchmark takes, better known with every reply.

    Args:
        series: what is measured.
        costs: of passes on this machine.
        has_draft: whether a draft model is loaded; else fixed lengths come from lookup.
    """

    def __init__(self, series: Series, costs: CostTable | None, *, has_draft: bool) -> None:
        self._turns = series.turns()
        self._known = costs is not None and bool(costs.target)
        """Whether ``_foretold`` are milliseconds; else only their proportions mean anything."""
        self._foretold = [_foretold(turn, series.max_tokens, costs, has_draft) for turn in self._turns]
        self._took: list[float] = []

    def add(self, ms: float) -> None:
        """The next reply took so long."""
        self._took.append(ms)

    def left(self) -> float | None:
        """Milliseconds for the replies that are not measured yet; None where nothing is known."""
        if not (self._known or self._took):
            return None
        factors, usual = self._factors()
        rest = range(len(self._took), len(self._turns))
        return sum(self._foretold[n] * factors.get(self._turns[n].mode, usual) for n in rest)

    def _factors(self) -> tuple[dict[str, float], float]:
        """How many times as long as foretold replies took: by mode, and over all."""
        sums: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        for turn, foretold, took in zip(self._turns, self._foretold, self._took, strict=False):
            for name in (turn.mode, ""):
                sums[name] = (sums[name][0] + took, sums[name][1] + foretold)
        factors = {name: took / foretold for name, (took, foretold) in sums.items()}
        return factors, factors.get("", 1.0)


def _foretold(turn: Turn, max_tokens: int, costs: CostTable | None, has_draft: bool) -> float:
    """Milliseconds if the reply gets as long as it may; "auto" as plain, than which it is hardly slower."""
    read = len(turn.prompt.text) / _LETTERS + _WRAPPING
    if costs is None or not costs.target:
        return read / 8 + max_tokens  # a prompt's tokens are read together
    sizes = sorted(costs.target)
    name, _, length = turn.mode.partition("#")[0].partition(":")
    k = int(length) if name == "fixed" and length.isdecimal() else 0
    step = (costs.draft_step or 0.0) if has_draft else 0.0
    token = ms_per_token(between(costs.target, sizes, k + 1), k, step, expected_tokens(_ACCEPTANCE, k))
    return _reading(costs, round(read)) + (max_tokens - 1) * token


def _reading(costs: CostTable, n: int) -> float:
    """Milliseconds for a prompt of ``n`` tokens: beyond what was measured along all of it.

    The last two sizes may be neighbours, whose costs differ by chance; a hundred tokens on that slope are anything.
    """
    known = costs.target | {tokens: ms for tokens, ms in costs.prompt.items() if tokens > max(costs.target)}
    sizes = sorted(known)
    first, last = sizes[0], sizes[-1]
    if n <= last or first == last:
        return between(known, sizes, n)
    return known[last] + (n - last) * max(0.0, (known[last] - known[first]) / (last - first))
