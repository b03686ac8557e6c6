"""What passes cost: measured, between, beyond, drifting, and of an earlier run."""

from __future__ import annotations

import json
import sys
import threading

import numpy as np
import pytest

from backend.speculation.cost import PassCosts
from tests.speculation.loop import costs


def test_costs_are_interpolated_between_and_extrapolated_beyond_what_was_measured() -> None:
    table = costs(n1=10, n4=16, n8=30)
    assert [table.at(n) for n in (1, 2, 3, 4, 6, 8)] == pytest.approx([10, 12, 14, 16, 23, 30])
    assert table.at(10) == pytest.approx(37)  # along the last slope
    assert table.measured == [1, 4, 8]
    assert table.table() == pytest.approx({1: 10, 4: 16, 8: 30})


def test_one_measured_size_tells_the_others_by_their_tokens() -> None:
    """Too cheap rather than too dear: a size that is tried is measured."""
    table = costs(n4=20)
    assert table.at(1) == pytest.approx(5)
    assert table.at(8) == pytest.approx(40)


def test_a_falling_last_stair_is_not_continued_downwards() -> None:
    """A cliff's far side may be cheaper than its near side; beyond it nothing gets cheaper for being longer."""
    table = costs(n1=10, n8=50, n16=30)
    assert table.at(32) == pytest.approx(30)
    for _ in range(2):
        table.observe(8, 50)
    assert table.at(8) == pytest.approx(50), "seen often, it is believed"
    assert table.at(32) == pytest.approx(30)


def test_one_slow_pass_does_not_mark_a_size_as_dear_for_good() -> None:
    table = costs(n1=29, n2=47, n4=74, n8=130, n6=400)
    assert [table.at(n) for n in (5, 6, 7)] == pytest.approx([102, 130, 130])
    table.observe(16, 5000)
    assert table.at(16) == pytest.approx(260), "the same tokens in two passes"
    new = PassCosts()
    new.restore(json.loads(json.dumps(table.to_json())))
    assert new.at(6) == pytest.approx(130)


def test_nothing_measured_is_said_not_guessed() -> None:
    table = PassCosts()
    assert not table.known
    with pytest.raises(LookupError, match="no pass"):
        table.at(1)


def test_medians_ignore_outliers_and_follow_drift() -> None:
    table = PassCosts()
    for ms in (10, 10, 400, 11, 10):
        table.observe(1, ms)
    assert table.at(1) == pytest.approx(10)
    for _ in range(9):
        table.observe(1, 20)
    assert table.at(1) == pytest.approx(20)


def test_larger_sizes_follow_the_one_token_passes_when_bandwidth_drifts() -> None:
    table = costs(n1=10, n4=15)
    for _ in range(9):
        table.observe(1, 20)
    assert table.at(4) == pytest.approx(30)


def test_order_of_measuring_does_not_matter() -> None:
    assert costs(n4=15, n1=10).table() == pytest.approx(costs(n1=10, n4=15).table())


def test_each_context_length_has_its_own_costs_and_borrows_until_it_has_measured() -> None:
    table = costs(n1=10, n4=20)
    assert table.enter(3000)
    assert table.table() == pytest.approx({1: 10, 4: 20})
    assert table.measured == []
    assert not table.untouched, "another bucket was measured"
    for _ in range(2):
        table.observe(1, 30)
    assert table.at(4) == pytest.approx(60), "a borrowed size follows what is measured here"
    table.observe(4, 45)
    assert (table.at(4), table.measured) == (pytest.approx(45), [1, 4])
    assert not table.enter(4000), "the same bucket"
    assert table.enter(100)
    assert table.table() == pytest.approx({1: 10, 4: 20})
    assert table.enter(3000)
    assert table.at(4) == pytest.approx(45)


def test_sizes_are_not_measured_against_a_unit_of_other_circumstances() -> None:
    """Five passes of eight in a longer context before the first plain one: they must not look five times as dear."""
    table = costs(n1=30, n8=130)
    table.enter(3000)
    for _ in range(5):
        table.observe(8, 150)
    for _ in range(2):
        table.observe(1, 45)
    assert table.at(8) == pytest.approx(195)
    for _ in range(3):
        table.observe(8, 150)
    assert table.at(8) == pytest.approx(150)


@pytest.mark.parametrize(("shorter", "longer"), [(512, 513), (1024, 1025), (32_768, 32_769)])
def test_buckets_of_context_lengths_end_at_powers_of_two(shorter: int, longer: int) -> None:
    table = costs()
    table.enter(shorter)
    assert not table.enter(shorter - 100)
    assert table.enter(longer)


def test_costs_of_an_earlier_run_hold_until_something_is_measured() -> None:
    old = costs(n1=10, n4=20, n16=40)
    old.enter(5000)
    old.observe(1, 10)
    old.observe(4, 35)
    new = PassCosts()
    new.restore(json.loads(json.dumps(old.to_json())))
    assert new.known
    assert new.untouched
    assert new.measured == []
    assert new.table() == pytest.approx({1: 10, 4: 20, 16: 40})
    for _ in range(2):
        new.observe(1, 20)
    assert new.table() == pytest.approx({1: 20, 4: 40, 16: 80})
    new.enter(5000)
    assert new.at(4) == pytest.approx(70), "the machine is half as fast as it was, in long contexts too"


def test_two_replies_at_a_border_stay_on_one_side_of_it() -> None:
    """Compare's two sides take turns, one some tokens ahead: their passes must not unsettle each other's costs."""
    table = costs(n1=10)
    assert table.enter(515)
    assert not any(table.enter(length) for length in (505, 520, 510, 530, 400))
    assert table.enter(380)


def test_costs_can_be_asked_for_while_passes_are_observed() -> None:
    """The engine thread observes, the server's thread shows the table up to ten times a second."""
    table, asked, over = costs(n1=10), 0, threading.Event()

    def observe() -> None:
        random = np.random.default_rng(0)
        for _ in range(20_000):
            table.observe(int(random.integers(1, 17)), float(random.uniform(5, 50)))
        over.set()

    observing = threading.Thread(target=observe)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        observing.start()
        while not over.is_set():
            shown = table.table()
            assert shown[1] > 0
            assert all(table.at(n) > 0 for n in range(1, 20))
            asked += 1
    finally:
        sys.setswitchinterval(before)
        observing.join()
    assert asked > 10


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        {"0": 3, "x": {"unit": 1.0, "ratio": {"1": 1.0}}, "99": {"unit": 1.0, "ratio": {"1": 1.0}}},
        {"0": {"unit": 1.0, "ratio": {}}},
        {"0": {"unit": 1.0, "ratio": {"2": 1.5}}},
        {"0": {"unit": float("nan"), "ratio": {"1": 1.0}}},
        {"0": {"unit": 1.0, "ratio": {"1": 1.0, "2": -1.0}}},
        {"0": {"unit": 1.0, "ratio": {"1": 1.0, "-2": 1.0}}},
        {"0": {"unit": 1.0, "ratio": {"1": 1.0, "two": 1.0}}},
    ],
)
def test_damaged_costs_are_left_out(stored: object) -> None:
    table = PassCosts()
    table.restore(stored)
    assert not table.known
