"""Several graphics cards: which takes which layers, and what attention and passes are counted with there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.plan.machine import machine
from backend.plan.plan import Plan, Request, plans
from backend.plan.request import request_for
from backend.protocol import LoadOptions
from tests.unit.plan.test_plan import GB, by_where, layers_that_fit, published, request

TARGET = published("qwen3-14b")
WHOLE = len(TARGET.layers) + 1


def alone(*cards: float, memory: float = 32) -> Plan:
    here = machine(round(memory * GB), [round(card * GB) for card in cards])
    return plans(request(draft=None), here)[0]


def test_each_card_takes_layers_by_its_own_room() -> None:
    """The last one the output and the last layers, as llama.cpp does."""
    plan = alone(4, 6)
    assert plan.gpu_layers == sum(plan.split) < WHOLE
    layer = TARGET.layers[0] + TARGET.kv(8192) // 40
    buffers = TARGET.compute(8192, 512, 64, flash=True)
    assert plan.taken["GPU 0"] == buffers + plan.split[0] * layer
    assert plan.taken["GPU 1"] == buffers + TARGET.output + (plan.split[1] - 1) * layer
    for name, free in (("GPU 0", 4 * GB), ("GPU 1", 6 * GB)):
        spare = machine(0, [free]).gpus[0].spare
        assert plan.taken[name] <= free - spare < plan.taken[name] + layer


def test_two_cards_hold_less_than_one_of_their_size() -> None:
    """Each has a spare and a buffer of its own."""
    one, two = alone(8).gpu_layers, alone(4, 4).gpu_layers
    assert 0 < two < one
    assert alone(4).gpu_layers < two


def test_where_one_card_takes_all_it_takes_all() -> None:
    assert alone(16, 6).split == (WHOLE, 0)
    assert alone(6, 16).split == (0, WHOLE)
    assert alone(0.2, 16).taken["GPU 0"] == 0


def test_a_card_with_no_room_is_passed_over() -> None:
    assert alone(6, 0.3).split == (layers_that_fit(request(draft=None), machine(32 * GB, [6 * GB])), 0)


def test_the_draft_lies_on_one_card_whole() -> None:
    wanted = request()
    assert wanted.draft is not None
    found = by_where(plans(wanted, machine(32 * GB, [4 * GB, 12 * GB])))
    small = wanted.draft
    draft = small.resident(mapped=True) + small.kv(8192) + small.compute(8192, 64, 32, flash=True)
    assert found["gpu"].split == found["none"].split == (0, WHOLE)
    assert (found["gpu"].taken["GPU 0"], found["none"].taken["GPU 0"]) == (draft, 0)


@given(cards=st.lists(st.integers(0, 12 * GB), min_size=2, max_size=4))
def test_layers_lie_in_order_and_none_is_counted_twice(cards: list[int]) -> None:
    for plan in plans(request(), machine(64 * GB, cards)):
        assert len(plan.split) == len(cards)
        assert sum(plan.split) == plan.gpu_layers <= WHOLE


@pytest.mark.parametrize(
    ("options", "on_card"),
    [
        (LoadOptions(), True),
        (LoadOptions(flash_attention="on"), True),
        (LoadOptions(flash_attention="off"), False),
        (LoadOptions(strict=True), False),
    ],
)
def test_attention_on_a_card_is_counted_as_it_is_set(options: LoadOptions, on_card: bool) -> None:
    wanted = request_for(options, TARGET, published("qwen3-0.6b"), 32_768)
    assert (wanted.card_flash, wanted.card_draft_flash) == (on_card, on_card)
    plan = by_where(plans(wanted, machine(64 * GB, [40 * GB])))["none"]
    caches = 40 * (TARGET.kv(32_768) // 40)
    weights = TARGET.output + sum(TARGET.layers)
    assert plan.taken["GPU 0"] == weights + caches + TARGET.compute(32_768, 512, 64, flash=on_card)


def test_a_pass_beyond_the_narrow_kernels_of_a_card_is_dear() -> None:
    card, memory = machine(0, [GB]).gpus[0], machine(0).memory
    assert card.times(8) < 1.2
    assert card.times(9) > 2
    assert memory.times(9) < 1.1 * memory.times(8)
    sure = Request(TARGET, published("qwen3-0.6b"), 8192, acceptance=0.97)
    assert by_where(plans(sure, machine(64 * GB, [24 * GB])))["gpu"].k <= 7
