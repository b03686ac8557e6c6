"""The bound by foresight: by hand, and never below what any fixed length reaches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.bench.clairvoyant import Bound, bound, reached
from backend.forecast import forecast
from backend.protocol import CostTable, Judged
from tests.unit.bench.test_report import run

COSTS = CostTable(target={1: 10.0, 2: 12.0, 4: 16.0, 8: 24.0}, draft_step=3.0)


def judged(hits: str, copies: list[int] | None = None) -> Judged:
    return Judged(draft="d", hits=hits, copies=copies or [0] * len(hits), ms=1.0)


def test_by_hand() -> None:
    none = bound(judged("00000"), COSTS)
    assert (none.plain_ms, none.best_ms, none.speedup) == (40.0, 40.0, 1.0)
    # four tokens after the first: one pass of four (16) with three draft steps (9), or two of two (2 * 15)
    assert bound(judged("01111"), COSTS).best_ms == 25.0
    # the same three copied cost no steps
    assert bound(judged("00000", [0, 3, 2, 1, 0]), COSTS).best_ms == 16.0
    # a hit at the last token cannot help: nothing is left for its pass to add
    assert bound(judged("00001"), COSTS).best_ms == 40.0
    assert bound(judged("1"), COSTS) == Bound(0.0, 0.0)


@given(st.text("01", min_size=2, max_size=60), st.integers(1, 16))
def test_no_fixed_length_is_faster(hits: str, k: int) -> None:
    bounded = bound(judged(hits), COSTS)
    assert bounded.best_ms <= bounded.plain_ms
    assert bounded.best_ms <= walked_ms(hits, k) + 1e-6


def walked_ms(hits: str, k: int) -> float:
    """Milliseconds of walking ``hits`` with drafts of ``k``."""
    told = forecast("d", [hits], COSTS)
    return 10.0 * (len(hits) - 1) / told.speedups[k]


def test_shares_by_category_and_over_all() -> None:
    runs = [run("plain", "a", category="x", ms=200.0), run("auto", "a", category="x", ms=100.0)]
    runs += [run("plain", "b", category="y", ms=100.0), run("auto", "b", category="y", ms=100.0)]
    bounds = [(runs[1], Bound(200.0, 80.0)), (runs[3], Bound(100.0, 100.0))]
    by = {r.category: r for r in reached(runs, bounds)}
    assert by["x"].bound == pytest.approx(2.5)
    assert by["x"].auto == pytest.approx(2.0)
    assert by["x"].share == pytest.approx(0.8)
    assert by["y"].share == pytest.approx(1.0)
    assert by["all"].bound == pytest.approx(300 / 180)
    assert by["all"].auto == pytest.approx(1.5)


def test_without_plain_there_is_a_bound_and_no_share() -> None:
    runs = [run("auto", "a", category="x", ms=100.0)]
    (only,) = reached(runs, [(runs[0], Bound(200.0, 80.0))])
    assert (only.category, only.auto, only.share) == ("x", None, None)
