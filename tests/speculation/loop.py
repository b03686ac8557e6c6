"""Helpers that run the product's own loop over table models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from backend.protocol import Sampling, Speculation, Timings
from backend.sampling.chain import Chain
from backend.speculation import statistics
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.contracts import Source
from backend.speculation.cost import PassCosts
from backend.speculation.policy import Policy
from backend.speculation.round import Round, Rounds
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.sources.lookahead import Lookahead
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import Rule, make_rule

PLAIN = Speculation(enabled=False)

SETTINGS = st.builds(
    Speculation,
    enabled=st.sampled_from([True, True, True, False]),
    source=st.sampled_from(["auto", "draft", "lookup", "lookup+draft"]),
    length=st.one_of(st.just("auto"), st.integers(0, 48)),
)
"""What a person may have set."""


def costs(**table: float) -> PassCosts:
    """A cost table n1=…, n4=… in ms."""
    out = PassCosts()
    for name, ms in (table or {"n1": 10.0, "n2": 11.0, "n4": 12.0, "n8": 14.0, "n16": 20.0}).items():
        out.observe(int(name[1:]), ms)
    return out


class Frozen(PassCosts):
    """Costs that ignore what is observed: table models take no time worth learning."""

    def __init__(self, source: PassCosts) -> None:
        super().__init__()
        for n, ms in source.table().items():
            PassCosts.observe(self, n, ms)
        self.frozen = True

    def observe(self, n: int, ms: float) -> None:
        if not hasattr(self, "frozen"):
            super().observe(n, ms)


def make(
    target: Any,
    draft: Any,
    prompt: Sequence[int],
    settings: Speculation,
    *,
    rule: Rule | None = None,
    sampling: Sampling | None = None,
    seed: int = 1,
    budget: int = 32,
    ends: frozenset[int] = frozenset(),
    counts: BucketCounts | None = None,
    calibration: MarginLogistic | None = None,
    target_costs: PassCosts | None = None,
    draft_costs: PassCosts | None = None,
    lookahead: Lookahead | None = None,
) -> Rounds:
    """Rounds over fresh sources, the prompt not yet read."""
    sampling = sampling or Sampling(temperature=1.0, top_k=0, top_p=1.0)
    rule = rule or make_rule(Chain(sampling), settings.rule, seed)
    history = list(prompt)
    frozen = Frozen(target_costs or costs())
    policy = Policy(lambda: settings, frozen, lambda: 10_000, len(prompt))
    sources: list[Source] = [Lookup(counts or BucketCounts(), ends)]
    if draft is not None:
        draft_frozen = Frozen(draft_costs or costs(n1=1.0, n2=1.2, n16=4.0))
        sources.append(DraftModel(draft, rule, target.n_vocab, ends, calibration or MarginLogistic(), draft_frozen))
    if lookahead is not None:
        sources.append(lookahead)
    return Rounds(target, sources, rule, policy, frozen, history, ends, budget)


def run(rounds: Rounds, n: int, each: Any = None) -> tuple[list[int], Timings]:
    """Emit n tokens (or up to an end token); returns them with the counters, identities checked every round."""
    start = len(rounds.history)
    row = rounds.target.read(rounds.history)[-1]
    timings = Timings()

    def take(done: Round) -> None:
        statistics.count(timings, done)
        statistics.check(timings)
        if each is not None:
            each(done)

    take(rounds.first(row))
    while len(rounds.history) - start < n and rounds.history[-1] not in rounds.ends:
        take(rounds.round())
    return rounds.history[start : start + n], timings
