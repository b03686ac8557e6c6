"""The arithmetic that engine, benchmarks and window share: Eq. (1), Eq. (2), and costs between the measured ones."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

LONGEST = 16
"""Longest automatic draft."""
SLICE = 64
"""Tokens of a prompt that a draft reads at once: beside replies, so that none waits for it long."""


def expected_tokens(alpha: float, k: int) -> float:
    """Eq. (1): tokens per pass for acceptance rate ``alpha`` and draft length ``k``."""
    return float(k + 1) if alpha >= 1.0 else (1.0 - alpha ** (k + 1)) / (1.0 - alpha)


def flat_speedup(alpha: float, k: int, share: float) -> float:
    """Speed-up over plain decoding where passes of any length cost the same, and a draft step ``share`` of that."""
    return expected_tokens(alpha, k) / (1.0 + k * share)


def ms_per_token(t_pass: float, k: int, t_draft: float, tokens_per_pass: float) -> float:
    """Eq. (2): milliseconds a token from the cost of a pass, k draft steps and the tokens a pass yields."""
    return (t_pass + k * t_draft) / tokens_per_pass


def between(known: Mapping[int, float], sizes: Sequence[int], n: int) -> float:
    """What a pass over ``n`` tokens costs: known, else interpolated, else extrapolated along the last slope.

    Args:
        known: costs by size, in any unit.
        sizes: its keys, ascending.
        n: tokens of the pass.

    Raises:
        LookupError: nothing is known.
    """
    if not sizes:
        raise LookupError("no pass was measured")
    i = bisect_left(sizes, n)
    if i == 0:  # too cheap rather than too dear: what is tried is measured
        return known[sizes[0]] * n / sizes[0]
    if i == len(sizes):
        if len(sizes) == 1:
            return known[sizes[0]] * n / sizes[0]
        a, b = sizes[-2], sizes[-1]
        slope = max(0.0, (known[b] - known[a]) / (b - a))
        return known[b] + slope * (n - b)
    a, b = sizes[i - 1], sizes[i]
    share = (n - a) / (b - a)
    return known[a] * (1 - share) + known[b] * share
