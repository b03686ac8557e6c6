"""Which draft is the best for a target, and what the drop-down says of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from desktop.models.choices import draft_rows
from desktop.models.outlook import Outlook
from desktop.models.ranking import Ranking

GB = 10**9


def choice(name: str, *, here: bool = True, warning: str = "") -> Any:
    """A draft that fits."""
    model = SimpleNamespace(id=name, name=name, quant="Q4_0", size=GB, installed=here)
    ready = here and not warning
    return SimpleNamespace(model=model, fits=True, reason="", warning=warning, pair_bytes=2 * GB, ready=ready)


def planned(ms: float, gain: float = 1.5, *, fits: bool = True) -> Outlook:
    reason = "" if fits else "larger than the free memory"
    return Outlook(fits, reason, "≈ 1 tok/s", 3 * GB, ms=ms, gain=gain)


SMALL, LARGE, THIRD = choice("small"), choice("large"), choice("third")
ALL = [SMALL, LARGE, THIRD]


@pytest.mark.parametrize(
    ("pairs", "shown", "best"),
    [
        ({}, {}, "small"),  # nothing is known: as they are listed
        ({"small": planned(80), "large": planned(70), "third": planned(75)}, {}, "large"),
        ({"small": planned(70), "large": planned(80)}, {"large": 1.6, "third": 1.7}, "third"),
        ({"small": planned(70), "large": planned(80), "third": planned(90)}, {"small": 0.8}, "large"),
        ({"small": planned(70, fits=False), "large": planned(80)}, {"small": 1.9}, "large"),
    ],
)
def test_what_was_measured_counts_before_what_is_planned(
    pairs: dict[str, Outlook], shown: dict[str, float], best: str
) -> None:
    ranking = Ranking("t", pairs, lambda target, draft: shown.get(draft) if target == "t" else None)
    assert ranking.best(ALL) == best
    assert ranking.recommended(ALL) == (best if pairs else "")


def test_none_is_recommended_that_would_not_help() -> None:
    assert Ranking("t", {"small": planned(70, gain=1.0)}, lambda *_: None).recommended([SMALL]) == ""
    assert Ranking("t", {"small": planned(70)}, lambda *_: 0.9).recommended([SMALL]) == ""
    assert Ranking("t", {"small": planned(70, fits=False)}, lambda *_: None).recommended([SMALL]) == ""


def test_only_what_is_here_is_used_and_else_a_download_recommended() -> None:
    pairs = {"small": planned(80), "far": planned(60), "odd": planned(50)}
    far, odd = choice("far", here=False), choice("odd", warning="It is larger than the target.")
    ranking = Ranking("t", pairs, lambda *_: None)
    assert (ranking.best([SMALL, far, odd]), ranking.recommended([SMALL, far, odd])) == ("small", "small")
    assert (ranking.best([far, odd]), ranking.recommended([far, odd])) == (None, "far")


def test_the_list_marks_it_and_tells_the_planned_memory() -> None:
    pairs = {"small": planned(80), "large": planned(70, fits=False)}
    rows = {row.value: row.detail for row in draft_rows(ALL, "t", pairs, lambda _, d: 1.5 if d == "third" else None)}
    assert rows["small"] == "≈ 3.0 GB in memory with the target"
    assert rows["large"] == "≈ 3.0 GB in memory with the target: larger than the free memory"
    assert rows["third"] == "Recommended · files of 2.0 GB with the target · 1.50× measured here"
