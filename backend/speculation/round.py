"""The round: propose, verify in one pass, truncate. A reader can follow speculation from top to bottom here.

The caller has read the prompt into the target and hands over the row of its last token. ``Rounds`` then yields one
:class:`Round` after another, for ever; whoever consumes them decides when the reply is over.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.protocol import Outcome
from backend.sampling.chain import Row
from backend.speculation.contracts import SMALL_READ, Model, Proposal, Rows, Source
from backend.speculation.cost import PassCosts
from backend.speculation.policy import Plan, Policy
from backend.speculation.verify import Rule
from backend.speculation.walk import Emitted, Walked, walk


@dataclass(slots=True)
class Round:
    """What one round did. ``rows`` are views, valid until the next round."""

    index: int
    start: int
    """Absolute position of the first emitted token."""
    emitted: list[Emitted]
    outcome: Outcome
    rows: Rows
    proposal: Proposal | None = None
    path: list[int] = field(default_factory=list)
    """The proposal's tokens that stood, by number."""
    passes: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    host_ms: float = 0.0
    reason: str = ""
    read_ms: float = 0.0
    """Part of the round spent on the draft's reading of the prompt (in none of the three above), and its tokens."""
    read_n: int = 0
    chances: list[float] = field(default_factory=list)
    """The target's probability of each emitted token, where somebody asked for it."""

    @property
    def accepted(self) -> int:
        """How many tokens of the proposal stood."""
        return len(self.path)


class Passenger(NamedTuple):
    """A proposal that rides in the prompt's last pass, the tokens that the draft read for it, and what it took."""

    proposal: Proposal
    n: int
    ms: float


class Rounds:
    """Decoding with speculation, exact by the rule's promise.

    Args:
        target: holds the prompt; all of ``history`` but the token sampled last.
        sources: the enabled sources; may change between rounds.
        rule: greedy, coupled or rejection.
        policy: chooses source and length.
        costs: the target's pass costs; every pass is recorded.
        history: the prompt's tokens; grows with the reply.
        ends: end-of-generation ids.
        budget: most tokens to emit in all (no round proposes beyond it).
    """

    def __init__(
        self,
        target: Model,
        sources: list[Source],
        rule: Rule,
        policy: Policy,
        costs: PassCosts,
        history: list[int],
        ends: Collection[int],
        budget: int,
    ) -> None:
        self.target = target
        self.sources = sources
        self.rule = rule
        self.policy = policy
        self.costs = costs
        self.history = history
        self.ends = ends
        self._prompt = len(history)
        self._limit = len(history) + budget
        self._index = 0
        self._begun = False

    def first(self, row: Row) -> Round:
        """The token that the prompt's last row yields; no pass of its own."""
        start = len(self.history)
        verdict = self.rule.choose(row, self.history, start)
        self.history.append(verdict.token)
        return Round(0, start, [Emitted(verdict.token, "plain", verdict.margin, 0)], "plain", row[None, :])

    def passenger(self, most: int) -> Passenger | None:
        """A first proposal of at most ``most`` tokens, to be verified in the pass that reads the end of the prompt."""
        if not self.policy.may_ride:
            return None
        began = time.perf_counter()
        self._begin()
        plan = self.policy.ride(self.history, self.sources, min(most, self._limit - len(self.history) - 1))
        if plan.source is None:
            return None
        n = plan.source.unseen(self.history)
        while plan.source.unseen(self.history) > SMALL_READ and plan.source.read(self.history, len(self.history) - 1):
            pass
        proposal, _ = self._propose(plan)
        return Passenger(proposal, n, 1e3 * (time.perf_counter() - began)) if proposal is not None else None

    def arrive(self, rows: Rows, passenger: Passenger) -> Round:
        """Instead of :meth:`first`, once the prompt's end was read together with a passenger.

        Args:
            rows: at the prompt's last token and at each of the proposal.
            passenger: what rode along.
        """
        start = len(self.history)
        emitted, path, outcome = self._settle(start, rows, passenger.proposal)
        return Round(
            0, start, emitted, outcome, rows, passenger.proposal, path, read_ms=passenger.ms, read_n=passenger.n
        )

    def round(self) -> Round:
        """One round; needs :meth:`first` to have been called."""
        began = time.perf_counter()
        self._begin()  # not before the first token was out: a long prompt takes a while to index
        start = len(self.history)
        if self.costs.enter(start):
            self.policy.unmeasured()
        plan = self.policy.plan(self.history, self.sources, self._room(start), self._nodes())
        read_ms, read_n, aside_ms = self._read(plan)
        if plan.reading is not None and plan.reading.unseen(self.history) <= SMALL_READ:  # all read: it may serve now
            plan = self.policy.plan(self.history, self.sources, self._room(start), self._nodes())
        proposal, draft_ms = self._propose(plan)
        draft_ms += aside_ms

        tokens = proposal.tokens if proposal else []
        passed = time.perf_counter()
        rows = self._pass(proposal)
        verify_ms = 1e3 * (time.perf_counter() - passed)
        self.costs.observe(len(tokens) + 1, verify_ms)

        emitted, path, outcome = self._settle(start, rows, proposal)
        self._index += 1
        total = 1e3 * (time.perf_counter() - began)
        self.policy.spent(total, read_ms, len(emitted))
        return Round(
            index=self._index,
            start=start,
            emitted=emitted,
            outcome=outcome,
            rows=rows,
            proposal=proposal,
            path=path,
            passes=1,
            draft_ms=draft_ms,
            verify_ms=verify_ms,
            host_ms=total - read_ms - draft_ms - verify_ms,
            reason=plan.reason,
            read_ms=read_ms,
            read_n=read_n,
        )

    def probability(self, row: Row, token: int, position: int) -> float:
        """The target's probability for an emitted token, given the history before it."""
        return self.rule.probability(row, self.history[:position], token)

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            for source in self.sources:
                source.begin(self.history)

    def _settle(self, start: int, rows: Rows, proposal: Proposal | None) -> Walked:
        """Verify, and cut every memory back to what stood."""
        walked = walk(self.rule, rows, self.history, proposal, self.ends)
        accepted = len(walked.path)
        if proposal is not None and proposal.parents is not None:
            self.target.settle([0, *(node + 1 for node in walked.path)])
            for source in self.sources:
                if source.name == proposal.source:
                    source.walked(walked.path)
        else:
            self.target.truncate(start + accepted)
        for source in self.sources:
            source.truncate(start + accepted)
        self._observe(start, rows, proposal, accepted)
        return walked

    def _room(self, start: int) -> int:
        """Draft tokens that fit: the pass emits one more, and nothing may go beyond budget, context or batch."""
        return min(self._limit - start - 1, self.target.room - 1, self.target.max_rows - 1)

    def _nodes(self) -> int:
        """Nodes of a tree that fit, each a path of its own at worst; 0 where the target cannot branch."""
        target = self.target
        return min(target.room - 1, target.max_rows - 1, target.branches) if target.branches > 1 else 0

    def _read(self, plan: Plan) -> tuple[float, int, float]:
        """Milliseconds and tokens of the draft's reading of the prompt; milliseconds of reading or following beyond."""
        source, n, read_ms = plan.reading or plan.following, 0, 0.0
        if source is None:
            return 0.0, 0, 0.0
        began = time.perf_counter()
        if source is plan.following:
            source.follow(self.history)
        elif len(self.history) - source.unseen(self.history) < self._prompt:
            n, read_ms = self._read_prompt(source, began)
        if source is plan.reading and len(self.history) - source.unseen(self.history) >= self._prompt:
            source.read(self.history, len(self.history) - 1)
        return read_ms, n, 1e3 * (time.perf_counter() - began) - read_ms

    def _read_prompt(self, source: Source, began: float) -> tuple[int, float]:
        """One slice, or as many as take a plain pass: of a target read from disk that is many."""
        enough, n, ms = self.costs.at(1) if self.costs.known else 0.0, 0, 0.0
        while True:
            read = source.read(self.history, self._prompt)
            last, ms = ms, 1e3 * (time.perf_counter() - began)
            n += read
            another = ms + (ms - last)  # with one more slice like this one
            if not read or another > enough or len(self.history) - source.unseen(self.history) >= self._prompt:
                return n, ms

    def _propose(self, plan: Plan) -> tuple[Proposal | None, float]:
        if plan.source is None:
            return None, 0.0
        began = time.perf_counter()
        if plan.tree is not None:
            proposal = plan.source.branch(self.history, plan.tree)
        else:
            proposal = plan.source.propose(self.history, plan.k, plan.go_on)
        return proposal, 1e3 * (time.perf_counter() - began)

    def _pass(self, proposal: Proposal | None) -> Rows:
        last = self.history[-1]
        if proposal is None:
            return self.target.decode([last])
        if proposal.parents is None:
            return self.target.decode([last, *proposal.tokens])
        return self.target.grow([last, *proposal.tokens], [-1, *(parent + 1 for parent in proposal.parents)])

    def _observe(self, start: int, rows: Rows, proposal: Proposal | None, accepted: int) -> None:
        for source in self.sources:
            own = proposal if proposal and proposal.source == source.name else None
            source.observe(self.history, start, own, accepted)
            if proposal is not None and proposal.parents is None and accepted < len(proposal.tokens):
                source.hear(self.history, start, proposal.tokens, rows, accepted)
