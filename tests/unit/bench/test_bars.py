"""Bars: runs read back from their files, and what is judged by which interval."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.bench.report import Ratio
from backend.bench.runner import Run
from tests.long.bars import Bar, acceptance, compute_bound, judge, merged, sampled, strict, tokens, unlike
from tests.long.beside import SETS, flags
from tests.long.capped import Pass, disk_share, memory_off, order
from tests.unit.bench.test_report import run


def saved(path: Path, runs: list[Run]) -> Path:
    path.write_text(json.dumps({"runs": [one.to_json() for one in runs]}))
    return path


def test_a_bar_holds_where_the_intervals_upper_end_reaches_it() -> None:
    near = Ratio(0.95, 0.93, 0.98, 4)
    assert Bar("a", near, 0.97).holds
    assert Bar("a", near, 0.99).holds is False
    assert Bar("a", near, 0.99, judged=False).holds is None
    assert Bar("a", None, 0.99).holds is None


def test_another_part_is_more_prompts_and_the_same_part_again_another_repeat(tmp_path: Path) -> None:
    first = saved(tmp_path / "1.json", [run("plain", "p"), run("auto", "p")])
    part = saved(tmp_path / "2.json", [run("plain", "q")])
    again = saved(tmp_path / "3.json", [run("plain", "p"), run("plain", "p", repeat=1)])
    found = merged([first, part, again])
    assert [(r.mode, r.prompt.id, r.repeat) for r in found] == [
        ("plain", "p", 0), ("auto", "p", 0), ("plain", "q", 0), ("plain", "p", 1), ("plain", "p", 2),
    ]  # fmt: skip
    assert found[0].timings == run("plain", "p").timings
    assert found[0].own


def test_the_best_flag_set_is_picked_on_one_half_and_compared_on_the_other() -> None:
    runs = []
    for category in ("code_edit", "chat"):
        for repeat, lucky in ((0, 50.0), (1, 100.0)):
            for mode, ms in (("plain", 100.0), ("auto", 80.0), ("ls-plain", 100.0), ("ls-a", lucky), ("ls-b", 90.0)):
                runs.append(run(mode, category, category=category, repeat=repeat, ms=ms, n=401))
    found = {bar.what: bar for bar in compute_bound(runs)}
    best = found["all: auto / ls-a, generation"]
    assert best.found is not None
    assert best.found.value == pytest.approx(1.25)
    assert best.holds
    assert found["code_edit: auto / plain, generation"].least == 1.2
    assert tokens(runs, "chat") == 401


def test_few_tokens_are_shown_and_not_judged() -> None:
    runs = [run(mode, ms=ms, n=399) for mode, ms in (("plain", 100.0), ("auto", 900.0))]
    (bar,) = (bar for bar in compute_bound(runs) if bar.what == "c: auto / plain, generation")
    assert bar.holds is None


def test_a_text_that_differs_fails_strict() -> None:
    same = [run("plain", tokens=[1, 2]), run("auto", tokens=[1, 2])]
    assert [bar.holds for bar in strict(same)] == [True]
    assert [bar.holds for bar in strict([*same[:1], run("auto", tokens=[1, 3])])] == [False]


def test_what_is_gained_at_a_temperature_is_a_share_of_the_greedy_gain() -> None:
    greedy = [run("plain", ms=100), run("auto", ms=50)]
    warm = [run("plain", ms=100), run("auto", ms=80)]
    last = list(sampled(warm, greedy))[-2]
    assert last.found is not None
    assert last.found.value == pytest.approx(1.25 / 2)


def test_acceptance_leaves_out_what_was_not_decided() -> None:
    runs = [run("auto", draft_n=8, draft_n_accepted=3, rounds_mismatch=1), run("plain")]
    assert acceptance(runs, "auto") == 0.75
    assert acceptance(runs, "plain") is None


def test_prompts_read_unlike_are_named() -> None:
    assert unlike([run("plain", prompt_n=9), run("ls-plain", prompt_n=9)]) == []
    assert unlike([run("plain", "p", prompt_n=9), run("ls-plain", "p", prompt_n=10)]) == ["p"]


def test_a_missed_bar_is_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = [run("plain", ms=100, n=500), run("auto", ms=200, n=500)]
    assert judge("turns", [saved(tmp_path / "a.json", slow)]) == 1
    assert "does NOT hold" in capsys.readouterr().out


def test_flag_sets_name_the_draft_where_they_have_one() -> None:
    assert flags(SETS["compute-bound"]["plain"], "t.gguf", "d.gguf", 8192, 2) == [
        "-m",
        "t.gguf",
        "-t",
        "2",
        "-c",
        "8192",
    ]
    mixed = flags(SETS["memory-bound"]["ngram-draft4"], "t.gguf", "d.gguf", 8192, 2)
    assert mixed[mixed.index("-md") + 1] == "d.gguf"
    assert mixed[mixed.index("--spec-ngram-simple-size-n") + 1] == "6"


def test_passes_go_forwards_and_backwards() -> None:
    assert list(order(["a", "b"], 2)) == [(0, "a"), (0, "b"), (1, "b"), (1, "a")]


def test_sums_of_capped_passes() -> None:
    passes = [
        Pass("auto", 0, planned=1000, held=990, read=300, seconds=2.0, disk=200.0),
        Pass("auto", 1, planned=1000, held=1040, read=500, seconds=3.0, disk=200.0),
        Pass("auto", 2, failed="it ended"),
    ]
    assert memory_off(passes) == pytest.approx(0.04)
    assert disk_share(passes) == pytest.approx(0.8)
    assert memory_off(passes[2:]) is None
    assert disk_share(passes[2:]) == 0.0
