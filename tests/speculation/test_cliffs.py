"""A card's kernels for few columns end at 8: a pass over 9 tokens costs much more than one over 8."""

from __future__ import annotations

import pytest

from backend.equations import LONGEST
from backend.protocol import Speculation
from tests.speculation.loop import costs
from tests.speculation.test_policy import Stated, policy

USUAL, ON_CARD = (1, 2, 4, 8, 16), (1, 2, 4, 8, 9, 16)


def cliff(height: float, n: int) -> float:
    """Milliseconds of a pass over ``n`` tokens."""
    return (10 + 0.1 * n) * (height if n > 8 else 1)


def chosen(height: float, acceptance: float, sizes: tuple[int, ...], rounds: int = 1) -> list[int]:
    """Draft lengths, each round's pass observed."""
    table = costs(**{f"n{n}": cliff(height, n) for n in sizes})
    chooser, lengths = policy(Speculation(), table), []
    for _ in range(rounds):
        k = chooser.plan([1], [Stated("lookup", [acceptance] * LONGEST, step=0.0)], LONGEST).k
        table.observe(k + 1, cliff(height, k + 1))
        lengths.append(k)
    return lengths


@pytest.mark.parametrize("acceptance", [0.8, 0.85, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("height", [1.2, 1.3, 1.5])
def test_a_length_stops_before_the_cliff_or_goes_far_beyond(height: float, acceptance: float) -> None:
    rates = {}
    for k in range(LONGEST + 1):
        tokens = sum(acceptance**i for i in range(k + 1))
        rates[k] = tokens / (cliff(height, k + 1) + (1.0 if k else 0.0))
    (length,) = chosen(height, acceptance, ON_CARD)
    assert rates[length] > 0.97 * max(rates.values())
    assert length < 8 or length > 10 or rates[length] == max(rates.values())


def test_a_cliff_that_was_not_measured_is_walked_over_a_few_times_only() -> None:
    """Between 8 and 16 a pass is taken for a mean of both until it was made: so cards measure 9 at the load."""
    assert chosen(1.3, 0.85, ON_CARD)[0] == 7
    lengths = chosen(1.3, 0.85, USUAL, 20)
    assert lengths[0] >= 8
    assert sum(k >= 8 for k in lengths) <= 4
    assert set(lengths[-10:]) == {7}


@pytest.mark.parametrize("acceptance", [0.8, 0.9, 0.99])
def test_a_cliff_of_more_than_two_passes_is_believed_once_it_was_seen_a_few_times(acceptance: float) -> None:
    """Until then one slow pass could be an accident: the same tokens in two passes bound it."""
    assert set(chosen(2.2, acceptance, ON_CARD, 20)[-10:]) == {7}


def test_no_automatic_length_reaches_the_columns_from_which_weights_are_copied_to_a_card() -> None:
    assert LONGEST + 1 < 32
