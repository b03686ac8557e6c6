"""The policy through the loop: it keeps to its bounds, gives up what does not pay, and tries again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.protocol import Sampling, Speculation
from backend.speculation.cost import PassCosts
from backend.speculation.round import Rounds
from tests.speculation.loop import SETTINGS, costs, make, run
from tests.speculation.tables import MixedDraft, TableModel

GREEDY = Sampling(temperature=0)


@pytest.mark.parametrize("length", [0, 1, 3, 7])
@pytest.mark.parametrize("rule", ["coupled", "rejection"])
def test_fixed_lengths_are_exact(length: int, rule: str) -> None:
    target = TableModel(8, seed=3)
    wanted = Speculation(source="draft", length=length, rule=rule)
    sampling = Sampling(temperature=1.0, top_k=0, top_p=1.0)
    rounds = make(target, MixedDraft(target, 0.5), [1, 2, 3], wanted, sampling=sampling, budget=40)
    lengths: list[tuple[int, int]] = []

    def each(done) -> None:
        if done.passes:
            left = 3 + 40 - done.start
            lengths.append((len(done.proposal.tokens) if done.proposal else 0, left))

    run(rounds, 40, each)
    assert lengths
    for n, left in lengths:
        assert n == min(length, left - 1)


@settings(max_examples=80)
@given(st.integers(1, 30), st.integers(4, 60), st.integers(1, 12), st.integers(4, 40), SETTINGS, st.integers(0, 1000))
def test_no_round_goes_beyond_budget_context_or_batch(
    budget: int, n_ctx: int, max_rows: int, draft_ctx: int, wanted: Speculation, seed: int
) -> None:
    """The table model itself refuses a decode that does not fit (K1, K2); here only the rest is checked."""
    prompt = [1, 2, 1, 2, 1, 2][: n_ctx - 1]
    budget = min(budget, n_ctx - len(prompt))
    target = TableModel(6, seed=3, n_ctx=n_ctx, max_rows=max_rows)
    draft = MixedDraft(target, 0.4)
    draft.n_ctx = draft_ctx
    rounds = make(target, draft, prompt, wanted, seed=seed, budget=budget)

    def each(done) -> None:
        assert len(rounds.history) <= len(prompt) + budget
        if done.proposal:
            assert len(done.proposal.tokens) + 1 <= max_rows

    tokens, timings = run(rounds, budget, each)
    assert len(tokens) == timings.predicted_n == budget


class Turning(MixedDraft):
    """A draft that is right until it is told to be wrong."""

    wrong = False

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        row = super().row(tokens)
        return -row if self.wrong else row


class Clock:
    """Runs rounds and charges what they would cost; by default on a memory-bound pair (BF16 target, small draft)."""

    def __init__(
        self,
        draft: type[MixedDraft],
        noise: float = 0.0,
        target_costs: PassCosts | None = None,
        draft_costs: PassCosts | None = None,
    ) -> None:
        self.target_costs = target_costs or costs(n1=51, n2=71, n4=90, n8=118, n16=167)
        self.draft_costs = draft_costs or costs(n1=4, n2=4.2, n16=8, n64=16)
        self.model = TableModel(16, seed=3, order=9, n_ctx=20_000)  # never repeats itself
        self.drafter = draft(self.model, noise)
        self.drafter.n_ctx, self.drafter.max_rows = 20_000, 64
        self.rounds: Rounds = make(
            self.model,
            self.drafter,
            [1, 2, 3],
            Speculation(source="draft"),
            sampling=GREEDY,
            budget=15_000,
            target_costs=self.target_costs,
            draft_costs=self.draft_costs,
        )
        self.rounds.first(self.model.read(self.rounds.history)[-1])

    def speedup(self, n: int) -> float:
        tokens, ms = 0, 0.0
        for _ in range(n):
            seen = len(self.drafter.decodes)
            done = self.rounds.round()
            steps = self.drafter.decodes[seen:]
            k = len(done.proposal.tokens) if done.proposal else 0
            spent = self.target_costs.at(k + 1) + sum(self.draft_costs.at(step) for step in steps)
            self.rounds.policy.spent(spent, 0.0, len(done.emitted))
            tokens += len(done.emitted)
            ms += spent
        return tokens * self.target_costs.at(1) / ms


def test_falls_to_zero_on_repeated_rejection_and_recovers() -> None:
    clock = Clock(Turning)
    assert clock.speedup(150) > 2
    clock.drafter.wrong = True
    clock.speedup(60)  # noticing costs something: every round until then is lost
    assert clock.speedup(150) > 0.97, "paused but for probes within their budget"
    clock.drafter.wrong = False
    clock.speedup(600)
    assert clock.speedup(100) > 2, "a probe found out"


class Unsure(MixedDraft):
    """Right by a wide margin, or wrong by a narrow one, at a given share of positions."""

    share = 0.2

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        row = self._target.row(tokens).copy()
        best = int(row.argmax())
        if np.random.default_rng([5, len(tokens), *tokens[-3:]]).random() < self.share:
            row[(best + 1) % len(row)] = row[best] + 0.05
        else:
            row[best] += 3
        return row


def test_a_text_the_draft_is_unsure_of_does_not_cost_a_step_each_round_for_ever() -> None:
    clock = Clock(Unsure)
    clock.speedup(150)
    assert clock.speedup(150) > 1.5
    clock.drafter.share = 1.0
    clock.speedup(150)
    assert clock.speedup(200) > 0.97


def test_a_new_reply_tries_again() -> None:
    clock = Clock(Turning)
    clock.drafter.wrong = True
    clock.speedup(200)
    source = clock.rounds.sources[1]
    before = source.expect(clock.rounds.history, 1)[0]
    source.begin(clock.rounds.history)
    assert source.expect(clock.rounds.history, 1)[0] > before + 0.05


@pytest.mark.parametrize("noise", [0.0, 50.0], ids=["perfect", "random"])
def test_a_draft_that_cannot_pay_is_hardly_touched(noise: float) -> None:
    """Checking two tokens costs 1.6 passes and a draft step 0.4: the starter pair on two cores."""
    table = costs(n1=29, n2=47, n4=74, n8=130, n16=220)
    clock = Clock(MixedDraft, noise, table, costs(n1=12, n2=23, n4=31, n16=59, n64=186))
    assert clock.speedup(200) > 0.97
