"""What is predicted of copies and of margins, and what outcomes make of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.speculation.calibration import BucketCounts, MarginLogistic


def test_bucket_counts_learn_each_position_alone() -> None:
    counts = BucketCounts()
    for _ in range(200):
        counts.observe(2, 0, True)
        counts.observe(2, 1, False)
    counts.new_text()
    first, second = counts.expect(2, 2)
    assert first > 0.95
    assert second < 0.1
    assert counts.expect(1, 2) == BucketCounts().expect(1, 2)


def test_every_length_of_match_has_its_own_bucket() -> None:
    counts = BucketCounts()
    buckets = [counts.bucket(match) for match in (2, 3, 5, 9, 20)]
    assert buckets == list(range(5))
    assert [len(counts.expect(b, 2)) for b in buckets] == [2] * 5


def test_what_was_learnt_survives_a_restart_and_damage_does_not() -> None:
    counts, margins = BucketCounts(), MarginLogistic()
    for i in range(128):  # the line was just fitted to all of them
        counts.observe(2, i % 4, i % 3 > 0)
        margins.observe(i % 5, i % 5 > 1)
    again, margins_again = BucketCounts(), MarginLogistic()
    again.restore(json.loads(json.dumps(counts.to_json())))
    margins_again.restore(json.loads(json.dumps(margins.to_json())))
    counts.new_text()
    margins.new_text()
    margins_again.new_text()
    assert again.expect(2, 8) == counts.expect(2, 8)
    # numpy adds in another order where an array lies otherwise in memory
    assert [margins_again(m) for m in range(5)] == pytest.approx([margins(m) for m in range(5)], rel=1e-12)
    assert margins_again.mean == margins.mean
    fresh = BucketCounts().to_json()
    for damaged in (
        None,
        {},
        {"hits": 1, "tries": 2},
        fresh | {"hits": [[2.0] * 3]},
        fresh | {"tries": fresh["hits"][:2]},
        fresh | {"hits": [[10**400] * 16] * 5},
    ):
        again = BucketCounts()
        again.restore(damaged)
        assert again.to_json() == fresh
    for wrong in (
        None,
        {"mean": "x"},
        {"mean": 0.5, "data": [[-1.0, 1]]},
        {"mean": 0.5, "data": [[float("nan"), 1]]},
        {"mean": 10**400, "data": []},
        {"mean": 7, "data": []},
    ):
        again_margins = MarginLogistic()
        again_margins.restore(wrong)
        assert again_margins.to_json() == MarginLogistic().to_json()


def test_a_chat_after_an_edit_soon_stops_believing_what_the_edit_taught() -> None:
    """Six failed copies of any length must weigh against a hundred tokens that held in the reply before."""
    counts = BucketCounts()
    for i in range(100):
        counts.observe(1, i % 16, True)
    counts.new_text()
    (taught,), (other,) = counts.expect(1, 1), counts.expect(0, 1)
    assert taught > 0.8
    for _ in range(6):
        counts.observe(0, 0, False)
    assert counts.expect(1, 1)[0] < taught - 0.1
    assert counts.expect(0, 1)[0] < other - 0.15
    counts.new_text()
    assert counts.expect(1, 1) == pytest.approx([taught])  # what was learnt for good is not lost


def test_a_draft_is_doubted_in_a_text_it_guesses_badly_and_believed_in_the_next() -> None:
    margins = MarginLogistic()
    for i in range(300):
        margins.observe(2.0 + i % 5, i % 10 > 0)
    margins.new_text()
    taught = margins(3.0)
    assert taught > 0.8
    for _ in range(5):
        margins.observe(3.0, False)
    assert margins(3.0) < taught - 0.2
    margins.new_text()
    assert margins(3.0) == pytest.approx(taught, abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40), st.booleans()), max_size=300))
def test_what_lookup_predicts_is_a_probability_whatever_happened(outcomes: list[tuple[int, int, bool]]) -> None:
    counts = BucketCounts()
    for bucket, position, hit in outcomes:
        before = counts.expect(bucket, position + 1)[-1]
        counts.observe(bucket, position, hit)
        after = counts.expect(bucket, position + 1)[-1]
        assert 0.0 < after < 1.0
        assert (after >= before) if hit else (after <= before)


def test_leads_beyond_all_doubt_do_not_spoil_the_others() -> None:
    """Under a narrow top-p half of the draft's laws have one token only, and all of these hold."""
    rng = np.random.default_rng(1)
    for share in (0.99, 0.97, 0.9):
        calibration = MarginLogistic()
        for _ in range(600):
            sure = rng.random() < 0.5
            margin = 99.0 if sure else float(rng.exponential(1.0))
            calibration.observe(margin, sure or rng.random() < share - 0.2)
        calibration.new_text()
        assert abs(calibration(0.3) - (share - 0.2)) < 0.12


def test_one_miss_among_sure_tokens_and_then_doubtful_ones() -> None:
    rng = np.random.default_rng(0)
    calibration = MarginLogistic()
    for _ in range(400):
        calibration.observe(12 + rng.random(), True)
    calibration.observe(1.0, False)
    for _ in range(400):
        calibration.observe(2 * rng.random(), rng.random() < 0.4)
    calibration.new_text()
    assert calibration(1.0) == pytest.approx(0.4, abs=0.12)
    assert calibration(12.0) > 0.95


def test_one_miss_after_a_long_copy_does_not_overturn_everything() -> None:
    counts = BucketCounts()
    for i in range(1000):
        counts.observe(4, i % 16, True)
    before = counts.expect(0, 1)[0]
    counts.observe(4, 0, False)
    assert counts.expect(4, 1)[0] > 0.8
    assert counts.expect(0, 1)[0] > 0.5 * before


def test_margin_logistic_learns_that_narrow_margins_fail() -> None:
    calibration = MarginLogistic()
    for _ in range(100):
        calibration.observe(5.0, True)
        calibration.observe(0.1, False)
    calibration.new_text()
    assert calibration(5.0) > 0.9
    assert calibration(0.1) < 0.2
    assert 0 <= calibration(-1e9) <= calibration(0.0) <= calibration(1e9) <= 1
