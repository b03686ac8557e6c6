"""Forecasts from hits, by hand and against the loop itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.forecast import forecast, tokens_per_pass
from backend.protocol import CostTable

COSTS = CostTable(target={1: 50.0, 2: 60.0, 4: 80.0, 8: 120.0, 16: 200.0}, draft_step=5.0)


def test_tokens_per_pass_by_hand() -> None:
    # after the first token: 1 1 0 | 1 1 (bonus) … with k = 2: [11 + 0 by the target], [11 + 1]
    assert tokens_per_pass(["0110111"], 2) == pytest.approx(6 / 2)
    assert tokens_per_pass(["0110111"], 1) == pytest.approx(6 / 4)  # 1+1, 0, 1+1, 1
    assert tokens_per_pass(["10000"], 8) == 1.0
    assert tokens_per_pass(["1"], 4) == 1.0, "one token costs no pass"
    assert tokens_per_pass(["1111", "1000"], 3) == pytest.approx(6 / (1 + 3))


@given(st.lists(st.text("01", min_size=1, max_size=60), min_size=1, max_size=5), st.integers(1, 16))
def test_tokens_per_pass_is_from_one_to_k_plus_one(replies: list[str], k: int) -> None:
    assert 1.0 <= tokens_per_pass(replies, k) <= k + 1


def test_a_perfect_draft_promises_what_equation_two_says() -> None:
    found = forecast("d", ["1" * 1000], COSTS)
    assert found.acceptance == 1.0
    assert found.step == pytest.approx(0.1)
    assert found.speedups[3] == pytest.approx(50 / ((80 + 15) / (999 / 250)), rel=1e-3)
    assert found.best == 16, "each further token costs less than it brings"
    assert found.speedup == max(found.speedups.values())


def test_a_draft_that_does_not_pay_has_no_best_length() -> None:
    found = forecast("d", ["0" * 100], COSTS)
    assert (found.best, found.speedup, found.acceptance) == (0, 1.0, 0.0)
    assert all(s < 1 for s in found.speedups.values())


def test_strict_mode_bounds_the_lengths() -> None:
    found = forecast("d", ["1" * 1000], COSTS, longest=2)
    assert set(found.speedups) == {1, 2}
    assert found.best == 2
    plain = forecast("d", ["1" * 1000], COSTS, longest=0)
    assert (plain.best, plain.speedup, plain.acceptance) == (0, 1.0, 1.0), "only one-token passes are exact"
