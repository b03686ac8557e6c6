"""Lookahead: guesses from what the target has said, rejected drafts included; free, exact, gone with its text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.protocol import Sampling, Speculation
from backend.speculation.sources.lookahead import HORIZON, Lookahead, SaidCounts
from tests.speculation.loop import PLAIN, costs, make, run
from tests.speculation.tables import MixedDraft, TableModel
from tests.speculation.test_lookup import Counting

ENDS = frozenset({9})
GREEDY = Sampling(temperature=0)


def fresh(ends: frozenset[int] = frozenset()) -> Lookahead:
    return Lookahead(SaidCounts(), ends)


def after(history: list[int], k: int = 1) -> list[int]:
    lookahead = fresh(ENDS)
    lookahead.begin(history)
    proposal = lookahead.propose(history, k, None)
    assert len(proposal.expected) == len(proposal.tokens) == proposal.drafted
    assert len(lookahead.expect(history, k)) >= len(proposal.tokens)
    return proposal.tokens


def test_two_tokens_say_more_than_one() -> None:
    assert after([1, 2, 3, 4, 2, 5, 1, 2]) == [3]
    assert after([1, 2, 3, 4, 2, 5, 6, 2]) == [5], "the latest that followed, where the pair is new"
    assert after([1, 2, 3]) == []
    assert after([7]) == []


def test_a_chain_goes_on_from_its_own_guesses_and_stops_at_an_end() -> None:
    assert after([1, 2, 3, 4, 8, 9, 5, 1, 2], 8) == [3, 4, 8, 9]
    assert after([1, 2, 1, 2, 1, 2], 30) == [1, 2] * (HORIZON // 2)


def rows_saying(*tokens: int) -> np.ndarray:
    rows = np.zeros((len(tokens), 10), np.float32)
    rows[range(len(tokens)), tokens] = 1.0
    return rows


def test_it_hears_what_was_said_after_tokens_that_did_not_stand() -> None:
    """Of the draft 5 6 7 only 5 stood; after 6 the target said 3, after 7 it said 8."""
    lookahead = fresh()
    history = [0, 1]
    lookahead.begin(history)
    history += [5, 2]
    lookahead.observe(history, 2, None, 1)
    lookahead.hear(history, 2, [5, 6, 7], rows_saying(5, 2, 3, 8), 1)
    assert lookahead.propose([5, 6], 2, None).tokens == [3]
    assert lookahead.propose([6, 7], 1, None).tokens == [8]
    assert lookahead.propose([0, 5], 1, None).tokens == [2], "what stood is known from the text"


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(temperature=1.0, top_k=0, top_p=1.0)], ids=["greedy", "sampled"])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), drafted=st.booleans())
def test_texts_are_plain_decodings(sampling: Sampling, seed: int, drafted: bool) -> None:
    def text(wanted: Speculation, lookahead: Lookahead | None) -> tuple[list[int], dict[str, list[int]]]:
        target = TableModel(12, seed=seed)
        draft = MixedDraft(target, 0.5) if drafted else None
        rounds = make(target, draft, [1, 2, 3], wanted, sampling=sampling, seed=seed, budget=80, lookahead=lookahead)
        ids, timings = run(rounds, 80)
        return ids, timings.by_source

    plain, _ = text(PLAIN, None)
    guessed, _ = text(Speculation(), fresh())
    assert guessed == plain


def test_it_learns_a_text_by_itself() -> None:
    """A law of the last two tokens: once a pair has come, what follows it is known."""
    lookahead = fresh()
    target = TableModel(6, seed=3)
    rounds = make(target, None, [1, 2, 3], Speculation(), sampling=GREEDY, budget=200, lookahead=lookahead)
    rounds.sources[:] = [lookahead]
    _, timings = run(rounds, 200)
    _, drafted, accepted = timings.by_source["lookahead"]
    assert accepted > 0.9 * drafted > 100
    assert timings.passes < 60


def test_it_is_scored_without_being_used() -> None:
    counts = SaidCounts()
    before = counts.expect(1, 1)[0]
    lookahead = Lookahead(counts, ())
    lookahead.begin([1, 2, 3])
    rounds = make(TableModel(6, seed=3), None, [1, 2, 3], PLAIN, sampling=GREEDY, budget=200, lookahead=lookahead)
    run(rounds, 200)
    assert counts.expect(1, 1)[0] > before + 0.2


def test_a_fixed_length_does_not_mean_it() -> None:
    rounds = make(
        TableModel(6, seed=3), None, [1, 2, 3], Speculation(length=4), sampling=GREEDY, budget=100, lookahead=fresh()
    )
    _, timings = run(rounds, 100)
    assert set(timings.by_source) <= {"lookup"}


def test_where_checking_is_dear_it_is_silent_and_says_why() -> None:
    dear = costs(n1=10.0, n2=18.0, n4=36.0, n8=72.0, n16=144.0)
    lookahead = fresh()
    target = TableModel(40, seed=3, order=40)
    rounds = make(
        target, None, [1, 2, 1, 3], Speculation(), sampling=GREEDY, budget=40, target_costs=dear, lookahead=lookahead
    )
    rounds.sources[:] = [lookahead]
    reasons = []
    _, timings = run(rounds, 40, lambda done: reasons.append(done.reason))
    assert timings.draft_n == 0
    assert any("a guess is expected to hold in" in reason for reason in reasons)


def test_another_text_is_not_told_what_this_one_said() -> None:
    lookahead = fresh()
    lookahead.begin([1, 2, 3, 1, 2])
    lookahead.begin([1, 2, 3, 1, 2, 4])
    assert lookahead.propose([1, 2], 1, None).tokens == [4]
    lookahead.begin([1, 2])
    assert lookahead.propose([1, 2], 1, None).tokens == []


def test_a_round_costs_the_same_at_32_thousand_tokens() -> None:
    reads = []
    for length in (1_000, 32_000):
        history = Counting([i % 97 for i in range(length)])
        lookahead = fresh()
        lookahead.begin(history)
        Counting.reads = 0
        lookahead.expect(history, 16)
        proposal = lookahead.propose(history, 16, None)
        start = len(history)
        history += [*proposal.tokens, 3]
        lookahead.observe(history, start, proposal, len(proposal.tokens))
        reads.append(Counting.reads)
    assert reads[0] == reads[1] < 100
