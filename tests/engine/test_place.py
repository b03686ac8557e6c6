"""Layers on graphics cards, for cards of every size; no card is needed for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.engine.place import ALL, check_draft, check_memory, place_draft, place_target
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, read_facts
from backend.plan.machine import machine
from backend.plan.needs import of_file
from backend.plan.plan import Request, plans
from backend.plan.request import request_for
from backend.protocol import DeviceInfo, LoadOptions
from backend.text import shown_size

GB = 10**9
MEMORY = 32 * GB


@pytest.fixture(scope="module")
def target(starter_target: Path) -> GgufFacts:
    return read_facts(starter_target)


@pytest.fixture(scope="module")
def draft(starter_draft: Path) -> GgufFacts:
    return read_facts(starter_draft)


def card(free: float) -> DeviceInfo:
    return DeviceInfo(name="GPU0", description="a card", kind="gpu", free=round(free * GB), total=24 * GB)


CPU = DeviceInfo(name="CPU", description="a processor", kind="cpu", free=MEMORY, total=MEMORY)


def test_without_a_card_nothing_is_decided(target: GgufFacts, draft: GgufFacts) -> None:
    assert place_target(LoadOptions(), target, draft, [CPU], MEMORY) == LoadOptions()


def test_what_a_person_asks_for_stands(target: GgufFacts, draft: GgufFacts) -> None:
    asked = LoadOptions(gpu_layers=3)
    assert place_target(asked, target, draft, [CPU, card(8)], MEMORY) == asked


def test_a_large_card_takes_both(target: GgufFacts, draft: GgufFacts) -> None:
    placed = place_target(LoadOptions(), target, draft, [CPU, card(8)], MEMORY)
    assert placed == LoadOptions(gpu_layers=29)


def test_room_is_left_for_the_draft_where_it_gains_more_than_the_layers(target: GgufFacts, draft: GgufFacts) -> None:
    """A card that holds all of the target but not both."""
    request = Request(of_file(target), of_file(draft), 8192)
    for free in (1.6, 1.8, 2.0, 2.2):
        best = next(p for p in plans(request, machine(MEMORY, [round(free * GB)])) if p.where != "none")
        assert place_target(LoadOptions(), target, draft, [card(free)], MEMORY).gpu_layers == best.gpu_layers


def test_a_small_card_takes_some_layers(target: GgufFacts, draft: GgufFacts) -> None:
    placed = place_target(LoadOptions(), target, draft, [card(1.2)], MEMORY)
    assert placed.gpu_layers is not None
    assert 0 < placed.gpu_layers < 29
    tiny = place_target(LoadOptions(), target, draft, [card(0.05)], MEMORY)
    assert tiny.gpu_layers == 0


def test_a_longer_context_leaves_room_for_fewer_layers(target: GgufFacts) -> None:
    short, long = (
        place_target(LoadOptions(n_ctx=n), target, None, [card(1.2)], MEMORY).gpu_layers for n in (2048, 32_768)
    )
    assert short is not None
    assert long is not None
    assert long < short


def test_several_cards_are_told_their_layers(target: GgufFacts) -> None:
    shared = place_target(LoadOptions(), target, None, [CPU, card(0.9), card(1)], MEMORY)
    assert shared.gpu_split is not None
    assert shared.gpu_layers == sum(shared.gpu_split) <= 29
    assert all(shared.gpu_split)
    assert place_target(LoadOptions(), target, None, [card(0.9), card(8)], MEMORY).gpu_split == (0, 29)
    assert place_target(LoadOptions(), target, None, [card(8)], MEMORY).gpu_split is None
    asked = LoadOptions(gpu_layers=20)
    assert place_target(asked, target, None, [card(0.9), card(8)], MEMORY) == asked, "a person has shared them out"


def test_what_fits_is_not_refused(target: GgufFacts, draft: GgufFacts) -> None:
    check_memory(LoadOptions(), target, draft, [CPU], 4 * GB)
    check_memory(LoadOptions(), target, draft, [card(8)], 2 * GB)


@pytest.mark.parametrize(
    ("memory", "n_ctx", "hint", "nearest"),
    [
        (2.0, None, "It fits without a draft model.", {"draft": None}),
        (4.0, 1_000_000, "It fits with a context of 32,768 tokens.", {"n_ctx": 32_768}),
        (0.9, None, "Choose a smaller model.", {}),
    ],
)
def test_what_would_not_fit_is_refused_with_the_nearest_that_does(
    target: GgufFacts, draft: GgufFacts, memory: float, n_ctx: int | None, hint: str, nearest: dict[str, int | None]
) -> None:
    with pytest.raises(EngineError, match=hint) as caught:
        check_memory(LoadOptions(n_ctx=n_ctx), target, draft, [CPU], round(memory * GB))
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert f"and {shown_size(round(memory * GB))} are free" in caught.value.message
    assert caught.value.details["needed"] > caught.value.details["free"]
    assert caught.value.details["nearest"] == nearest


def test_no_context_is_offered_that_the_model_was_not_trained_on(target: GgufFacts) -> None:
    assert target.context_length == 32_768
    with pytest.raises(EngineError, match="It fits with a context of 32,768 tokens"):
        check_memory(LoadOptions(n_ctx=1_000_000), target, None, [CPU], 16 * GB)


def test_what_cannot_be_read_from_disk_is_refused_however_much_one_insists(target: GgufFacts, draft: GgufFacts) -> None:
    """Caches and buffers: the system would end the engine, or another program."""
    for wanted in (check_memory, place_target):
        with pytest.raises(EngineError) as caught:
            wanted(LoadOptions(n_ctx=32_768), target, draft, [CPU], GB // 2, anyway=True)
        assert caught.value.code is ErrorCode.TOO_LARGE
        assert caught.value.details["anyway"] is False
        assert "Loaded anyway" not in caught.value.message
    check_memory(LoadOptions(), target, draft, [CPU], round(1.2 * GB), anyway=True)
    with pytest.raises(EngineError, match="Loaded anyway") as caught:
        check_memory(LoadOptions(), target, draft, [CPU], round(1.2 * GB))
    assert caught.value.details["anyway"] is True


def test_nothing_is_read_from_disk_unasked(target: GgufFacts) -> None:
    """Less may turn out to be free than the check counted on."""
    with pytest.raises(EngineError) as caught:
        place_target(LoadOptions(), target, None, [CPU], round(1.2 * GB))
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert place_target(LoadOptions(), target, None, [CPU], round(1.2 * GB), anyway=True).streamed > 0


def test_layers_that_a_person_put_elsewhere_are_not_planned_on_a_card(target: GgufFacts, draft: GgufFacts) -> None:
    with pytest.raises(EngineError):
        check_memory(LoadOptions(gpu_layers=0), target, draft, [card(8)], 2 * GB)
    check_memory(LoadOptions(gpu_layers=20), target, draft, [card(8)], 2 * GB)
    placed = place_target(LoadOptions(gpu_layers=0), target, None, [card(8)], GB, anyway=True)
    assert (placed.gpu_layers, placed.streamed > 0) == (0, True)


def test_memory_that_a_card_shares_is_not_counted_twice(target: GgufFacts, draft: GgufFacts) -> None:
    shared = DeviceInfo(name="iGPU", description="in the processor", kind="igpu", free=2 * GB, total=16 * GB)
    assert place_target(LoadOptions(), target, draft, [shared], MEMORY) == LoadOptions()
    with pytest.raises(EngineError):
        check_memory(LoadOptions(), target, draft, [shared], 2 * GB)


def test_a_draft_that_does_not_fit_is_refused_alone(draft: GgufFacts) -> None:
    check_draft(LoadOptions(), draft, 8192, 2 * GB)
    check_draft(LoadOptions(draft_gpu_layers=ALL), draft, 8192, 0)
    with pytest.raises(EngineError, match="Choose a smaller one, or none") as caught:
        check_draft(LoadOptions(), draft, 8192, GB // 2)
    assert caught.value.code is ErrorCode.OUT_OF_MEMORY


def test_a_drafts_buffer_is_that_of_its_own_cache(target: GgufFacts, draft: GgufFacts) -> None:
    """Without flash attention it holds the scores of all heads: the target's attention does not matter."""
    alike = request_for(LoadOptions(kv_type="q8_0", draft_kv_type="q8_0"), of_file(target), of_file(draft))
    apart = request_for(LoadOptions(kv_type="q8_0"), of_file(target), of_file(draft))
    assert (apart.flash, apart.draft_flash, alike.draft_flash) == (True, False, True)
    for memory in (2.4, 2.5, 2.6, 2.7):
        room = machine(round(memory * GB))
        assert len(plans(apart, room)) <= len(plans(alike, room))


def test_a_draft_alone_goes_to_a_card_that_holds_it_whole(draft: GgufFacts) -> None:
    assert place_draft(LoadOptions(), draft, 8192, [CPU]).draft_gpu_layers is None
    placed = place_draft(LoadOptions(), draft, 8192, [card(0.2), card(4)])
    assert (placed.draft_gpu_layers, placed.draft_gpu) == (ALL, 1)
    assert place_draft(LoadOptions(), draft, 8192, [card(4)]) == LoadOptions(draft_gpu_layers=ALL)
    assert place_draft(LoadOptions(), draft, 8192, [card(0.2), card(0.3)]).draft_gpu_layers == 0
    assert place_draft(LoadOptions(draft_gpu_layers=5), draft, 8192, [card(0.2)]).draft_gpu_layers == 5


@pytest.mark.parametrize("free", [(2.2, 8), (0.2, 2.2, 8)])
def test_a_draft_goes_to_the_card_on_which_the_plan_left_room(
    target: GgufFacts, draft: GgufFacts, free: tuple[float, ...]
) -> None:
    request = request_for(LoadOptions(), of_file(target), of_file(draft), 8192)
    here = machine(MEMORY, [round(gb * GB) for gb in free])
    plan = next(p for p in plans(request, here) if p.where == "gpu")
    own = free.index(2.2)
    assert plan.split[own] == 0, "the target lies on another"
    assert plan.taken[f"GPU {own}"] > 0
    left = [
        gb - layers / 29 * plan.taken[f"GPU {i}"] / GB
        for i, (gb, layers) in enumerate(zip(free, plan.split, strict=True))
    ]
    assert left[own] < max(left)
    assert place_draft(LoadOptions(), draft, 8192, [card(gb) for gb in left]).draft_gpu == own


def test_what_is_larger_than_the_memory_is_streamed(target: GgufFacts, draft: GgufFacts) -> None:
    assert place_target(LoadOptions(), target, draft, [CPU], 4 * GB) == LoadOptions()
    for memory, where in ((1.8, "memory"), (1.2, "none")):  # in the second not even the draft has room
        found = plans(Request(of_file(target), of_file(draft), 8192), machine(round(memory * GB)))
        plan = next(p for p in found if p.where == where)
        assert plan.streamed > 0
        placed = place_target(LoadOptions(), target, draft, [CPU], round(memory * GB), anyway=True)
        assert placed == LoadOptions(streamed=plan.streamed)
