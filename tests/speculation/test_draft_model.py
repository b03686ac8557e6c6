"""The draft model as a source: what it decodes, what it holds, what becomes of its failures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from backend.speculation.calibration import MarginLogistic
from backend.speculation.contracts import LAG
from backend.speculation.cost import PassCosts
from backend.speculation.round import Round, Rounds
from backend.speculation.sources.draft_model import DraftModel, common_prefix
from backend.speculation.verify import make_rule
from tests.speculation.loop import PLAIN, costs, make, run
from tests.speculation.tables import MixedDraft, TableModel

GREEDY = Sampling(temperature=0)


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
    wanted = Speculation(source="draft", length=4)
    rounds = make(target, draft, prompt, wanted, sampling=GREEDY, budget=40, target_costs=costs(n1=0.01))
    per_round: list[int] = []

    def each(done: Round) -> None:
        per_round.append(sum(draft.decodes))
        draft.decodes.clear()

    _, timings = run(rounds, 40, each)
    assert per_round[0] == 0, "nothing is read before the first token"
    assert max(per_round) <= 64 + 4
    assert timings.draft_n > 0


def test_as_many_slices_are_read_as_take_a_plain_pass() -> None:
    """A target whose weights come from disk: the draft need not wait a dozen passes of seconds for a long prompt."""
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    prompt = [i % 7 for i in range(300)]
    wanted = Speculation(source="draft", length=4)
    rounds = make(target, draft, prompt, wanted, sampling=GREEDY, budget=12, target_costs=costs(n1=60_000.0))
    read: list[int] = []
    run(rounds, 12, lambda done: read.append(done.read_n))
    assert max(read) == sum(read) == len(prompt)


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
