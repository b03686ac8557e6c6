"""What a pair learnt is there again in the next run; a file that cannot be read or written costs nothing else."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.learnt import Learnt, model_key
from backend.engine.pair import Pair
from backend.plan.measured import measured
from backend.plan.needs import of_file
from backend.protocol import Speculation
from backend.sampling.chain import Chain
from backend.speculation.verify import Greedy
from tests.engine.rig import COUNT, GREEDY, pair, quietly, say, with_draft

ALWAYS = Speculation(source="draft", length=7)
RULE = Greedy(Chain(GREEDY))


def learnt_of(both: Pair) -> tuple[Any, Any]:
    """The person's own statistics: of the draft's margins, and of copies."""
    return both._learners[""].margins(RULE).to_json(), both._learners[""].copies.to_json()


def test_a_pair_starts_from_what_it_learnt_before(tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    target, draft = tiny_files
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(target, draft, learnt) as both:
        say(both, COUNT, max_tokens=48, speculation=ALWAYS)
        assert 8 in both.costs.measured
        before = (both.costs.to_json(), both.draft_costs.to_json(), *learnt_of(both))
    with pair(target, draft, Learnt(learnt._path)) as again:
        assert learnt_of(again) == before[2:]
        assert again.costs.measured == [1], "one size is measured anew, the others follow it"
        assert set(again.costs.to_json()["0"]["ratio"]) == set(before[0]["0"]["ratio"])
        assert set(again.draft_costs.to_json()["0"]["ratio"]) == set(before[1]["0"]["ratio"])
        assert say(again, COUNT, max_tokens=8).end.reason == "length"


def test_plans_are_told_what_passes_take_where_they_wait_for_memory(
    tiny_files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, _ = tiny_files
    path = tmp_path / "learnt.json"
    with pair(target, learnt=Learnt(path)):
        pass
    assert measured(path, "F32") is None, "a tiny model's passes wait for other things"
    monkeypatch.setattr("backend.engine.learnt.TELLING", 1)
    with pair(target, learnt=Learnt(path)) as both:
        read, costs = of_file(both.target.facts).read, both.costs
    known = measured(path, "F32")
    assert known is not None
    assert known.rate == pytest.approx(read / costs.at(1))
    assert known.passes[8] == pytest.approx(costs.at(8) / costs.at(1))


def test_a_model_file_that_is_gone_costs_neither_reply_nor_what_was_learnt(
    tiny_files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, learnt = tmp_path / "gone.gguf", Learnt(tmp_path / "learnt.json")
    shutil.copy(tiny_files[0], file)
    monkeypatch.setattr("backend.engine.pair._KEEP_EVERY", -1.0)
    with pair(file, learnt=learnt) as both:
        file.unlink()
        assert say(both, COUNT, max_tokens=8).end.reason == "length"
        key = model_key(both.target, "target")
    assert learnt.recall(key)["costs"]


def test_other_options_are_another_machine(tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    target, _ = tiny_files
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(target, learnt=learnt) as both:
        both.costs.observe(32, 1000.0)
    with pair(target, learnt=learnt) as same:
        assert 32 in same.costs.table()
    for other in ({"kv_type": "f32"}, {"flash_attention": "on"}, {"threads": 2}):
        with pair(target, learnt=learnt, **other) as both:
            assert 32 not in both.costs.table(), other


def test_measuring_after_a_swap_leaves_a_long_conversation_in_memory(tiny_files: tuple[Path, Path]) -> None:
    """Its bucket of context lengths was just entered and has measured nothing: that is no reason to start anew."""
    with pair(tiny_files[0]) as both:
        say(both, COUNT, max_tokens=8)
        held = both.target.context.sequence().length
        both.costs.enter(5000)
        both.measure(quietly, CancelFlag())
        assert both.target.context.sequence().length == held > 0


def test_a_swapped_draft_finds_its_own_again(tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    target, draft = tiny_files
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(target, draft, learnt) as both:
        both._learners[""].margins(RULE).mean = 0.25
    with pair(target, learnt=learnt) as alone:
        alone.offer_draft(with_draft(alone, draft))
        alone.take_offers()
        assert alone._learners[""].margins(RULE).mean == 0.25


def test_a_benchmark_neither_uses_nor_changes_what_the_person_taught(tiny_files: tuple[Path, Path]) -> None:
    with pair(*tiny_files) as both:
        say(both, COUNT, max_tokens=48, speculation=ALWAYS)
        taught = learnt_of(both)
        say(both, COUNT, max_tokens=48, speculation=ALWAYS, learner="a")
        assert learnt_of(both) == taught
        assert both._learners["a"].margins(RULE).to_json() == taught[0], "the same reply teaches the same, from nothing"
        for i in range(200):
            both.learner(str(i))
        assert len(both._learners) < 100
        assert learnt_of(both) == taught


def test_a_model_has_figures_of_its_own_in_either_role(tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    target, _ = tiny_files
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(target, target, learnt) as both:
        both.costs.observe(32, 1000.0)
    with pair(target, target, learnt) as again:
        assert 32 in again.costs.table()
        assert 32 not in again.draft_costs.table()


@pytest.mark.parametrize(
    "damaged", ["", "[]", '{"format": 1, "entries": [1]}', '{"format": 9, "entries": {}}', "\x00{"]
)
def test_a_damaged_file_is_replaced(damaged: str, tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    learnt = Learnt(tmp_path / "learnt.json")
    (tmp_path / "learnt.json").write_text(damaged)
    with pair(tiny_files[0], learnt=learnt) as both:
        assert both.costs.measured == [1, 2, 4, 8, 16]
    with pair(tiny_files[0], learnt=learnt) as both:
        assert both.costs.measured == [1]


def test_a_folder_that_refuses_costs_only_the_memory(
    tiny_files: tuple[Path, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "folder").write_text("a file where the folder should be")
    with (
        caplog.at_level(logging.WARNING),
        pair(tiny_files[0], learnt=Learnt(tmp_path / "folder" / "learnt.json")) as both,
    ):
        assert say(both, COUNT, max_tokens=8).end.reason == "length"
    assert "what was learnt is not kept" in caplog.text


def test_only_the_latest_entries_are_kept(tmp_path: Path) -> None:
    learnt = Learnt(tmp_path / "learnt.json")
    for i in range(80):
        learnt.keep({f"key {i}": {"costs": {}}})
    learnt.keep({"key 20": {"costs": {"again": 1}}})
    assert learnt.recall("key 0") == {}
    assert learnt.recall("key 20")["costs"] == {"again": 1}
    assert learnt.recall("key 79") != {}
