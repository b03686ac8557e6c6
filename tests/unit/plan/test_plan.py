"""Plans for pairs on machines of every size: what lies where, what it displaces, and which is chosen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.equations import expected_tokens, ms_per_token
from backend.library.catalogue import shipped_catalogue
from backend.plan.machine import Machine, machine
from backend.plan.needs import Needs, of_catalogue
from backend.plan.plan import WORKER, Plan, Request, plans

GB = 10**9


def published(name: str) -> Needs:
    found = shipped_catalogue().find(name)
    assert found is not None
    entry, variant = found
    assert variant.size is not None
    needs = of_catalogue(entry.name, entry.shape, variant.size, variant.quant)
    assert needs is not None
    return needs


def request(target: str = "qwen3-14b", draft: str | None = "qwen3-0.6b", n_ctx: int = 8192) -> Request:
    return Request(published(target), published(draft) if draft else None, n_ctx)


def layers_that_fit(wanted: Request, here: Machine) -> int:
    return by_where(plans(wanted, here))["none"].gpu_layers


def by_where(found: list[Plan]) -> dict[str, Plan]:
    return {plan.where: plan for plan in found}


def test_a_pair_that_fits_a_card_lies_on_it() -> None:
    best = plans(request(), machine(32 * GB, [16 * GB]))[0]
    assert (best.where, best.gpu_layers, best.streamed) == ("gpu", 41, 0)
    assert best.k > 0
    assert best.ms < best.plain_ms


def test_what_a_draft_displaces_is_weighed_against_what_it_gains() -> None:
    """On a card of 8 GB the draft takes the place of layers; the table tells how many."""
    found = by_where(plans(request(), machine(16 * GB, [8 * GB])))
    assert set(found) == {"none", "gpu", "memory"}
    assert 0 < found["gpu"].gpu_layers < found["none"].gpu_layers < 41
    assert found["memory"].gpu_layers == found["none"].gpu_layers
    assert found["gpu"].plain_ms > found["none"].plain_ms


def test_every_byte_lies_somewhere_and_is_read_where_it_lies() -> None:
    """By hand: 30 of 41 are the output and 29 layers with their caches; eleven layers stay in main memory."""
    here, wanted = machine(16 * GB, [8 * GB]), request(draft=None)
    plan, target = plans(wanted, here)[0], wanted.target
    assert plan.gpu_layers == 30
    layer, cache = target.layers[0], target.kv(8192) // 40
    on_card = target.output + 29 * (layer + cache)
    assert plan.taken["GPU 0"] == on_card + target.compute(8192, 512, 64, flash=True)
    assert plan.taken["GPU 0"] <= here.gpus[0].usable < plan.taken["GPU 0"] + layer + cache
    rest = WORKER + target.tables + 11 * (layer + cache) + target.compute_here(8192, 512, 64, "f16", flash=True)
    assert plan.taken["memory"] == pytest.approx(rest, abs=100)
    read = target.output + 29 * layer
    assert plan.plain_ms == pytest.approx(read / here.gpus[0].rate + 11 * layer / here.memory.rate)


def test_without_a_card_and_with_too_little_memory_the_rest_comes_from_disk() -> None:
    found = by_where(plans(request(), machine(8 * GB)))
    assert found["none"].streamed > 0
    assert found["memory"].streamed > found["none"].streamed  # the draft is held whole
    assert found["memory"].k > found["none"].k == 0  # a pass from disk is worth a long draft
    assert found["memory"].ms < 0.6 * found["none"].ms
    layer = max(request().target.layers)
    for plan in found.values():
        assert plan.from_disk % layer == 0, "whole layers"
        assert plan.streamed <= plan.from_disk - 3 * layer < plan.streamed + layer
        left = 8 * GB - (64 << 20) - plan.taken["memory"]
        assert left == plan.from_disk - 3 * layer - plan.streamed, "something is left to everything else"


def test_the_draft_of_a_streamed_target_lies_in_memory_whole() -> None:
    """Else its embedding, where it is not the output matrix too, stays in its file."""
    wanted = Request(published("qwen3-14b"), published("qwen3-14b"), 1024)
    embedding = wanted.target.embedding
    fits, streams = (by_where(plans(wanted, machine(n * GB)))["memory"] for n in (24, 16))
    assert not fits.streamed
    held = streams.taken["memory"] + streams.from_disk - 3 * max(wanted.target.layers)
    assert held == fits.taken["memory"] + embedding


def test_where_even_the_caches_do_not_fit_there_is_no_plan() -> None:
    assert plans(request(n_ctx=131_072), machine(4 * GB)) == []


def test_a_draft_that_is_nearly_as_dear_as_its_target_is_left_out() -> None:
    target = published("qwen3-1.7b")
    found = plans(Request(target, published("qwen3-1.7b"), 4096), machine(16 * GB))
    assert (found[0].where, found[0].k) == ("none", 0)


def test_a_card_that_is_too_small_for_one_layer_takes_none() -> None:
    assert layers_that_fit(request(draft=None), machine(32 * GB, [GB // 4])) == 0


def test_the_price_is_equation_2() -> None:
    here = machine(64 * GB)
    wanted = request()
    assert wanted.draft is not None
    best = by_where(plans(wanted, here))["memory"]
    plain = wanted.target.read / here.memory.rate
    step = wanted.draft.read / here.memory.rate
    assert best.plain_ms == pytest.approx(plain)
    prices = {
        k: ms_per_token(plain * (1 + here.memory.row * k), k, step, expected_tokens(wanted.acceptance, k))
        for k in range(1, 17)
    }
    assert best.ms == pytest.approx(min(prices.values()))
    assert prices[best.k] == pytest.approx(best.ms)


@given(
    memory=st.integers(0, 40 * GB),
    cards=st.lists(st.integers(0, 24 * GB), max_size=3),
    n_ctx=st.sampled_from([512, 4096, 8192, 32768]),
    target=st.sampled_from(["qwen3-14b", "qwen3-4b", "qwen2.5-coder-1.5b"]),
)
def test_no_plan_takes_more_than_there_is(memory: int, cards: list[int], n_ctx: int, target: str) -> None:
    here: Machine = machine(memory, cards)
    wanted = Request(published(target), published("qwen3-0.6b"), n_ctx)
    found = plans(wanted, here)
    free = {place.name: place.usable for place in (*here.gpus, here.memory)}
    for plan in found:
        assert all(0 <= plan.taken[name] <= free[name] for name in free)
        assert 0 <= plan.gpu_layers <= len(wanted.target.layers) + 1
        assert 0 <= plan.streamed <= wanted.target.read
        assert plan.ms <= plan.plain_ms
    assert [plan.ms for plan in found] == sorted(plan.ms for plan in found)
