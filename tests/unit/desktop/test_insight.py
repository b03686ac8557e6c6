"""The panel's numbers: known figures, and sentences that never claim what was not measured."""

from __future__ import annotations

import itertools

import pytest

from backend.equations import expected_tokens, flat_speedup
from backend.protocol import CostTable, Timings
from desktop.models import insight

COST = CostTable(target={1: 50.0, 2: 60.0, 4: 80.0, 8: 120.0}, draft_step=5.0)


@pytest.mark.parametrize(("alpha", "k", "tokens", "speedup"), [(0.8, 4, 3.36, 2.8), (0.6, 4, 2.31, 1.9)])
def test_known_figures(alpha: float, k: int, tokens: float, speedup: float) -> None:
    assert expected_tokens(alpha, k) == pytest.approx(tokens, abs=0.005)
    assert flat_speedup(alpha, k, 0.05) == pytest.approx(speedup, abs=0.05)
    assert f"{tokens:.2f} tokens a pass" in insight.says_what_if(alpha, k, 0.05, None)


def test_eight_gain_two_over_four_where_nine_of_ten_stand() -> None:
    assert expected_tokens(0.9, 8) - expected_tokens(0.9, 4) == pytest.approx(2.03, abs=0.005)


def test_what_if_uses_the_passes_of_this_machine() -> None:
    """k = 3: a pass over four tokens is 80 ms here, three steps of 5 ms, against 50 ms plain."""
    here = 50.0 * expected_tokens(0.8, 3) / (80.0 + 15.0)
    assert f"{here:.2f}× with the passes of this machine" in insight.says_what_if(0.8, 3, 0.1, COST)
    assert insight.says_what_if(0.8, 0, 0.1, COST).startswith("1.00 tokens a pass; 1.00× ")


def rounds(n: int, ms: float, emitted: int) -> list[dict[str, object]]:
    one = {"draft_ms": 0.2 * ms, "verify_ms": 0.7 * ms, "host_ms": 0.1 * ms, "emitted": emitted}
    return [{"round": i} | one for i in range(n)]


def test_the_rate_is_that_of_the_last_moments() -> None:
    steady = insight.rate_points(rounds(20, 100.0, 3))
    assert all(rate == pytest.approx(30.0) for _, rate in steady)
    assert steady[-1][0] == pytest.approx(2.0)
    turned = insight.rate_points(rounds(10, 100.0, 3) + rounds(20, 100.0, 1))
    assert turned[-1][1] == pytest.approx(10.0)
    first = {"round": 0, "verify_ms": 0.0, "emitted": 1}
    assert insight.rate_points([first, *rounds(20, 100.0, 3)]) == steady
    assert insight.rate_points([]) == []
    assert insight.rate_points([{"emitted": None, "draft_ms": "x"}]) == []


def test_the_timeline_is_rounds_without_gaps_and_counts_what_they_brought() -> None:
    made = rounds(12, 100.0, 3)
    bars = insight.timeline(made)
    assert len(bars) == 12
    for a, b in itertools.pairwise(bars):
        assert b.start == pytest.approx(a.start + a.draft + a.verify + a.host)
    said = "Rounds 0 to 11 of 59, drafting and the pass: 36 tokens in 1,200 ms"
    assert insight.says_timeline(made, 59, None) == f"{said}."
    assert insight.says_timeline(made, 59, 50.0) == f"{said}; plain decoding, above, makes 24, 50 ms each."
    assert insight.says_timeline([], 0, 50.0) == "No rounds yet."
    prompts_own = {"round": 0, "verify_ms": 0.0, "emitted": 1}
    assert insight.passes([prompts_own, *made]) == made


def drafted() -> Timings:
    made = Timings(predicted_n=41, predicted_ms=800.0, passes=16, draft_n=40, draft_n_accepted=24, rounds_mismatch=6)
    made.by_source = {"draft": [10, 40, 24]}
    made.drafted_per_position, made.accepted_per_position = [10, 10, 10, 10, 0], [9, 7, 5, 3, 0]
    return made


def test_sentences_hold_what_came_beside_what_was_expected() -> None:
    timings = drafted()
    assert insight.usual_length(timings) == 4
    assert insight.position_shares(timings) == [0.9, 0.7, 0.5, 0.3]
    one = insight.says_equation_one(timings)
    assert "Acceptance 0.80 at 4 drafted" in one
    assert "expects 3.36 tokens a pass" in one
    assert "2.50 came" in one
    two = insight.says_equation_two(timings, COST)
    assert two == f"Eq. (2) expects {(90.0 + 20.0) / 3.3616:.1f} ms a token of such rounds; the reply took 20.0."
    assert ("pass over 8", "120.0", "2.40") in insight.cost_rows(COST)
    assert ("draft step", "5.0", "0.10") in insight.cost_rows(COST)


def test_what_is_not_known_is_not_said() -> None:
    assert insight.says_equation_one(Timings()) == "Nothing was drafted in this reply."
    assert insight.says_equation_two(Timings(), COST) == ""
    plain = Timings(predicted_n=11, predicted_ms=500.0, passes=10)
    assert insight.says_equation_two(plain, COST) == "It took 50.0 ms a token."
    assert insight.cost_rows(None) == []
    assert insight.says_shares(None) == "No rounds yet."
    assert "this machine" not in insight.says_what_if(0.5, 2, 0.1, CostTable(target={}))
