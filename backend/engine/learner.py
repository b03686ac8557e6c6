"""What replies teach about guessing: how far copies hold, and how a draft's margins translate into acceptance.

A person's replies share one learner, kept between runs. A benchmark gives each way of decoding one of its own, so that
none is measured on a text that it, or another, has already learnt from.
"""

from __future__ import annotations

from typing import Any

from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.sources.lookahead import SaidCounts
from backend.speculation.verify import Rule

_TYPICAL_REPLY = 256


class Learner:
    """Acceptance statistics of one target; those of its draft are forgotten with the draft."""

    def __init__(self) -> None:
        self._length = float(_TYPICAL_REPLY)
        self.copies = BucketCounts()
        self.said = SaidCounts()
        self._margins: dict[str, MarginLogistic] = {}

    def rest(self, emitted: int) -> int:
        """Tokens still to be expected of a reply that has ``emitted``; one longer than usual goes on for a while."""
        return max(32, emitted // 2, round(self._length) - emitted)

    def ended(self, tokens: int, cut_off: bool) -> None:
        """A reply of ``tokens`` is over; one that was cut off would have been longer still."""
        if not cut_off or tokens > self._length:
            self._length += 0.2 * (tokens - self._length)

    def margins(self, rule: Rule) -> MarginLogistic:
        """Of the draft under this rule: margins are leads of logits, of perturbed scores, or of log-probabilities."""
        return self._margins.setdefault(rule.name, MarginLogistic())

    def forget_draft(self) -> None:
        """Another draft comes."""
        self._margins.clear()

    def draft_json(self) -> dict[str, Any]:
        """What :meth:`restore_draft` takes."""
        return {name: margins.to_json() for name, margins in self._margins.items()}

    def restore_draft(self, stored: object) -> None:
        """What an earlier run learnt; what is not that is left out."""
        if isinstance(stored, dict):
            for name in ("greedy", "coupled", "rejection"):
                if name in stored:
                    self._margins[name] = MarginLogistic()
                    self._margins[name].restore(stored[name])
