"""Prompt lookup: copy what followed the longest earlier match of the last tokens (Saxena's prompt lookup decoding).

An index over token pairs gives the candidates; the longest match among the most recent few wins, the latest at a tie.
Adding a token and proposing both cost a constant number of steps, however long the conversation. What would have been
proposed is scored against what came, whether or not it was verified, so the statistics need no exploration.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from backend.speculation.calibration import BucketCounts
from backend.speculation.contracts import GoOn, Proposal, Rows
from backend.speculation.sources.free import FreeSource

_CANDIDATES = 8
_LONGEST = 32
HORIZON = 16
"""Most tokens of one copy."""


class Lookup(FreeSource):
    """Drafts from the conversation itself.

    Args:
        counts: acceptance statistics, shared between replies.
        ends: end-of-generation ids; a proposal stops at the first one (included).
    """

    name = "lookup"

    def __init__(self, counts: BucketCounts, ends: Collection[int]) -> None:
        self.counts = counts
        """Assignable between replies."""
        self._ends = ends
        self._pairs: dict[int, list[int]] = {}
        self._indexed: list[int] = []
        self._open: list[int] = []
        self._open_bucket = 0
        self._open_at = 0
        self._found: tuple[int, int, int] | None = None
        """History length, where the copy would begin, and its bucket (-1 = there is no match)."""

    def begin(self, history: Sequence[int]) -> None:
        """Index ``history``; an index over a prefix of it is kept and extended."""
        self.counts.new_text()
        n = len(self._indexed)
        if n > len(history) or self._indexed != list(history[:n]):
            self._pairs, self._indexed = {}, []
        self._open, self._found = [], None
        self._extend(history)

    def expect(self, history: Sequence[int], k: int) -> list[float]:
        """See :class:`Source`."""
        _, bucket = self._longest(history)
        return self.counts.expect(bucket, min(k, HORIZON)) if bucket >= 0 else []

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        """See :class:`Source`."""
        at, bucket = self._longest(history)
        if bucket < 0 or k <= 0:
            return Proposal([], self.name)
        tokens = self._copy(history, at, k, len(history))
        return Proposal(tokens, self.name, None, self.counts.expect(bucket, len(tokens)), len(tokens))

    def observe(self, history: Sequence[int], start: int, proposal: Proposal | None, accepted: int) -> None:
        """Score the open copy against what was emitted, then index it."""
        for i in range(start, len(history)):
            self._score(history, i)
        self._extend(history)

    def hear(self, history: Sequence[int], start: int, tokens: Sequence[int], rows: Rows, accepted: int) -> None:
        """Nothing to do: only what was emitted is copied."""

    def _score(self, history: Sequence[int], i: int) -> None:
        if self._open_at >= len(self._open):
            at, bucket = self._longest_at(history, i)
            if bucket < 0:
                return
            self._open_bucket, self._open_at = bucket, 0
            self._open = self._copy(history, at, HORIZON, i)
        hit = self._open[self._open_at] == history[i]
        self.counts.observe(self._open_bucket, self._open_at, hit)
        self._open_at = self._open_at + 1 if hit else len(self._open)

    def _extend(self, history: Sequence[int]) -> None:
        for i in range(len(self._indexed), len(history)):
            token = history[i]
            if i > 0:
                self._pairs.setdefault(self._indexed[-1] << 32 | token, []).append(i)
            self._indexed.append(token)

    def _longest(self, history: Sequence[int]) -> tuple[int, int]:
        n = len(history)
        if self._found is None or self._found[0] != n:
            self._found = (n, *self._longest_at(history, n))
        return self._found[1], self._found[2]

    def _longest_at(self, history: Sequence[int], n: int) -> tuple[int, int]:
        """(position after the longest match, its bucket) for the suffix ending at ``n``; bucket -1 = none."""
        if n < 3:
            return 0, -1
        best_at = best = 0
        seen = self._pairs.get(history[n - 2] << 32 | history[n - 1], ())
        for end in reversed(seen[-_CANDIDATES - 1 :]):
            if end >= n - 1:
                continue
            length = 2
            while length < _LONGEST and length <= end and history[end - length] == history[n - 1 - length]:
                length += 1
            if length > best:
                best_at, best = end + 1, length
        if not best:
            return 0, -1
        return best_at, self.counts.bucket(best)

    def _copy(self, history: Sequence[int], at: int, k: int, n: int) -> list[int]:
        """Up to ``k`` tokens from ``at``; past ``n`` the copy continues in itself (a period)."""
        out: list[int] = []
        for i in range(at, at + k):
            token = history[i] if i < n else out[i - n]
            out.append(token)
            if token in self._ends:
                break
        return out
