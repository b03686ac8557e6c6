"""The counters: what they count, and the identities that hold after every round."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.equations import expected_tokens
from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling, Speculation, Timings
from backend.speculation import statistics
from backend.speculation.contracts import Proposal
from backend.speculation.round import Round
from backend.speculation.walk import Emitted
from tests.speculation.loop import make, run
from tests.speculation.tables import MixedDraft, TableModel


def a_round(verified: int, accepted: int, outcome: str, drafted: int | None = None, source: str = "draft") -> Round:
    """A round as the loop makes it, for known counts."""
    tokens = list(range(verified))
    extra = {"correction": ["correction"], "bonus": ["bonus"], "plain": ["plain"], "cut": []}[outcome]
    emitted = [Emitted(i, o, 1.0, i) for i, o in enumerate(["accepted"] * accepted + extra)]
    proposal = (
        Proposal(tokens, source, drafted=verified if drafted is None else drafted) if outcome != "plain" else None
    )
    return Round(1, 10, emitted, outcome, np.zeros((1, 4), np.float32), proposal, list(range(accepted)), passes=1)


def counted(*rounds: Round) -> Timings:
    timings = Timings()
    for done in rounds:
        statistics.count(timings, done)
        statistics.check(timings)
    return timings


def test_a_partly_accepted_draft_counts_what_was_accepted() -> None:
    timings = counted(a_round(4, 2, "correction"))
    assert (timings.draft_n, timings.draft_n_accepted, timings.corrections) == (4, 2, 1)
    assert timings.predicted_n == 3
    assert timings.acceptance == 0.5
    assert timings.alpha == pytest.approx(2 / 3)


def test_drafts_that_were_never_checked_are_kept_apart() -> None:
    """Three of five drafted tokens were put to the target: the rate is of those three (A1)."""
    timings = counted(a_round(3, 3, "bonus", drafted=5))
    assert (timings.proposed, timings.verified, timings.draft_n, timings.draft_n_accepted) == (5, 3, 3, 3)
    assert timings.acceptance == 1.0
    timings = counted(a_round(0, 0, "plain"))
    assert (timings.proposed, timings.draft_n, timings.acceptance, timings.alpha) == (0, 0, None, None)


def test_a_round_whose_draft_was_dropped_counts_as_plain_text() -> None:
    done = a_round(0, 0, "plain")
    done.proposal = Proposal([], "draft", drafted=2)
    timings = counted(done)
    assert (timings.proposed, timings.verified, timings.plain, timings.by_source) == (2, 0, 1, {})


def test_positions_and_sources() -> None:
    timings = counted(
        a_round(3, 3, "bonus"),
        a_round(2, 0, "correction"),
        a_round(1, 1, "cut", source="lookup"),
        a_round(0, 0, "plain"),
    )
    assert timings.drafted_per_position == [3, 2, 1]
    assert timings.accepted_per_position == [2, 1, 1]
    assert timings.by_source == {"draft": [2, 5, 3], "lookup": [1, 1, 1]}
    assert (timings.bonuses, timings.corrections, timings.plain, timings.passes) == (1, 1, 1, 4)
    assert timings.predicted_n == 4 + 1 + 1 + 1


@pytest.mark.parametrize("name", ["predicted_n", "draft_n_accepted", "corrections", "bonuses", "plain", "discarded"])
def test_a_wrong_counter_is_a_bug_that_is_noticed(name: str) -> None:
    timings = counted(a_round(3, 1, "correction"), a_round(0, 0, "plain"))
    setattr(timings, name, getattr(timings, name) + 1)
    with pytest.raises(EngineError, match="do not add up") as caught:
        statistics.check(timings)
    assert caught.value.code is ErrorCode.BUG


@pytest.mark.parametrize(("name", "by"), [("verified", 100), ("proposed", -1), ("verified", -3)])
def test_the_order_of_the_counters_is_checked(name: str, by: int) -> None:
    timings = counted(a_round(3, 3, "bonus"))
    setattr(timings, name, getattr(timings, name) + by)
    with pytest.raises(EngineError):
        statistics.check(timings)


SETTINGS = st.builds(
    Speculation,
    source=st.sampled_from(["auto", "draft", "lookup", "lookup+draft"]),
    length=st.one_of(st.just("auto"), st.integers(0, 7)),
    rule=st.sampled_from(["coupled", "rejection"]),
    enabled=st.sampled_from([True, True, False]),
)


@settings(max_examples=80)
@given(SETTINGS, st.sampled_from([0.0, 0.5, 30.0]), st.integers(0, 10_000), st.integers(1, 50), st.booleans())
def test_identities_hold_after_every_round(wanted: Speculation, noise: float, seed: int, n: int, greedy: bool) -> None:
    """And nothing is counted twice: totals, positions, sources and round records agree (A2, E4)."""
    target = TableModel(6, seed=3, order=9)
    sampling = Sampling(temperature=0) if greedy else Sampling(temperature=1.0, top_k=0, top_p=1.0)
    ends = frozenset({5})
    rounds = make(
        target, MixedDraft(target, noise), [1, 2, 1, 2], wanted, sampling=sampling, seed=seed, budget=n, ends=ends
    )
    records = []
    tokens, timings = run(rounds, n, lambda done: records.append(statistics.record(done)))
    assert timings.predicted_n == len(tokens) == sum(r.emitted for r in records)
    assert timings.passes == len(records) - 1
    assert timings.draft_n == sum(len(r.proposed) for r in records) == sum(timings.drafted_per_position)
    assert timings.draft_n_accepted == sum(r.accepted for r in records) == sum(timings.accepted_per_position)
    assert timings.draft_n == sum(v[1] for v in timings.by_source.values())
    assert timings.draft_n_accepted == sum(v[2] for v in timings.by_source.values())
    assert sum(v[0] for v in timings.by_source.values()) == sum(bool(r.proposed) for r in records)
    assert timings.rounds_mismatch == timings.corrections == sum(r.outcome == "correction" for r in records)
    for r in records:
        assert r.targets[: r.accepted] == r.proposed[: r.accepted]
        assert r.emitted == r.accepted + (r.outcome != "cut")
        if r.outcome == "correction":
            assert r.targets[r.accepted] != r.proposed[r.accepted]
        if r.outcome == "bonus":
            assert r.accepted == len(r.proposed) > 0
    assert all(a >= b for a, b in zip(timings.drafted_per_position[:-1], timings.drafted_per_position[1:], strict=True))


def test_tokens_per_pass_is_what_equation_1_says_for_the_measured_rate() -> None:
    """Independent acceptances at a fixed length: E from the counters meets Eq. (1) at their alpha."""
    target = TableModel(30, seed=3, order=9, n_ctx=9000)
    draft = MixedDraft(target, 0.5)
    draft.n_ctx = 9000
    wanted = Speculation(source="draft", length=4)
    rounds = make(target, draft, [1, 2], wanted, sampling=Sampling(temperature=1.0, top_k=0, top_p=1.0), budget=6000)
    _, timings = run(rounds, 6000)
    assert timings.alpha is not None
    assert 0.3 < timings.alpha < 0.95
    assert timings.tokens_per_pass == pytest.approx(expected_tokens(timings.alpha, 4), rel=0.03)


def test_rates_are_none_before_there_is_anything_to_rate() -> None:
    timings = Timings()
    assert timings.tokens_per_second is None
    assert timings.tokens_per_pass is None
    assert timings.speedup is None
    timings.predicted_n = 1
    assert timings.tokens_per_second is None, "the first token is the prompt's"


def test_rates_are_cumulative_so_that_a_burst_cannot_exaggerate() -> None:
    """Eleven tokens in one second are ten passes' worth a second, however they arrived (A5)."""
    timings = Timings(predicted_n=11, predicted_ms=1000.0, baseline_ms=1500.0)
    assert timings.tokens_per_second == 10.0
    assert timings.speedup == pytest.approx(1.5)


def test_every_counter_starts_at_zero() -> None:
    timings = Timings()
    for f in fields(timings):
        value = getattr(timings, f.name)
        assert value is None or value in (0, 0.0) or value == [] or value == {}, f.name


def test_reliability_judges_only_up_to_the_first_rejection() -> None:
    reliability = statistics.Reliability()
    for accepted, outcome in ((2, "correction"), (4, "bonus"), (1, "cut")):
        done = a_round(4, accepted, outcome)
        assert done.proposal is not None
        done.proposal.expected = [0.95, 0.55, 0.55, 1.0]
        reliability.observe(done)
    bins = reliability.to_wire()["draft"]
    assert bins[9] == (4, pytest.approx(3 * 0.95 + 1.0), 4)
    assert bins[5] == (4, pytest.approx(4 * 0.55), 3), "the third token of the first round was rejected"
    assert sum(n for n, _, _ in bins) == 8


def test_reliability_of_plain_rounds_is_empty() -> None:
    reliability = statistics.Reliability()
    reliability.observe(a_round(0, 0, "plain"))
    assert reliability.to_wire() == {}
