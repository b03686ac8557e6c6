"""What a pass costs, measured: T_v(n) of the target, and the same table for the draft.

Nothing is assumed about the shape. On a CPU an n-token pass has stairs (4 tokens may cost what 2 do), on a GPU cliffs;
so each size keeps the median of its own recent passes, and sizes never seen are interpolated between their neighbours.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable

_RECENT = 9
"""Passes per size that the median looks at: few enough to follow drifting memory bandwidth."""


class PassCosts:
    """Milliseconds of one pass over n tokens, from observations.

    Larger sizes are kept as multiples of a one-token pass: memory bandwidth drifts by a third within minutes and takes
    all sizes with it, so a size not seen for a while follows the one-token passes that are.
    """

    def __init__(self) -> None:
        self._single: deque[float] = deque(maxlen=_RECENT)
        self._seen: dict[int, deque[float]] = {}
        self._ratio: dict[int, float] = {}
        self._sizes: list[int] = []
        self._unit = 1.0

    def observe(self, n: int, ms: float) -> None:
        """Record that a pass over ``n`` tokens took ``ms``."""
        if n == 1:
            first = not self._single
            self._single.append(ms)
            unit = _median(self._single)
            if first:  # what was seen before was in plain milliseconds
                self._ratio = {size: ratio / unit for size, ratio in self._ratio.items()}
                self._seen = {size: deque((r / unit for r in seen), _RECENT) for size, seen in self._seen.items()}
            self._unit = unit
            self._ratio[1] = 1.0
        else:
            seen = self._seen.setdefault(n, deque(maxlen=_RECENT))
            seen.append(ms / self._unit)
            self._ratio[n] = _median(seen)
        if len(self._sizes) != len(self._ratio):
            self._sizes = sorted(self._ratio)

    def settle(self) -> None:
        """The circumstances changed (another context length): two new one-token passes outweigh all older ones."""
        if self._single:
            self._single = deque([self._unit], _RECENT)

    @property
    def known(self) -> bool:
        """Whether anything was measured."""
        return bool(self._sizes)

    @property
    def measured(self) -> list[int]:
        """Sizes with observations, ascending."""
        return list(self._sizes)

    def at(self, n: int) -> float:
        """Cost of a pass over ``n`` tokens: measured, else interpolated, else extrapolated along the last slope.

        Raises:
            LookupError: nothing was measured yet.
        """
        ratio = self._ratio.get(n)
        return self._unit * (self._between(n) if ratio is None else ratio)

    def _between(self, n: int) -> float:
        sizes = self._sizes
        if not sizes:
            raise LookupError("no pass was measured")
        i = bisect_left(sizes, n)
        if i == 0:
            return self._ratio[sizes[0]]
        if i == len(sizes):
            if len(sizes) == 1:
                return self._ratio[sizes[0]] * max(1.0, n / sizes[0])
            a, b = sizes[-2], sizes[-1]
            slope = max(0.0, (self._ratio[b] - self._ratio[a]) / (b - a))
            return self._ratio[b] + slope * (n - b)
        a, b = sizes[i - 1], sizes[i]
        share = (n - a) / (b - a)
        return self._ratio[a] * (1 - share) + self._ratio[b] * share

    def table(self) -> dict[int, float]:
        """Measured sizes and their costs."""
        return {n: self.at(n) for n in self._sizes}


def _median(values: Iterable[float]) -> float:
    """The middle value, the lower one of two: a slow pass is more often an accident than a fast one."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2]


def expected_tokens(alpha: float, k: int) -> float:
    """Eq. (1): tokens per pass for acceptance rate ``alpha`` and draft length ``k``."""
    return float(k + 1) if alpha >= 1.0 else (1.0 - alpha ** (k + 1)) / (1.0 - alpha)


def ms_per_token(t_pass: float, k: int, t_draft: float, tokens_per_pass: float) -> float:
    """Eq. (2): milliseconds a token from the cost of a pass, k draft steps and the tokens a pass yields."""
    return (t_pass + k * t_draft) / tokens_per_pass
