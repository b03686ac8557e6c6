"""How long a benchmark will take: from pass costs by hand, and then from its own replies."""

from __future__ import annotations

import pytest

from backend.bench.duration import Pace
from backend.bench.series import Series
from backend.bench.workloads import Prompt
from backend.protocol import CostTable

COST = CostTable(target={1: 50.0, 2: 60.0, 4: 80.0, 8: 120.0}, draft_step=5.0)
PROMPT = Prompt("p", "c", "x" * 280)
"""80 tokens, and 20 around them."""
READ = 120.0 + 92 * 10.0
"""Along the last slope, 10 ms a token."""


def series(*modes: str, repeats: int = 1) -> Series:
    return Series((PROMPT,), modes, 101, repeats)


def test_before_it_begins_it_is_told_by_measured_costs() -> None:
    plain = READ + 100 * 50.0
    assert Pace(series("plain"), COST, has_draft=True).left() == pytest.approx(plain)
    assert Pace(series("plain", "plain#2", "auto"), COST, has_draft=True).left() == pytest.approx(3 * plain)
    # Eq. (2): a pass over four and three draft steps bring Eq. (1)'s tokens
    tokens = 1 + 0.6 + 0.36 + 0.216
    fixed = READ + 100 * (80.0 + 15.0) / tokens
    assert Pace(series("fixed:3"), COST, has_draft=True).left() == pytest.approx(fixed)
    assert Pace(series("fixed:3"), COST, has_draft=False).left() == pytest.approx(READ + 100 * 80.0 / tokens)


def test_its_own_replies_correct_it_way_by_way() -> None:
    pace = Pace(series("plain", "auto", repeats=2), COST, has_draft=True)
    one = pace.left()
    assert one is not None
    one /= 4
    pace.add(one)  # plain, as foretold
    pace.add(one / 2)  # auto, twice as fast
    assert pace.left() == pytest.approx(1.5 * one)
    pace.add(one / 2)
    pace.add(one)
    assert pace.left() == 0


def test_without_costs_it_is_known_after_the_first_reply() -> None:
    pace = Pace(series("plain", "auto"), None, has_draft=False)
    assert pace.left() is None
    pace.add(700.0)
    assert pace.left() == pytest.approx(700.0)
