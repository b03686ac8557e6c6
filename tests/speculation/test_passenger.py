"""A first proposal that rides in the prompt's last pass: the same tokens, fewer passes, and memories that agree."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from backend.protocol import Sampling, Speculation, Timings
from backend.speculation import statistics
from backend.speculation.round import Rounds
from tests.speculation.loop import PLAIN, costs, make, run
from tests.speculation.tables import MixedDraft, TableModel

PROMPT = [i % 7 for i in range(90)]
SLOW = {"n1": 2000.0, "n49": 2100.0}
FIXED, AUTO = Speculation(source="draft", length=4), Speculation()


def rounds_of(settings: Speculation, wrong: float = 0.0, budget: int = 20, **more: object) -> Rounds:
    target = TableModel(8, seed=3, order=9, max_rows=128)
    draft = MixedDraft(target, wrong)
    return make(target, draft, PROMPT, settings, budget=budget, target_costs=costs(**SLOW), **more)  # type: ignore[arg-type]


def ridden(rounds: Rounds, n: int, most: int = 48) -> tuple[list[int], Timings, int]:
    """``n`` tokens of a reply whose first proposal rode along, the counters, and how long that proposal was."""
    passenger = rounds.passenger(most)
    assert passenger is not None
    along = passenger.proposal.tokens
    rows = rounds.target.decode([*PROMPT, *along])[-1 - len(along) :]
    timings = Timings()
    done = rounds.arrive(rows, passenger)
    while True:
        statistics.count(timings, done)
        statistics.check(timings)
        assert list(rounds.target.tokens) == rounds.history[:-1], "as after any round"
        if len(rounds.history) - len(PROMPT) >= n:
            return rounds.history[len(PROMPT) :][:n], timings, len(along)
        done = rounds.round()


@pytest.mark.parametrize("settings", [FIXED, AUTO], ids=["fixed", "auto"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("wrong", [0.0, 1.0, 50.0])
def test_the_tokens_are_plain_decodings(settings: Speculation, temperature: float, wrong: float) -> None:
    sampling = Sampling(temperature=temperature, top_k=0, top_p=1.0)
    expected, _ = run(rounds_of(PLAIN, sampling=sampling, seed=5), 20)
    said, timings, _ = ridden(rounds_of(settings, wrong, sampling=sampling, seed=5), 20)
    assert said == expected
    assert timings.passes <= 19


def test_a_short_answer_takes_the_prompts_pass_alone() -> None:
    rounds = rounds_of(Speculation(source="draft", length=3), budget=4, sampling=Sampling(temperature=0))
    _, timings, length = ridden(rounds, 4)
    assert (timings.passes, timings.draft_n_accepted, length) == (0, 3, 3)


def test_what_it_took_is_the_drafts_reading() -> None:
    rounds = rounds_of(FIXED, sampling=Sampling(temperature=0))
    passenger = rounds.passenger(48)
    assert passenger is not None
    assert passenger.n == len(PROMPT)
    assert passenger.ms > 0


@pytest.mark.parametrize(
    ("settings", "plain_ms", "most", "budget"),
    [
        (PLAIN, 2000.0, 48, 20),
        (Speculation(source="lookup"), 2000.0, 48, 20),
        (AUTO, 60.0, 48, 20),  # passes are short: the person sees the first token at once
        (AUTO, 2000.0, 0, 20),  # no room in the pass
        (AUTO, 2000.0, 48, 1),  # one token only
    ],
)
def test_nothing_rides_where_it_would_not_pay(settings: Speculation, plain_ms: float, most: int, budget: int) -> None:
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    rounds = make(target, draft, PROMPT, settings, budget=budget, target_costs=costs(n1=plain_ms))
    assert rounds.passenger(most) is None
    assert draft.decodes == []


def test_a_prompt_that_takes_the_draft_long_is_not_read_before_the_first_token() -> None:
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    slow = costs(n1=100.0, n64=1900.0)
    rounds = make(target, draft, PROMPT, AUTO, target_costs=costs(**SLOW), draft_costs=slow)
    assert rounds.passenger(48) is None
    assert draft.decodes == []


def test_what_the_draft_remembers_of_another_chat_is_left() -> None:
    target = TableModel(8, seed=3, order=9)
    draft = MixedDraft(target, 0.0)
    draft.read([5, 5, *PROMPT])
    rounds = make(target, draft, PROMPT, FIXED, target_costs=costs(**SLOW), sampling=Sampling(temperature=0))
    passenger = rounds.passenger(48)
    assert passenger is not None
    held: Sequence[int] = draft.tokens
    assert list(held[: len(PROMPT)]) == PROMPT
