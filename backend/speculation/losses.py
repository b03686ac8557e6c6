"""What a reply may lose by copies: little before any stood, and less the more it has lost.

Whether a text copies itself is not known before a copy stood, and fifteen tokens of which the first falls are more than
a short reply makes good where checking is dear. A draft model is not held to this: each of its tokens has a margin.
The numbers are from replays at the costs of several machines (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Callable

from backend.equations import LONGEST

_FIRST, _CHEAP, _PAID = 3, 2.0, 1.5
"""Tokens of a copy at most, or as many as can be checked in so many plain passes, until speculation has gained so many
passes in this reply. By time alone the bound would be a token lower with some noise in the costs, and copies of two
hardly earn the gain; by tokens alone copies would be held back where checking them costs next to nothing."""
_LOST, _HALF = 0.2, 64
"""A copy must promise so much more over plain for each plain pass that this reply has lost by speculating so far, and
half of it once the reply has so many tokens: what a text has not paid back, it is not lent again on the same word."""


class Losses:
    """Plain passes that speculative rounds of one reply took beyond what their tokens would have."""

    def __init__(self) -> None:
        self.passes = 0.0
        """Below 0 = gained."""

    def round(self, passes: float, tokens: int) -> None:
        """A speculative round took the time of ``passes`` plain ones and gave ``tokens``."""
        # bounded: a machine that slept in a round says nothing about the text
        self.passes += min(passes, 1.0 + LONGEST) - tokens

    def longest(self, most: int, passes: Callable[[int], float]) -> int:
        """Tokens of a copy that may be checked now, of at most ``most``; ``passes(k)`` = what checking k takes."""
        if self.passes < -_PAID:
            return most
        return next((k for k in range(most, _FIRST, -1) if passes(k) <= _CHEAP), min(most, _FIRST))

    def asked(self, n: int) -> float:
        """What a copy must promise over plain in addition, ``n`` tokens into the reply, as a share of plain's rate."""
        return _LOST * max(0.0, self.passes) / (1.0 + n / _HALF)
