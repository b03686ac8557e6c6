"""How long a benchmark will take: from pass costs by hand, and then from its own replies."""

from __future__ import annotations

import pytest

from backend.bench.duration import Pace
from backend.bench.series import Series
from backend.bench.workloads import WORKLOADS, Prompt
from backend.protocol import CostTable

COST = CostTable(target={1: 50.0, 2: 60.0, 4: 80.0, 8: 120.0}, draft_step=5.0)
PROMPT = Prompt("p", "c", "x" * 280)
"""80 tokens, and 20 around them."""
READ = 120.0 + 92 * 10.0
"""Along the whole line, 10 ms a token."""
PAIR = CostTable(target={1: 32.8, 2: 60.2, 4: 94.4, 8: 158.0, 15: 132.0, 16: 175.4}, draft_step=18.1)
"""A 1.5B target with a 0.5B draft on two cores, a quick pass over 15 among them; the built-in benchmark took 23 s."""


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


def test_neighbours_that_differ_by_chance_do_not_foretell_how_long_a_prompt_takes() -> None:
    built_in = Series(WORKLOADS["three"], ("plain", "auto", "fixed:4", "plain#2"), 64)
    told = Pace(built_in, PAIR, has_draft=True).left()
    assert told is not None
    assert 23e3 < told < 2.5 * 23e3  # replies that end early make it less
    read = PAIR.model_copy(update={"prompt": {310: 1_860.0}})  # 6 ms a token
    known = Pace(built_in, read, has_draft=True).left()
    assert known is not None
    assert 23e3 < known < told


def test_a_prompt_that_was_read_tells_of_others() -> None:
    read = COST.model_copy(update={"prompt": {508: 120.0 + 500 * 4.0}})
    assert Pace(series("plain"), read, has_draft=True).left() == pytest.approx(120.0 + 92 * 4.0 + 100 * 50.0)
    short = COST.model_copy(update={"prompt": {8: 900.0}})  # no longer than a pass: that is known better
    assert Pace(series("plain"), short, has_draft=True).left() == pytest.approx(READ + 100 * 50.0)


def test_without_costs_it_is_known_after_the_first_reply() -> None:
    pace = Pace(series("plain", "auto"), None, has_draft=False)
    assert pace.left() is None
    pace.add(700.0)
    assert pace.left() == pytest.approx(700.0)
