"""Eq. (1) and Eq. (2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.equations import expected_tokens, ms_per_token


def test_expected_tokens_known_figures() -> None:
    assert expected_tokens(0.8, 4) == pytest.approx(3.3616)
    assert expected_tokens(0.6, 4) == pytest.approx(2.3056)
    assert expected_tokens(0.9, 8) - expected_tokens(0.9, 4) == pytest.approx(2.03, abs=0.005)
    assert expected_tokens(0.0, 7) == 1.0
    assert expected_tokens(1.0, 7) == 8.0
    assert expected_tokens(0.5, 0) == 1.0


@given(st.floats(0, 1), st.integers(0, 30))
def test_expected_tokens_is_the_sum_of_running_products(alpha: float, k: int) -> None:
    assert expected_tokens(alpha, k) == pytest.approx(sum(alpha**i for i in range(k + 1)))


def test_ms_per_token() -> None:
    assert ms_per_token(50.0, 4, 5.0, expected_tokens(0.8, 4)) == pytest.approx(70 / 3.3616)
    assert ms_per_token(29.0, 0, 12.0, 1.0) == 29.0
