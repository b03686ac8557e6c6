"""What a pair learnt is there again in the next run; a file that cannot be read or written costs nothing else."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.learnt import Learnt
from backend.protocol import Speculation
from tests.engine.rig import COUNT, pair, quietly, say, with_draft

ALWAYS = Speculation(source="draft", length=7)


def test_a_pair_starts_from_what_it_learnt_before(tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    target, draft = tiny_files
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(target, draft, learnt) as both:
        say(both, COUNT, max_tokens=48, speculation=ALWAYS)
        assert 8 in both.costs.measured
        before = (both.costs.to_json(), both.draft_costs.to_json(), both._calibration.to_json(), both._copies.to_json())
    with pair(target, draft, Learnt(learnt._path)) as again:
        assert (again._calibration.to_json(), again._copies.to_json()) == before[2:]
        assert again.costs.measured == [1], "one size is measured anew, the others follow it"
        assert set(again.costs.to_json()["0"]["ratio"]) == set(before[0]["0"]["ratio"])
        assert set(again.draft_costs.to_json()["0"]["ratio"]) == set(before[1]["0"]["ratio"])
        assert say(again, COUNT, max_tokens=8).end.reason == "length"


def test_other_options_are_another_machine(tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    target, _ = tiny_files
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(target, learnt=learnt) as both:
        both.costs.observe(16, 1000.0)
    with pair(target, learnt=learnt) as same:
        assert 16 in same.costs.table()
    for other in ({"kv_type": "f32"}, {"flash_attention": "off"}, {"threads": 2}):
        with pair(target, learnt=learnt, **other) as both:
            assert 16 not in both.costs.table(), other


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
        both._calibration.mean = 0.25
    with pair(target, learnt=learnt) as alone:
        alone.offer_draft(with_draft(alone, draft))
        alone.take_offers()
        assert alone._calibration.mean == 0.25


@pytest.mark.parametrize(
    "damaged", ["", "[]", '{"format": 1, "entries": [1]}', '{"format": 9, "entries": {}}', "\x00{"]
)
def test_a_damaged_file_is_replaced(damaged: str, tiny_files: tuple[Path, Path], tmp_path: Path) -> None:
    learnt = Learnt(tmp_path / "learnt.json")
    (tmp_path / "learnt.json").write_text(damaged)
    with pair(tiny_files[0], learnt=learnt) as both:
        assert both.costs.measured == [1, 2, 4, 8]
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
