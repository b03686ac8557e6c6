"""A draft's cheaper copy: what it is made of, what is measured of it, and when it is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from backend.engine import cheaper
from backend.engine.cancel import CancelFlag
from backend.engine.learnt import Learnt, copy_key
from backend.engine.load import LoadedModel
from backend.engine.pair import Pair
from backend.errors import EngineError, ErrorCode
from backend.library import copies
from backend.library.gguf import read_facts
from backend.library.paths import copies_dir
from backend.speculation.cost import PassCosts
from tests import tiny
from tests.engine.rig import COUNT, options, pair, say, with_draft
from tests.quantizing import when_quantizing
from tests.tiny_recurrent import tiny_hybrid


def costs(step: float, growth: float = 0.1) -> PassCosts:
    found = PassCosts()
    for n in (1, 2, 4, 8, 64):
        found.observe(n, step * (1 + growth * (n - 1)))
    return found


def test_every_matrix_of_a_copy_is_of_the_cheap_type(smollm2: Path) -> None:
    shown: list[float] = []
    copy = cheaper.make_copy(smollm2, shown.append, CancelFlag())
    facts = read_facts(copy)
    assert {t.type for t in facts.tensors()} == {"Q4_0", "F32"}
    assert next(t for t in facts.tensors() if t.name == "token_embd.weight").type == "Q4_0", "the output matrix too"
    assert shown[-1] == 1.0
    expected = copies.expected_size(read_facts(smollm2))
    assert abs(copy.stat().st_size - expected) < 0.02 * expected
    assert not copies.worth_copying(facts), "a copy of it would be no smaller"


def test_a_stop_leaves_nothing(tiny_files: tuple[Path, Path]) -> None:
    flag = CancelFlag()
    catching = when_quantizing(flag.set)
    with pytest.raises(EngineError) as caught:
        cheaper.make_copy(tiny_files[1], lambda _: None, flag)
    catching.join()
    assert caught.value.code is ErrorCode.CANCELLED
    assert list(copies_dir().iterdir()) == []


@pytest.fixture
def both(tiny_files: tuple[Path, Path]) -> Iterator[Pair]:
    """A pair that holds a conversation, on a machine where drafting pays."""
    with pair(*tiny_files) as made:
        say(made, COUNT, max_tokens=8)
        made.costs = costs(50)
        yield made


def chosen(
    both: Pair, file: Path, learnt: Learnt, ms: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> cheaper.Choice:
    """The choice for the model in ``file`` as a copy, its step and the draft's taken to cost what ``ms`` says."""
    monkeypatch.setattr(cheaper, "steps", lambda *_: (costs(ms[1]), costs(ms[0])))
    copy = with_draft(both, file)
    try:
        return cheaper.try_copy(both, copy, file, options(), learnt, CancelFlag())
    finally:
        if both.draft is not copy:
            copy.close()


def test_a_quicker_copy_that_guesses_alike_is_used(
    both: Pair, tmp_path: Path, tiny_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt, held = Learnt(tmp_path / "learnt.json"), both.target.context.sequence().tokens[:]
    file = cheaper.make_copy(tiny_files[1], lambda _: None, CancelFlag())
    choice = chosen(both, file, learnt, (5, 15), monkeypatch)
    assert choice.use
    assert choice.sentence == "using a Q4_0 copy of the draft: a step takes 5 ms, not 15"
    assert both.draft is not None
    assert both.draft.info.quant == "Q4_0"
    assert both.draft_costs.at(1) == 5
    assert cheaper.recall(learnt, both.target, file, options()) == choice
    assert cheaper.recall(learnt, both.target, file, options(draft_kv_type="f32")) is None
    assert both.target.context.sequence().tokens == held, "the conversation is still in memory"
    assert both.target.context.used == len(held), "and nothing else"
    assert say(both, COUNT, max_tokens=8).end.timings.prompt_n == 1


def test_a_copy_that_is_hardly_quicker_is_not(
    both: Pair, tmp_path: Path, tiny_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = both.draft
    choice = chosen(both, tiny_files[1], Learnt(tmp_path / "learnt.json"), (14.5, 15), monkeypatch)
    assert not choice.use
    assert choice.sentence == ("the draft is used as it is: its Q4_0 copy is hardly quicker (14.5 ms a step, not 15)")
    worse = replace(choice, step=18.0).sentence
    assert worse == "the draft is used as it is: its Q4_0 copy is slower (18 ms a step, not 15)"
    assert both.draft is before
    assert choice.accepted == choice.draft_accepted, "the same file says the same"


def test_a_quicker_copy_that_guesses_worse_is_not(
    both: Pair, tmp_path: Path, tiny_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = tiny.tiny_llama(tiny_dir / "stranger.gguf", seed=5)
    choice = chosen(both, stranger, Learnt(tmp_path / "learnt.json"), (12, 15), monkeypatch)
    assert not choice.use
    assert choice.accepted < choice.draft_accepted
    assert "but guesses worse" in choice.sentence
    assert say(both, COUNT, max_tokens=8).end.reason == "length"


def test_both_are_measured_on_this_machine(both: Pair, tiny_files: tuple[Path, Path]) -> None:
    copy: LoadedModel = with_draft(both, tiny_files[1])
    try:
        assert both.draft is not None
        mine, other = cheaper.steps(both.draft, copy, CancelFlag())
        assert mine.measured == other.measured == [1, 2]
        assert mine.at(1) < 10 * other.at(1) < 100 * mine.at(1), "one file, one cost, whatever else the machine does"
    finally:
        copy.close()


def test_a_stopped_trial_changes_nothing(both: Pair, tmp_path: Path, tiny_files: tuple[Path, Path]) -> None:
    before, flag = both.draft, CancelFlag()
    copy = with_draft(both, tiny_files[1])
    flag.set()
    try:
        with pytest.raises(EngineError) as caught:
            cheaper.try_copy(both, copy, tiny_files[1], options(), Learnt(tmp_path / "learnt.json"), flag)
        assert caught.value.code is ErrorCode.CANCELLED
    finally:
        copy.close()
    assert both.draft is before
    assert not (tmp_path / "learnt.json").exists()
    assert say(both, COUNT, max_tokens=8).end.reason == "length"


def test_a_target_without_a_spare_sequence_reads_its_conversation_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tiny_hybrid(tmp_path / "target.gguf")
    draft = tiny.tiny_llama(tmp_path / "draft.gguf")
    with pair(file, draft) as made:
        say(made, COUNT, max_tokens=8)
        chosen(made, draft, Learnt(tmp_path / "learnt.json"), (5, 15), monkeypatch)
        assert made.target.context.used == 0
        assert say(made, COUNT, max_tokens=8).end.reason in ("length", "stop")


SOUND = {"use": True, "step": 5.0, "draft_step": 9.0, "accepted": 0.5, "draft_accepted": 0.5}


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        {"use": True},
        SOUND | {"step": "quick"},
        SOUND | {"step": 10**400},
        SOUND | {"step": float("nan")},
        SOUND | {"accepted": float("inf")},
        SOUND | {"use": "no"},
    ],
)
def test_a_choice_that_cannot_be_read_is_made_anew(
    stored: object, both: Pair, tmp_path: Path, tiny_files: tuple[Path, Path]
) -> None:
    learnt = Learnt(tmp_path / "learnt.json")
    key = copy_key(both.target, tiny_files[1], options())
    learnt.keep({key: {"choice": SOUND}})
    assert cheaper.recall(learnt, both.target, tiny_files[1], options()) is not None
    learnt.keep({key: {"choice": stored}})
    assert cheaper.recall(learnt, both.target, tiny_files[1], options()) is None
