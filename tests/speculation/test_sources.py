"""The sources: lookup against a brute-force search, and what a draft model decodes, keeps and gives up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import SupportsIndex, overload

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.contracts import LAG
from backend.speculation.cost import PassCosts
from backend.speculation.round import Round, Rounds
from backend.speculation.sources.draft_model import DraftModel, common_prefix
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import make_rule
from tests.speculation.loop import PLAIN, make, run
from tests.speculation.tables import MixedDraft, TableModel

GREEDY = Sampling(temperature=0)
ENDS = frozenset({9})

# -- lookup


def brute_force(history: Sequence[int], k: int, ends: frozenset[int] = ENDS) -> list[int]:
    """Of the eight latest places of the last two tokens, the one with the longest match (32 at most)."""
    n = len(history)
    best, at = 0, 0
    candidates = [e for e in range(1, n - 1) if (history[e - 1], history[e]) == (history[n - 2], history[n - 1])]
    for end in candidates[-8:]:
        length = 0
        while length < 32 and length <= end and history[end - length] == history[n - 1 - length]:
            length += 1
        if length >= best:
            best, at = length, end + 1
    if not best:
        return []
    grown = list(history)
    for i in range(k):
        grown.append(grown[at + i])  # past the end the copy reads itself: a period goes on
        if grown[-1] in ends:
            break
    return grown[n:]


@settings(max_examples=400)
@given(st.lists(st.integers(0, 3) | st.just(9), max_size=120), st.integers(0, 119), st.integers(1, 16))
def test_lookup_finds_what_a_brute_force_search_finds(tokens: list[int], split: int, k: int) -> None:
    """Part of the history is the prompt, part is observed round by round, in blocks."""
    split = min(split, len(tokens))
    lookup = Lookup(BucketCounts(), ENDS)
    history = tokens[:split]
    lookup.begin(history)
    while len(history) < len(tokens):
        start = len(history)
        history += tokens[start : start + 1 + start % 3]
        lookup.observe(history, start, None, 0)
    proposal = lookup.propose(history, k, None)
    assert proposal.tokens == (brute_force(history, k) if len(history) >= 3 else [])
    assert len(proposal.expected) == len(proposal.tokens) == proposal.drafted
    assert len(lookup.expect(history, k)) >= len(proposal.tokens)
    assert history == tokens


def test_lookup_prefers_the_longer_match_then_the_later_one() -> None:
    lookup = Lookup(BucketCounts(), ENDS)
    longer = [1, 2, 3, 4, 0, 2, 3, 5, 1, 2, 3]
    lookup.begin(longer)
    assert lookup.propose(longer, 1, None).tokens == [4]
    lookup = Lookup(BucketCounts(), ENDS)
    tie = [0, 2, 3, 4, 1, 2, 3, 5, 7, 2, 3]
    lookup.begin(tie)
    assert lookup.propose(tie, 1, None).tokens == [5]


def test_lookup_continues_a_period_beyond_what_was_said() -> None:
    history = [5, 6, 7, 5, 6, 7, 5, 6]
    lookup = Lookup(BucketCounts(), ENDS)
    lookup.begin(history)
    assert lookup.propose(history, 8, None).tokens == [7, 5, 6, 7, 5, 6, 7, 5]


def test_lookup_stops_at_an_end_token() -> None:
    history = [1, 2, 3, 9, 4, 1, 2]
    lookup = Lookup(BucketCounts(), ENDS)
    lookup.begin(history)
    assert lookup.propose(history, 8, None).tokens == [3, 9]


class Counting(list[int]):
    """Counts how often single items are read."""

    reads = 0

    @overload
    def __getitem__(self, at: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at):
        Counting.reads += 1
        return super().__getitem__(at)


def reads_of_a_round(history: Counting, lookup: Lookup) -> int:
    Counting.reads = 0
    lookup.expect(history, 16)
    proposal = lookup.propose(history, 16, None)
    start = len(history)
    history += [*proposal.tokens, 3]
    lookup.observe(history, start, proposal, len(proposal.tokens))
    return Counting.reads


@pytest.mark.parametrize("period", [1, 2, 7], ids=["one token", "two tokens", "seven tokens"])
def test_a_round_costs_the_same_at_32_thousand_tokens(period: int) -> None:
    """Repetition is the worst case: every earlier place is a candidate. Steps are counted, not timed."""
    counts = []
    for n in (1_000, 32_000):
        history = Counting(i % period for i in range(n))
        lookup = Lookup(BucketCounts(), ENDS)
        lookup.begin(history)
        counts.append(reads_of_a_round(history, lookup))
    assert counts[0] == counts[1]
    assert counts[1] < 2500


def test_a_new_turn_extends_the_index_instead_of_building_it_anew() -> None:
    history = Counting(i * 7 % 1000 for i in range(20_000))
    lookup = Lookup(BucketCounts(), ENDS)
    lookup.begin(history)
    history += [1, 2, 3]
    Counting.reads = 0
    lookup.begin(history)
    assert Counting.reads < 10
    other = [4, *history[1:]]
    lookup.begin(other)
    assert lookup.propose(other, 4, None).tokens == brute_force(other, 4)


def test_lookup_learns_without_being_used() -> None:
    """What would have been proposed is scored, so a lookup that was off knows when to come back."""
    counts = BucketCounts()
    lookup = Lookup(counts, ENDS)
    history = [1, 2, 3, 4]
    lookup.begin(history)
    before = counts.expect(0, 1)[0]
    for _ in range(100):
        start = len(history)
        history.append(1 + start % 4)  # goes on counting 1 2 3 4, as lookup would have said
        lookup.observe(history, start, None, 0)
    assert lookup.expect(history, 1)[0] > 0.9 > before


def test_bucket_counts_learn_each_position_alone() -> None:
    counts = BucketCounts()
    for _ in range(200):
        counts.observe(2, 0, True)
        counts.observe(2, 1, False)
    counts.new_text()
    first, second = counts.expect(2, 2)
    assert first > 0.95
    assert second < 0.1
    assert counts.expect(1, 2) == BucketCounts().expect(1, 2)


def test_every_length_of_match_has_its_own_bucket() -> None:
    counts = BucketCounts()
    buckets = [counts.bucket(match) for match in (2, 3, 5, 9, 20)]
    assert buckets == list(range(5))
    assert [len(counts.expect(b, 2)) for b in buckets] == [2] * 5


def test_what_was_learnt_survives_a_restart_and_damage_does_not() -> None:
    counts, margins = BucketCounts(), MarginLogistic()
    for i in range(128):  # the line was just fitted to all of them
        counts.observe(2, i % 4, i % 3 > 0)
        margins.observe(i % 5, i % 5 > 1)
    again, margins_again = BucketCounts(), MarginLogistic()
    again.restore(json.loads(json.dumps(counts.to_json())))
    margins_again.restore(json.loads(json.dumps(margins.to_json())))
    counts.new_text()
    margins.new_text()
    margins_again.new_text()
    assert again.expect(2, 8) == counts.expect(2, 8)
    assert [margins_again(m) for m in range(5)] == [margins(m) for m in range(5)]
    assert margins_again.mean == margins.mean
    fresh = BucketCounts().to_json()
    for damaged in (
        None,
        {},
        {"hits": 1, "tries": 2},
        fresh | {"hits": [[2.0] * 3]},
        fresh | {"tries": fresh["hits"][:2]},
        fresh | {"hits": [[10**400] * 16] * 5},
    ):
        again = BucketCounts()
        again.restore(damaged)
        assert again.to_json() == fresh
    for wrong in (
        None,
        {"mean": "x"},
        {"mean": 0.5, "data": [[-1.0, 1]]},
        {"mean": 0.5, "data": [[float("nan"), 1]]},
        {"mean": 10**400, "data": []},
        {"mean": 7, "data": []},
    ):
        again_margins = MarginLogistic()
        again_margins.restore(wrong)
        assert again_margins.to_json() == MarginLogistic().to_json()


def test_a_chat_after_an_edit_soon_stops_believing_what_the_edit_taught() -> None:
    """Six failed copies of any length must weigh against a hundred tokens that held in the reply before."""
    counts = BucketCounts()
    for i in range(100):
        counts.observe(1, i % 16, True)
    counts.new_text()
    (taught,), (other,) = counts.expect(1, 1), counts.expect(0, 1)
    assert taught > 0.8
    for _ in range(6):
        counts.observe(0, 0, False)
    assert counts.expect(1, 1)[0] < taught - 0.1
    assert counts.expect(0, 1)[0] < other - 0.15
    counts.new_text()
    assert counts.expect(1, 1) == pytest.approx([taught])  # what was learnt for good is not lost


def test_a_draft_is_doubted_in_a_text_it_guesses_badly_and_believed_in_the_next() -> None:
    margins = MarginLogistic()
    for i in range(300):
        margins.observe(2.0 + i % 5, i % 10 > 0)
    margins.new_text()
    taught = margins(3.0)
    assert taught > 0.8
    for _ in range(5):
        margins.observe(3.0, False)
    assert margins(3.0) < taught - 0.2
    margins.new_text()
    assert margins(3.0) == pytest.approx(taught, abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40), st.booleans()), max_size=300))
def test_what_lookup_predicts_is_a_probability_whatever_happened(outcomes: list[tuple[int, int, bool]]) -> None:
    counts = BucketCounts()
    for bucket, position, hit in outcomes:
        before = counts.expect(bucket, position + 1)[-1]
        counts.observe(bucket, position, hit)
        after = counts.expect(bucket, position + 1)[-1]
        assert 0.0 < after < 1.0
        assert (after >= before) if hit else (after <= before)


class Contrary(MixedDraft):
    """Always says something else."""

    def row(self, tokens: Sequence[int]) -> np.ndarray:
        row: np.ndarray = -self._target.row(tokens)
        return row


def test_a_draft_that_follows_learns_from_each_token_that_came_without_it() -> None:
    target = TableModel(8, seed=3, order=9)
    for draft, right in ((MixedDraft(target, 0.0), True), (Contrary(target, 0.0), False)):
        calibration = MarginLogistic()
        rounds = make(target, None, [1, 2, 3], PLAIN, sampling=GREEDY, budget=60)
        source = DraftModel(draft, rounds.rule, 8, (), calibration, PassCosts())
        target.clear()
        run(rounds, 50)
        draft.max_rows = LAG
        source.begin([1, 2, 3])
        source.read(rounds.history, 3)
        seen = draft.length
        calibration.mean = 0.5
        source.follow(rounds.history)
        assert draft.length == seen + LAG
        assert list(draft.tokens) == rounds.history[: draft.length]
        assert calibration.mean == pytest.approx(0.5 + (0.5 if right else -0.5) * (1 - 0.97**LAG))
        for _ in range(9):
            source.follow(rounds.history)
        assert draft.length == len(rounds.history) - 1, "never beyond what came"


@pytest.mark.parametrize(("rule", "may"), [("coupled", True), ("rejection", False)])
def test_a_draft_follows_only_where_its_own_token_tells_whether_it_would_have_stood(rule: str, may: bool) -> None:
    """Under rejection a token stands by p and q together; two equal laws seldom draw the same."""
    target = TableModel(8, seed=3, order=9)
    own = make_rule(Chain(Sampling(temperature=1.0)), rule, 0)
    assert DraftModel(MixedDraft(target, 0.0), own, 8, (), MarginLogistic(), PassCosts()).may_follow is may


def test_leads_beyond_all_doubt_do_not_spoil_the_others() -> None:
    """Under a narrow top-p half of the draft's laws have one token only, and all of these hold."""
    rng = np.random.default_rng(1)
    for share in (0.99, 0.97, 0.9):
        calibration = MarginLogistic()
        for _ in range(600):
            sure = rng.random() < 0.5
            margin = 99.0 if sure else float(rng.exponential(1.0))
            calibration.observe(margin, sure or rng.random() < share - 0.2)
        calibration.new_text()
        assert abs(calibration(0.3) - (share - 0.2)) < 0.12


def test_one_miss_among_sure_tokens_and_then_doubtful_ones() -> None:
    rng = np.random.default_rng(0)
    calibration = MarginLogistic()
    for _ in range(400):
        calibration.observe(12 + rng.random(), True)
    calibration.observe(1.0, False)
    for _ in range(400):
        calibration.observe(2 * rng.random(), rng.random() < 0.4)
    calibration.new_text()
    assert calibration(1.0) == pytest.approx(0.4, abs=0.12)
    assert calibration(12.0) > 0.95


def test_one_miss_after_a_long_copy_does_not_overturn_everything() -> None:
    counts = BucketCounts()
    for i in range(1000):
        counts.observe(4, i % 16, True)
    before = counts.expect(0, 1)[0]
    counts.observe(4, 0, False)
    assert counts.expect(4, 1)[0] > 0.8
    assert counts.expect(0, 1)[0] > 0.5 * before


def test_margin_logistic_learns_that_narrow_margins_fail() -> None:
    calibration = MarginLogistic()
    for _ in range(100):
        calibration.observe(5.0, True)
        calibration.observe(0.1, False)
    calibration.new_text()
    assert calibration(5.0) > 0.9
    assert calibration(0.1) < 0.2
    assert 0 <= calibration(-1e9) <= calibration(0.0) <= calibration(1e9) <= 1


# -- the draft model's own cache


def spy_rounds(draft: TableModel, target: TableModel, wanted: Speculation, budget: int = 60, **more) -> Rounds:
    return make(target, draft, [1, 2, 3, 1, 2], wanted, sampling=more.pop("sampling", GREEDY), budget=budget, **more)


def test_only_unseen_tokens_are_decoded_by_the_draft() -> None:
    """After a mismatch one token, after a fully accepted round two; never the verify batch again."""
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.6)
    rounds = spy_rounds(draft, target, Speculation(source="draft", length=4))
    expected_first = [6]  # the prompt and the first token
    seen: set[str] = set()

    def each(done: Round) -> None:
        if not done.passes:
            draft.decodes.clear()
            return
        if not done.proposal or not done.proposal.tokens:
            return
        k = len(done.proposal.tokens)
        assert draft.decodes == [expected_first[0], *[1] * (k - 1)]
        seen.add(done.outcome)
        expected_first[0] = 2 if done.outcome == "bonus" else 1
        draft.decodes.clear()

    run(rounds, 60, each)
    assert seen == {"bonus", "correction"}, "both ends of a round were seen"


@settings(max_examples=60)
@given(
    st.sampled_from(["auto", "draft", "lookup", "lookup+draft"]),
    st.sampled_from(["auto", 1, 3, 8]),
    st.sampled_from(["coupled", "rejection"]),
    st.sampled_from([0.0, 0.5, 30.0]),
    st.integers(0, 10_000),
)
def test_what_the_draft_holds_is_always_a_prefix_of_the_history(
    source: str, length: int | str, rule: str, noise: float, seed: int
) -> None:
    target = TableModel(6, seed=3)
    draft = MixedDraft(target, noise)
    wanted = Speculation(source=source, length=length, rule=rule)
    sampling = Sampling(temperature=1.0, top_k=0, top_p=1.0)
    rounds = spy_rounds(draft, target, wanted, 40, sampling=sampling, seed=seed)

    def each(done: Round) -> None:
        assert draft.tokens == rounds.history[: draft.length]
        assert draft.length < len(rounds.history)
        assert target.tokens == rounds.history[:-1]

    run(rounds, 40, each)


def test_after_full_acceptance_the_draft_goes_on_at_once() -> None:
    """A perfect draft of 4 gives 5 tokens a round, in every round (S16)."""
    target = TableModel(8, seed=3, order=9)
    rounds = spy_rounds(MixedDraft(target, 0.0), target, Speculation(source="draft", length=4), budget=51)
    _, timings = run(rounds, 51)
    assert timings.passes == 10
    assert timings.draft_n_accepted == timings.draft_n == 40
    assert timings.bonuses == 10


def test_after_each_rejection_the_draft_proposes_again() -> None:
    """A rollback to all of the history would leave nothing to feed, and no row to draft from (S18)."""
    target = TableModel(8, seed=3, order=9)
    rounds = spy_rounds(MixedDraft(target, 50.0), target, Speculation(source="draft", length=3), budget=40)
    lengths = []
    run(rounds, 40, lambda done: lengths.append(len(done.proposal.tokens) if done.proposal else 0))
    assert lengths[1:-1]
    assert all(n > 0 for n in lengths[1:-1])


def test_a_draft_with_more_ids_never_proposes_one_the_target_lacks() -> None:
    target = TableModel(5, seed=3)
    draft = MixedDraft(target, 30.0, n_vocab=12)
    rounds = spy_rounds(draft, target, Speculation(source="draft", length=4))

    def each(done: Round) -> None:
        if done.proposal:
            assert all(token < 5 for token in done.proposal.tokens)

    _, timings = run(rounds, 60, each)
    assert timings.draft_n > 20


def test_an_id_that_the_draft_lacks_is_never_fed_to_it() -> None:
    """The table draft refuses such an id; the reply goes on without the draft, and says why."""
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0, n_vocab=7)
    plain, _ = run(spy_rounds(draft, target, PLAIN), 60)
    assert 7 in plain[:-2], "the test needs the missing id early in the text"
    target.clear()
    draft.clear()
    rounds = spy_rounds(draft, target, Speculation(source="draft", length=3))
    tokens, timings = run(rounds, 60)
    assert tokens == plain
    assert "does not have" in rounds.sources[1].failed
    assert all(token < 7 for token in draft.tokens)
    assert timings.plain > 0


def test_a_draft_that_fails_once_is_cleared_and_tried_again() -> None:
    target = TableModel(8, seed=3, order=9)
    plain, _ = run(spy_rounds(MixedDraft(target, 0.0), target, PLAIN), 40)
    target.clear()
    draft = MixedDraft(target, 0.0)
    draft.fail_after = 6
    rounds = spy_rounds(draft, target, Speculation(source="draft", length=4))
    tokens, timings = run(rounds, 40)
    assert tokens == plain
    assert draft.fail_after is None, "it did fail"
    assert not rounds.sources[1].failed
    assert timings.draft_n_accepted >= 28


class Broken(MixedDraft):
    """Fails at every decode after the first few, as a device that was lost does."""

    left = 5

    def decode(self, tokens):
        self.left -= 1
        if self.left < 0:
            raise EngineError(ErrorCode.DECODE_FAILED, "the device is gone")
        return super().decode(tokens)


def test_a_draft_that_keeps_failing_sits_out_and_the_reply_goes_on() -> None:
    target = TableModel(8, seed=3, order=9)
    plain, _ = run(spy_rounds(MixedDraft(target, 0.0), target, PLAIN), 40)
    target.clear()
    draft = Broken(target, 0.0)
    rounds = spy_rounds(draft, target, Speculation(source="draft", length=4))
    tokens, timings = run(rounds, 40)
    assert tokens == plain
    assert rounds.sources[1].failed == "the device is gone"
    assert draft.left == -2, "tried once more, when it had read anew, then never again"
    assert timings.plain > 25


class Stuck(MixedDraft):
    """A draft whose memory cannot be cut back."""

    def truncate(self, n: int) -> None:
        if n < self.length:
            raise EngineError(ErrorCode.TRUNCATE_FAILED, "cannot")


def test_a_draft_that_cannot_be_cut_back_is_read_anew() -> None:
    target = TableModel(8, seed=3, order=9)
    plain, _ = run(spy_rounds(MixedDraft(target, 0.0), target, PLAIN), 30)
    target.clear()
    rounds = spy_rounds(Stuck(target, 0.8), target, Speculation(source="draft", length=3))
    tokens, timings = run(rounds, 30, lambda done: None)
    assert tokens == plain
    assert timings.draft_n > 0


def test_cancelling_inside_the_draft_is_passed_on_and_leaves_the_history_alone() -> None:
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    rounds = spy_rounds(draft, target, Speculation(source="draft", length=4))
    run(rounds, 10)
    history = list(rounds.history)

    def stop(tokens):
        raise EngineError(ErrorCode.CANCELLED, "Stopped.")

    draft.decode = stop  # type: ignore[method-assign]
    with pytest.raises(EngineError, match="Stopped"):
        rounds.round()
    assert rounds.history == history
    assert target.tokens == history[:-1]
    assert not rounds.sources[1].failed


def test_a_next_turn_reads_only_what_is_new() -> None:
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    wanted = Speculation(source="draft", length=4)
    rounds = spy_rounds(draft, target, wanted)
    run(rounds, 20)
    held = draft.length
    prompt = [*rounds.history, 4, 5, 6]
    draft.decodes.clear()
    again = make(target, draft, prompt, wanted, sampling=GREEDY, budget=10)
    target.clear()
    run(again, 2)
    assert draft.decodes[0] == len(prompt) + 1 - held


def test_the_draft_sees_long_histories_in_slices_while_the_text_flows_on() -> None:
    """The first token and the rounds meanwhile never wait for the whole reading."""
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    prompt = [i % 7 for i in range(300)]
    rounds = make(target, draft, prompt, Speculation(source="draft", length=4), sampling=GREEDY, budget=40)
    per_round: list[int] = []

    def each(done: Round) -> None:
        per_round.append(sum(draft.decodes))
        draft.decodes.clear()

    _, timings = run(rounds, 40, each)
    assert per_round[0] == 0, "nothing is read before the first token"
    assert max(per_round) <= 64 + 4
    assert timings.draft_n > 0


@given(st.lists(st.integers(0, 2), max_size=12), st.lists(st.integers(0, 2), max_size=12))
def test_common_prefix(a: list[int], b: list[int]) -> None:
    n = common_prefix(a, b)
    assert a[:n] == b[:n]
    assert n == min(len(a), len(b)) or a[n] != b[n]


def test_unused_draft_reads_nothing() -> None:
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    run(spy_rounds(draft, target, PLAIN), 20)
    run(
        make(TableModel(8, seed=3, order=9), draft, [1, 2, 1, 2], Speculation(source="lookup", length=4), budget=20), 20
    )
    assert draft.decodes == []


def test_draft_model_is_a_source() -> None:
    """The calibration is shared: what one reply learnt the next one uses."""
    target = TableModel(8, seed=3, order=9)
    calibration = MarginLogistic()
    rounds = spy_rounds(
        MixedDraft(target, 50.0), target, Speculation(source="draft", length=2), calibration=calibration
    )
    assert isinstance(rounds.sources[1], DraftModel)
    run(rounds, 40)
    assert calibration.mean < 0.6
