"""Which source and which draft length the next round takes: the most expected tokens per millisecond, 0 included.

For acceptances a_1..a_k the expected tokens of a round are 1 + sum of their running products (Eq. (1) for equal ones);
its time is T_v(k+1) + drafting + overhead, all measured. Plain decoding is the case k = 0, so a source that does not
pay is simply not chosen. The draft's own reading of the prompt is an investment, weighed against the tokens still to
come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from backend.equations import LONGEST
from backend.protocol import Speculation
from backend.speculation.contracts import LAG, SMALL_READ, GoOn, Source
from backend.speculation.cost import PassCosts
from backend.speculation.losses import Losses
from backend.speculation.tree import Budget

LAST_TOKEN = "last token"
"""Reason of a round that only one token may come of; it says nothing about the reply before it."""
_READING = "the draft is reading what it has not seen"
_PAUSED = "drafts paused: they would cost more than they save"
_EDGE = 1.03
"""Speculation must promise this much over plain: costs are noisy, and a tie gains nothing."""
_SO_FAR = 4
"""Plain tokens that a reply's own pace begins with."""
_AT_ONCE = 3
"""Plain passes that reading a prompt with the draft may cost without further ado. What it costs beyond that must have
been lost already, in this reply, by going on without: nobody knows when a reply ends (answers from documents of 800
tokens have 20), and who waits so pays at most twice what the best choice would have been (ski rental). It also shows
what lookup does by itself: edits and summaries need no draft."""
_LONG_PASS = 400.0
"""Milliseconds of a pass from which on a first proposal may ride in the prompt's last pass: a short answer then takes
half the passes or fewer. With shorter ones the person would rather see the first token. Trees begin here, too."""
_DEEP = 2 * LONGEST
"""Tokens of a tree's longest path."""
_TREE_RATE = 0.2
"""Of the newest round's tokens a millisecond in what trees gave lately."""
_RIDE_SHARE = 0.5
"""Of such a pass, for reading the prompt with the draft before it."""
_FOLLOW_SHARE = 0.02
"""Of the time, for following the text with a draft that is paused."""
_RECHECK = 50
"""Rounds after which plain passes are taken, to measure what speculation is compared with."""
_RECHECK_SOON = 12
"""The same while that was measured at another context length."""
_RECHECK_PASSES = 2


@dataclass(slots=True, frozen=True)
class Plan:
    """What to do next: ``source`` None means plain decoding, for ``reason``."""

    source: Source | None
    k: int
    go_on: GoOn | None = None
    reason: str = ""
    tree: Budget | None = None
    """The source is to propose a tree instead of a chain of ``k``."""
    reading: Source | None = None
    """Reads a slice of what it has not seen before this round; others may serve meanwhile."""
    following: Source | None = None
    """Is asked about tokens that came without it."""


class Policy:
    """Chooses source and length each round.

    Args:
        settings: the current speculation settings (read anew each round).
        target: the target's pass costs.
        rest: tokens still expected in this reply (for investments).
        start: tokens of the prompt.
        overhead: host milliseconds of a speculative round beyond a plain one, as `make bench` measures them.
    """

    def __init__(
        self,
        settings: Callable[[], Speculation],
        target: PassCosts,
        rest: Callable[[], int],
        start: int = 0,
        overhead: float = 1.0,
    ) -> None:
        self._settings = settings
        self._target = target
        self._rest = rest
        self._start = start
        self._overhead = overhead
        self._budget = 0.0
        self._ms, self._tokens = 0.0, 0
        self._speculated = 0
        self._losses = Losses()
        self._drafted = False
        self._unmeasured = 0
        self._measuring = 0
        self._nodes = self._room = 0
        self._tree = False
        self._by_trees = 0.0
        """Tokens a millisecond of rounds with trees lately."""
        self.blocked = ""
        """Why this model cannot be speculated with at all, if so."""

    @property
    def enabled(self) -> bool:
        """Whether speculation is asked for."""
        return self._settings().enabled

    def plan(self, history: Sequence[int], sources: Sequence[Source], room: int, nodes: int = 0) -> Plan:
        """The next round, with at most ``room`` draft tokens in a row, or a tree of at most ``nodes``."""
        self._nodes, self._room = nodes, room
        plan = self._plan(history, sources)
        self._tree = plan.tree is not None
        self._drafted = plan.source is not None and plan.source.name == "draft"
        self._speculated = self._speculated + 1 if plan.source else 0
        if plan.source is None:
            self._measuring, self._unmeasured = max(0, self._measuring - 1), max(0, self._unmeasured - 1)
        return plan

    def _plan(self, history: Sequence[int], sources: Sequence[Source]) -> Plan:
        settings = self._settings()
        if not settings.enabled:
            return Plan(None, 0, reason="speculation is off")
        if self.blocked:
            return Plan(None, 0, reason=self.blocked)
        if settings.length == 0:
            return Plan(None, 0, reason="a draft length of 0 is set")
        wanted = [s for s in sources if settings.source in ("auto", "lookup+draft") or s.name == settings.source]
        if settings.source != "auto" or settings.length != "auto":  # whoever says more means the draft, or copies
            wanted = [s for s in wanted if s.name != "lookahead"]
        if not wanted:
            return Plan(None, 0, reason="no draft model is loaded")
        if self._room < 1:
            return Plan(None, 0, reason=LAST_TOKEN)
        self._recheck()
        if self._measuring or (settings.length == "auto" and not self._target.known):
            return Plan(None, 0, reason="measuring a plain pass")
        if settings.length != "auto":
            return self._fixed(history, wanted, min(settings.length, self._room), settings.source)
        return self._automatic(history, wanted, min(LONGEST, self._room), settings.source)

    @property
    def may_ride(self) -> bool:
        """Whether passes are so long that a first proposal may ride in the prompt's last."""
        settings = self._settings()
        asked = settings.enabled and not self.blocked and settings.source != "lookup"
        return asked and self._target.known and self._pass(0) >= _LONG_PASS

    def ride(self, history: Sequence[int], sources: Sequence[Source], room: int) -> Plan:
        """What rides in the prompt's last pass, if anything; needs :attr:`may_ride`."""
        length = self._settings().length
        for source in sources:
            quick = source.cost(1, source.unseen(history)) <= _RIDE_SHARE * self._pass(0)
            if source.name == "draft" and quick and room > 0:
                k = min(LONGEST if length == "auto" else length, room)
                return Plan(source, k, self._go_on(source, k) if length == "auto" else None)
        return Plan(None, 0)

    def unmeasured(self) -> None:
        """What a plain pass costs was measured in other circumstances: measure it again soon."""
        self._unmeasured = _RECHECK_PASSES

    def _recheck(self) -> None:
        if self._speculated < (_RECHECK_SOON if self._unmeasured else _RECHECK):
            return
        if not self._unmeasured:
            self._target.settle()
        self._speculated, self._measuring = 0, self._unmeasured or _RECHECK_PASSES

    def spent(self, ms: float, read_ms: float, tokens: int) -> None:
        """The round planned last gave ``tokens`` in ``ms``, ``read_ms`` of it the draft's reading of the prompt."""
        self._budget += _FOLLOW_SHARE * ms
        if self._speculated and self._target.known:
            self._losses.round((ms - read_ms) / self._pass(0), tokens)
        if self._tree:
            rate = tokens / (ms - read_ms)
            self._by_trees += (rate - self._by_trees) * (_TREE_RATE if self._by_trees else 1.0)
        if not self._drafted:  # the pace without the draft
            self._ms += ms - read_ms
            self._tokens += tokens

    # -- fixed lengths

    def _fixed(self, history: Sequence[int], sources: Sequence[Source], k: int, choice: str) -> Plan:
        # "auto" and "draft": the model, else lookup; "lookup+draft": lookup where it finds something, else the model
        order = sorted(sources, key=lambda s: (s.name == "lookup") == (choice == "auto"))
        for source in order:
            if source.unseen(history) > SMALL_READ and source.expect(history, k):
                return Plan(None, 0, reason=_READING, reading=source)
            if source.expect(history, k):
                return Plan(source, k)
        return Plan(None, 0, reason="nothing to propose")

    # -- automatic

    def _automatic(self, history: Sequence[int], sources: Sequence[Source], limit: int, choice: str) -> Plan:
        plain = 1.0 / self._pass(0)
        best, plan, reason = plain * _EDGE, None, "no earlier match"
        reading: Source | None = None
        for source in sorted(sources, key=lambda s: s.name != "lookup"):
            expected = source.expect(history, limit)
            if not expected:
                continue
            if source.name != "draft":
                expected = expected[: self._losses.longest(len(expected), lambda k: self._pass(k) * plain)]
            unseen = source.unseen(history)
            rate, k = self._best(source, expected)
            if source.name == "draft" and self._branches(source):
                rate = max(rate, self._by_trees)
            if rate <= best:
                reason = self._why_not(source, expected)
                continue
            asked = _EDGE + self._losses.asked(len(history) - self._start)
            if source.name != "draft" and rate <= plain * asked:
                lost = self._losses.passes
                reason = f"copies paused: drafts have cost this reply {lost:.1f} passes more than they saved"
                continue
            if unseen > 1 and not self._worth_reading(source, unseen, rate, max(best, plain)):
                reason = "reading the prompt with the draft would cost more than it saves"
                continue
            if unseen > SMALL_READ:
                reading, reason = source, _READING
                continue
            best = rate
            plan = self._drafting(source, limit) if source.name == "draft" else Plan(source, k)
            if choice == "lookup+draft" and source.name == "lookup":
                break
        plan = plan or Plan(None, 0, reason=reason)
        following = None if reading else self._to_follow(history, [s for s in sources if s is not plan.source])
        return replace(plan, reading=reading, following=following)

    def _drafting(self, source: Source, limit: int) -> Plan:
        """A tree where passes are long: what it takes beside them, in the draft and here, is little then."""
        tree = Budget(self._nodes, min(self._room, _DEEP), self._pass) if self._branches(source) else None
        return Plan(source, limit, self._go_on(source, limit), tree=tree)

    def _branches(self, source: Source) -> bool:
        return self._nodes > 1 and self._pass(0) >= _LONG_PASS and source.may_branch

    def _pass(self, k: int) -> float:
        return self._target.at(k + 1) + (self._overhead if k else 0.0)

    def _best(self, source: Source, expected: Sequence[float]) -> tuple[float, int]:
        """The best rate and length, round after round: what is unseen now is not charged to all of them."""
        best, at, chain, tokens = 0.0, 0, 1.0, 1.0
        again = source.cost(1, 2) - source.cost(1, 1)  # after a round in which all was accepted there are two to read
        for k, a in enumerate(expected, start=1):
            chain *= a
            tokens += chain
            rate = tokens / (self._pass(k) + source.cost(k, 1) + chain * again)
            if rate > best:
                best, at = rate, k
        return best, at

    def _worth_reading(self, source: Source, unseen: int, rate: float, other: float) -> bool:
        """What the rest of the reply would save over going on without, against what the reading takes."""
        cost = source.cost(1, unseen) - source.cost(1, 1)
        if unseen <= SMALL_READ:
            return self._rest() * (1.0 / other - 1.0 / rate) > cost
        plain = self._pass(0)
        other = max(other, (_SO_FAR + self._tokens) / (_SO_FAR * plain + self._ms))
        saved = 1.0 / other - 1.0 / rate
        return self._tokens * saved >= cost - _AT_ONCE * plain and self._rest() * saved > cost

    def _go_on(self, source: Source, limit: int) -> GoOn:
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
            for k in range(done + 1, limit + 1):
                chain *= a
                tokens += chain
                if tokens / (spent + self._pass(k)) > stop:
                    return True
                spent += step
                a = ahead
            return False

        return go_on

    def _to_follow(self, history: Sequence[int], sources: Sequence[Source]) -> Source | None:
        """A draft that is left aside is asked about the text now and then, to see whether it would pay again."""
        for source in sources:
            if not source.may_follow:
                continue
            unseen = source.unseen(history)
            caught_up = unseen <= LAG or len(history) - unseen < self._start  # or has yet to read the prompt
            if not caught_up and source.expect(history, 1) and self._budget >= (cost := source.cost(1, LAG)):
                self._budget -= cost
                return source
        return None

    def _why_not(self, source: Source, expected: Sequence[float]) -> str:
        share, dear = source.cost(1, 1) / self._pass(0), self._pass(1) / self._pass(0)
        if source.name == "draft":
            return (
                f"{_PAUSED} (a draft step costs {share:.2f} of a pass, checking one token {dear:.2f}, and "
                f"{expected[0]:.0%} are expected to hold)"
            )
        guess = "match" if source.name == "lookup" else "guess"
        hold = f"a {guess} is expected to hold in {expected[0]:.0%}"
        return f"{_PAUSED} ({hold}, and checking one token costs {dear:.2f} of a pass)"
