"""What the target itself has said: n-grams from its own passes, those of rejected drafts included.

A pass over a draft says what follows each of its tokens, also after the first that does not stand: such guesses cost
nothing and often come true a little later (Fu et al., arXiv 2402.02057; Luo et al., arXiv 2408.08696 keep them by
token, as is done here). No second model, no earlier text to copy from: it serves where there is no draft model and
checking a token costs next to nothing (:data:`CHEAP`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from backend.speculation.calibration import BucketCounts
from backend.speculation.contracts import GoOn, Proposal, Rows
from backend.speculation.sources.free import FreeSource

CHEAP = 1.2
"""Checking one token must cost less than this of a plain pass: about a fifth of the guesses hold."""
HORIZON = 8
"""Most tokens of one proposal."""


class SaidCounts(BucketCounts):
    """Acceptance by what is known: what followed the last token, or the last two.

    Of the prior, 0.18 comes from replaying replies; the rest is guessed low, so that it is tried where it costs little.
    """

    edges = (2,)
    first = (0.18, 0.45)
    later = (0.30, 0.55)

    def __init__(self) -> None:
        super().__init__(positions=HORIZON)


class Lookahead(FreeSource):
    """Drafts from what the target has said before.

    Args:
        counts: acceptance statistics, shared between replies.
        ends: end-of-generation ids; a proposal stops at the first one (included).
    """

    name = "lookahead"

    def __init__(self, counts: SaidCounts, ends: Collection[int]) -> None:
        self.counts = counts
        """Assignable between replies."""
        self._ends = ends
        self._after: dict[int, int] = {}
        """What followed a token, or two (both ids in one key), when they came last."""
        self._text: list[int] = []
        self._bucket = self._position = 0

    def begin(self, history: Sequence[int]) -> None:
        """Learn ``history``; what was said in a text that it goes on with is kept."""
        self.counts.new_text()
        n = len(self._text)
        if n > len(history) or self._text != list(history[:n]):
            self._after, self._text = {}, []
        self._position = 0
        self._extend(history, len(history))

    def expect(self, history: Sequence[int], k: int) -> list[float]:
        """See :class:`Source`."""
        token, bucket = self._guess(history[-2] if len(history) > 1 else -1, history[-1])
        return self.counts.expect(bucket, min(k, HORIZON)) if token >= 0 else []

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        """See :class:`Source`."""
        before, last = (history[-2] if len(history) > 1 else -1), history[-1]
        tokens: list[int] = []
        first = 0
        while len(tokens) < min(k, HORIZON):
            token, bucket = self._guess(before, last)
            if token < 0:
                break
            first = first if tokens else bucket
            tokens.append(token)
            if token in self._ends:
                break
            before, last = last, token
        return Proposal(tokens, self.name, None, self.counts.expect(first, len(tokens)), len(tokens))

    def hear(self, history: Sequence[int], start: int, tokens: Sequence[int], rows: Rows, accepted: int) -> None:
        """See :class:`Source`."""
        before = history[start + accepted - 1]
        for i in range(accepted, len(tokens)):
            self._learn(before, tokens[i], int(rows[i + 1].argmax()))
            before = tokens[i]

    def observe(self, history: Sequence[int], start: int, proposal: Proposal | None, accepted: int) -> None:
        """Score what would have been guessed of each token that came, then learn it."""
        for i in range(max(start, 2), len(history)):
            token, bucket = self._guess(history[i - 2], history[i - 1])
            if token >= 0:
                if self._position == 0:
                    self._bucket = bucket
                hit = token == history[i]
                self.counts.observe(self._bucket, min(self._position, HORIZON - 1), hit)
                self._position = self._position + 1 if hit else 0
            else:
                self._position = 0
            self._extend(history, i + 1)

    def _guess(self, before: int, last: int) -> tuple[int, int]:
        """What comes next, and its bucket; -1 = nobody knows."""
        token = self._after.get((before + 1) << 32 | last, -1)
        if token >= 0:
            return token, 1
        return self._after.get(last, -1), 0

    def _learn(self, before: int, last: int, said: int) -> None:
        self._after[(before + 1) << 32 | last] = said
        self._after[last] = said

    def _extend(self, history: Sequence[int], end: int) -> None:
        for i in range(len(self._text), end):
            if i > 0:
                self._learn(history[i - 2] if i > 1 else -1, history[i - 1], history[i])
            self._text.append(history[i])
