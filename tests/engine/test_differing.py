"""What is said of two tokens where texts part."""

from __future__ import annotations

import numpy as np
import pytest

from backend.engine.differing import beyond_the_edge, explanation
from backend.protocol import Sampling
from backend.sampling.chain import Chain, Row
from backend.speculation.verify import Coupled

HISTORY = [1, 2, 3]


def rows_on_both_sides_of_a_cut(sampling: Sampling) -> tuple[Row, Row, int]:
    """Scores that differ by rounding, between which a token falls out of the law; the token."""
    row = np.array([4.0, 3.9, 3.6, 2.0, -5.0, -6.0], dtype=np.float32)
    for _ in range(4000):  # the leader rises, step by step, until the next one's rounding decides on a survivor
        other = row + np.float32([0.05, 0, 0, 0, 0, 0])
        before = set(Chain(sampling).law(row, HISTORY).ids.tolist())
        after = set(Chain(sampling).law(other, HISTORY).ids.tolist())
        if (lost := before - after) and len(after) > 1:
            return row, other, lost.pop()
        row[0] += np.float32(0.001)
    raise AssertionError("no cut was met")


@pytest.mark.parametrize(
    "sampling",
    [Sampling(temperature=0.7, top_p=0.8, top_k=0), Sampling(temperature=0.7, top_p=1.0, min_p=0.3, top_k=0)],
)
def test_a_token_on_the_edge_explains_any_lead(sampling: Sampling) -> None:
    one, several, lost = rows_on_both_sides_of_a_cut(sampling)
    for seed in range(1000):
        first, lead = Coupled(Chain(sampling), seed).choose(one, HISTORY, len(HISTORY))
        second, other_lead = Coupled(Chain(sampling), seed).choose(several, HISTORY, len(HISTORY))
        if first == lost != second and min(lead or 0, other_lead or 0) > 1:
            break
    else:
        raise AssertionError("no seed drew the token with a clear lead")
    why = explanation(one, HISTORY, sampling, seed, first, second, (lead or 0, other_lead or 0))
    assert why.startswith("On the edge")
    assert "plain decoding's token" in why
    assert "inside it in plain decoding's pass" in why
    swapped = explanation(several, HISTORY, sampling, seed, second, first, (other_lead or 0, lead or 0))
    assert "speculation's token" in swapped
    assert "outside it in plain decoding's pass" in swapped


def test_the_edge_of_top_k_is_the_next_score() -> None:
    row = np.array([5.0, 4.0, 3.0, 1.0], dtype=np.float32)
    sampling = Sampling(temperature=1.0, top_k=2, top_p=1.0)
    assert [beyond_the_edge(row, sampling, token) for token in range(4)] == [-2.0, -1.0, 1.0, 3.0]


def test_without_filters_nothing_has_an_edge_and_a_clear_lead_is_a_fault() -> None:
    row = np.array([5.0, 4.0, 3.0, 1.0], dtype=np.float32)
    greedy = Sampling(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0)
    assert beyond_the_edge(row, greedy, 3) == -np.inf
    assert explanation(row, HISTORY, greedy, 0, 0, 1, (1.0, 2.0)) == (
        "Unexplained: plain decoding's token led the other by 1, too much for rounding. Please report this."
    )
    assert explanation(row, HISTORY, greedy, 0, 0, 1, (0.02, 2.0)).startswith("Unexplained"), "no rounding"
    assert explanation(row, HISTORY, greedy, 0, 0, 1, (0.02, 0.4)).startswith("A near-tie")


def test_a_tie_is_judged_in_logits_whatever_the_temperature() -> None:
    row = np.array([5.0, 4.0, 3.0, 1.0], dtype=np.float32)
    hot = Sampling(temperature=2.0, top_k=0, top_p=1.0, min_p=0.0)
    cold = Sampling(temperature=0.1, top_k=0, top_p=1.0, min_p=0.0)
    assert explanation(row, HISTORY, hot, 0, 0, 1, (0.4, 0.4)).startswith("Unexplained")
    assert explanation(row, HISTORY, cold, 0, 0, 1, (4.0, 4.0)).startswith("A near-tie")
