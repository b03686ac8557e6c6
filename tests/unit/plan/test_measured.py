"""What passes took here, read back for plans; a damaged file tells nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.library.jsonfile import write_json
from backend.plan.machine import machine, measured_memory_rate
from backend.plan.measured import KEY, measured, noted

COSTS = {"unit": 25.0, "ratio": {"1": 1.0, "2": 1.9, "8": 5.0}}


def written(path: Path, entries: Any) -> Path:
    write_json(path, {"format": 1, "entries": entries})
    return path


def test_it_is_kept_by_type(tmp_path: Path) -> None:
    path = written(tmp_path / "learnt.json", {KEY: noted("Q4_K_M", 1_000_000_000, COSTS)})
    known = measured(path, "Q4_K_M")
    assert known is not None
    assert known.rate == 4e7
    assert dict(known.passes) == {1: 1.0, 2: 1.9, 8: 5.0}
    assert measured(path, "BF16") is None


@pytest.mark.parametrize(
    "figures",
    [None, [], {"read": 1}, {"read": 1, "unit": 0, "ratio": {"1": 1.0}}, {"read": 1, "unit": 1, "ratio": {"2": 1.0}}]
    + [{"read": 1, "unit": 1, "ratio": ratio} for ratio in ({}, {"1": 1.0, "0": 1.0}, {"1": 1.0, "2": -3}, {"x": 1})],
)
def test_what_cannot_be_tells_nothing(tmp_path: Path, figures: Any) -> None:
    assert measured(written(tmp_path / "a.json", {KEY: {"Q4_K_M": figures}}), "Q4_K_M") is None


@pytest.mark.parametrize("content", ["", "[]", '{"entries": 5}', json.dumps({"entries": {KEY: "x"}})])
def test_a_file_of_another_kind_tells_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "learnt.json"
    assert measured(path, "Q4_K_M") is None
    path.write_text(content)
    assert measured(path, "Q4_K_M") is None


def test_larger_passes_are_priced_as_they_were_measured() -> None:
    known, assumed = machine(1, passes={1: 1.0, 2: 1.9, 8: 5.0}).memory, machine(1).memory
    assert [known.times(n) for n in (1, 2, 5, 8)] == pytest.approx([1.0, 1.9, 3.45, 5.0])
    assert assumed.times(1) == 1.0
    assert 1.0 < assumed.times(2) < assumed.times(9) < 3


def test_memory_is_measured() -> None:
    assert 1e5 < measured_memory_rate(2, size=1 << 22, seconds=0.01) < 1e9
