"""Which source and which draft length the next round takes: the most expected tokens per millisecond, 0 included.

For acceptances a_1..a_k the expected tokens of a round are 1 + sum of their running products (Eq. (1) for equal ones);
its time is T_v(k+1) + drafting + overhead, all measured. Plain decoding is the case k = 0, so a source that does not
pay is simply not chosen. The draft's own reading of the prompt is an investment, weighed against the tokens still to
come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.protocol import Speculation
from backend.speculation.contracts import SMALL_READ, GoOn, Proposal, Source, shadow
from backend.speculation.cost import PassCosts

LONGEST = 16
"""Longest automatic draft."""
LAST_TOKEN = "last token"
"""Reason of a round that only one token may come of; it says nothing about the reply before it."""
_EDGE = 1.03
"""Speculation must promise this much over plain: costs are noisy, and a tie gains nothing."""
_PROBE_SHARE = 0.02
_RECHECK = 50
"""Rounds after which a plain pass is taken to measure what speculation is compared with."""
_RECHECK_SOON = 12
"""The same while that was measured at another context length."""


@dataclass(slots=True, frozen=True)
class Plan:
    """What to do next: ``source`` None means plain decoding, for ``reason``."""

    source: Source | None
    k: int
    go_on: GoOn | None = None
    reason: str = ""


class Policy:
    """Chooses source and length each round.

    Args:
        settings: the current speculation settings (read anew each round).
        target: the target's pass costs.
        rest: tokens still expected in this reply (for investments).
        overhead: host milliseconds of a speculative round beyond a plain one.
    """

    def __init__(
        self, settings: Callable[[], Speculation], target: PassCosts, rest: Callable[[], int], overhead: float = 0.3
    ) -> None:
        self._settings = settings
        self._target = target
        self._rest = rest
        self._overhead = overhead
        self._budget = 0.0
        self._probing = False
        self._speculated = 0
        self.unmeasured = 0
        """Plain passes to take soon, because what one costs was measured in other circumstances."""
        self.blocked = ""
        """Why this model cannot be speculated with at all, if so."""

    @property
    def enabled(self) -> bool:
        """Whether speculation is asked for."""
        return self._settings().enabled

    def plan(self, history: Sequence[int], sources: Sequence[Source], room: int) -> Plan:
        """The next round, with at most ``room`` draft tokens."""
        settings = self._settings()
        if not settings.enabled:
            return Plan(None, 0, reason="speculation is off")
        if self.blocked:
            return Plan(None, 0, reason=self.blocked)
        wanted = [s for s in sources if settings.source in ("auto", "lookup+draft") or s.name == settings.source]
        if not wanted:
            return Plan(None, 0, reason="no draft model is loaded")
        if room < 1:
            return Plan(None, 0, reason=LAST_TOKEN)
        if settings.length != "auto":
            return self._fixed(history, wanted, min(settings.length, room), settings.source)
        if self._recheck_due or not self._target.known:
            plan = Plan(None, 0, reason="measuring a plain pass")
        else:
            plan = self._automatic(history, wanted, min(LONGEST, room), settings.source)
        if plan.source is not None:
            self._speculated += 1
        else:
            self._speculated, self.unmeasured = 0, max(0, self.unmeasured - 1)
        return plan

    @property
    def _recheck_due(self) -> bool:
        return self._speculated >= (_RECHECK_SOON if self.unmeasured else _RECHECK)

    def spent(self, ms: float) -> None:
        """A round took ``ms``: a share of it may be spent on probing a paused draft."""
        self._budget += _PROBE_SHARE * ms

    def trim(self, proposal: Proposal) -> None:
        """Drop trailing tokens that, now that drafting is paid for, are not worth verifying."""
        best, keep = 1.0 / self._pass(0), 0
        for k, tokens in enumerate(_tokens(proposal.expected), start=1):
            rate = tokens / self._pass(k)
            if rate > best:
                best, keep = rate, k
        del proposal.tokens[keep:]

    # -- fixed lengths

    def _fixed(self, history: Sequence[int], sources: Sequence[Source], k: int, choice: str) -> Plan:
        # "auto" and "draft": the model, else lookup; "lookup+draft": lookup where it finds something, else the model
        order = sorted(sources, key=lambda s: (s.name == "lookup") == (choice == "auto"))
        for source in order:
            if source.expect(history, k):
                return Plan(source, k)
        return Plan(None, 0, reason="nothing to propose")

    # -- automatic

    def _automatic(self, history: Sequence[int], sources: Sequence[Source], limit: int, choice: str) -> Plan:
        plain = 1.0 / self._pass(0)
        best, plan, reason = plain * _EDGE, None, "no earlier match"
        for source in sorted(sources, key=lambda s: s.name != "lookup"):
            expected = source.expect(history, limit)
            if not expected:
                continue
            unseen = source.unseen(history)
            rate, k = self._best(source, expected, min(max(unseen, 1), SMALL_READ))
            if rate <= best:
                reason = self._why_not(source, expected, unseen)
                continue
            if unseen > SMALL_READ and not self._worth_reading(source, unseen, rate, max(best, plain)):
                reason = "reading the prompt with the draft would cost more than it saves"
                continue
            best = rate
            plan = Plan(source, min(limit, LONGEST), self._go_on(source)) if source.name == "draft" else Plan(source, k)
            if choice == "lookup+draft" and source.name == "lookup":
                break
        if plan is not None:
            return plan
        return self._probe(history, sources) or Plan(None, 0, reason=reason)

    def _pass(self, k: int) -> float:
        return self._target.at(k + 1) + (self._overhead if k else 0.0)

    def _best(self, source: Source, expected: Sequence[float], unseen: int) -> tuple[float, int]:
        best, at = 0.0, 0
        for k, tokens in enumerate(_tokens(expected), start=1):
            rate = tokens / (self._pass(k) + source.cost(k, unseen))
            if rate > best:
                best, at = rate, k
        return best, at

    def _worth_reading(self, source: Source, unseen: int, rate: float, other: float) -> bool:
        saved = self._rest() * (1.0 / other - 1.0 / rate)
        return saved > source.cost(1, unseen) - source.cost(1, 1)

    def _go_on(self, source: Source) -> GoOn:
        step = source.cost(1, 1)

        def go_on(expected: Sequence[float]) -> bool:
            """Is the newest token (its draft step is paid) worth taking, alone or with tokens that may follow?"""
            done = len(expected) - 1
            spent = (done + 1) * step
            tokens, chain = 1.0, 1.0
            for a in expected[:-1]:
                chain *= a
                tokens += chain
            stop = tokens / (spent + self._pass(done))
            ahead = max(0.5, sum(expected) / len(expected))
            a = expected[-1]
            for k in range(done + 1, LONGEST + 1):
                chain *= a
                tokens += chain
                if tokens / (spent + self._pass(k)) > stop:
                    return True
                spent += step
                a = ahead
            return False

        return go_on

    def _probe(self, history: Sequence[int], sources: Sequence[Source]) -> Plan | None:
        """A draft that is paused is drafted with now and then, to see whether it would pay again.

        Where the rule allows, one token is drafted and compared with what plain decoding emits: a draft step, and no
        larger pass. What it missed is read a slice a round; a probe begun goes on until something was drafted.
        """
        for source in sources:
            if source.name != "draft" or not source.expect(history, 2):
                continue
            unseen = source.unseen(history)
            k, check = (1, 0.0) if source.may_drop else (2, self._pass(2) - self._pass(0))
            if self._probing or self._budget >= source.cost(k, unseen) + check:
                self._budget = self._budget - source.cost(k, 1) - check if self._probing else 0.0
                self._probing = unseen > SMALL_READ
                return Plan(source, k, shadow if source.may_drop else None, "probing the draft")
        return None

    def _why_not(self, source: Source, expected: Sequence[float], unseen: int) -> str:
        if source.name == "lookup":
            dear = self._pass(1) / self._pass(0)
            return f"paused: a match holds in {expected[0]:.0%}, and checking one token costs {dear:.2f} of a pass"
        share = source.cost(1, 1) / self._pass(0)
        return f"paused: a draft step costs {share:.2f} of a pass, {expected[0]:.0%} expected to hold"


def _tokens(expected: Sequence[float]) -> list[float]:
    """Expected tokens of a round for k = 1, 2, … draft tokens: 1 + a_1 + a_1 a_2 + … each."""
    out, total, chain = [], 1.0, 1.0
    for a in expected:
        chain *= a
        total += chain
        out.append(total)
    return out
