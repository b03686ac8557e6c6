"""The best fixed length: picked on one half, compared on the other."""

from __future__ import annotations

import pytest

from backend.bench.sweep import LENGTHS, best_fixed, halves, sweep_modes
from tests.unit.bench.test_report import run


def test_every_source_with_every_length() -> None:
    names = [mode.name for mode in sweep_modes(True)]
    assert len(names) == 2 * len(LENGTHS)
    assert {"draft:1", "draft:16", "lookup:8"} <= set(names)
    assert all(name.startswith("lookup:") for name in (mode.name for mode in sweep_modes(False)))


def test_the_best_is_picked_on_one_half_and_judged_on_the_other() -> None:
    """In repeat 0 draft:4 is lucky; in repeat 1 it is no better than plain: the luck must not be printed."""
    runs = []
    for repeat, lucky in ((0, 50.0), (1, 100.0)):
        runs += [
            run("plain", repeat=repeat, ms=100),
            run("auto", repeat=repeat, ms=80),
            run("draft:4", repeat=repeat, ms=lucky),
            run("draft:8", repeat=repeat, ms=90),
        ]
    (best,) = best_fixed(runs, ["draft:4", "draft:8", "draft:16"])
    assert best.mode == "draft:4"
    assert best.over_plain is not None
    assert best.over_plain.value == pytest.approx(1.0)
    assert best.auto_over_plain is not None
    assert best.auto_over_plain.value == pytest.approx(1.25)
    assert best.auto_over_best is not None
    assert best.auto_over_best.value == pytest.approx(1.25)


def test_each_category_has_its_own_best_and_all_have_one_together() -> None:
    runs = []
    for repeat in range(2):
        for category, fast in (("edit", "lookup:8"), ("chat", "draft:2")):
            for mode in ("plain", "lookup:8", "draft:2"):
                ms = 50 if mode == fast else 110 if mode != "plain" else 100
                runs.append(run(mode, category, category=category, repeat=repeat, ms=ms))
    assert [(b.category, b.mode) for b in best_fixed(runs, ["lookup:8", "draft:2"])][:2] == [
        ("edit", "lookup:8"),
        ("chat", "draft:2"),
    ]
    assert [b.category for b in best_fixed(runs, ["lookup:8"])] == ["edit", "chat", "all"]


def test_one_repeat_is_halved_by_prompts_alike_for_every_mode() -> None:
    runs = [run(mode, f"p{i}") for i in range(4) for mode in ("plain", "draft:1")]
    first, second = halves(runs)
    assert {r.prompt.id for r in first} == {"p0", "p2"}
    assert {r.prompt.id for r in second} == {"p1", "p3"}
    assert len(first) == len(second) == 4


def test_nothing_to_compare_gives_nothing() -> None:
    assert best_fixed([run("auto")], ["draft:1"]) == []
    assert best_fixed([run("plain")], ["draft:1"]) == []
    (only,) = best_fixed([run("plain"), run("draft:1", ms=50)], ["draft:1"])
    assert only.over_plain is None, "a single prompt has no other half"
