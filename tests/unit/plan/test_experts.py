"""Mixtures of experts: a token reads a few of them, and all take memory; a card is given layers before experts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from backend.equations import expected_tokens, ms_per_token
from backend.errors import EngineError
from backend.library.gguf import read_facts
from backend.plan import plan
from backend.plan.machine import machine
from backend.plan.needs import Needs, of_file
from backend.plan.plan import WORKER, Plan, Request, plans
from tests.tiny_experts import tiny_qwen3

GB, MB = 10**9, 10**6
LAYERS = 10
MODEL = Needs(
    "of experts, Q4_K_M",
    (500 * MB,) * LAYERS,
    200 * MB,
    200 * MB,
    0,
    kv_width=LAYERS * 1024,
    n_heads=16,
    n_embd=2048,
    n_ff=4096,
    n_vocab=32_000,
    experts=(400 * MB,) * LAYERS,
    used=1 / 8,
)


def alone(memory: float, *cards: float, model: Needs = MODEL, **more: int) -> Plan:
    here = machine(round(memory * GB), [round(card * GB) for card in cards])
    return plans(Request(model, None, 4096, **more), here)[0]  # type: ignore[arg-type]


def test_a_file_says_how_many_of_its_experts_a_token_reads(tmp_path: Path) -> None:
    facts = read_facts(tiny_qwen3(tmp_path / "e.gguf", experts=8, used=2))
    assert (facts.n_expert, facts.n_expert_used) == (8, 2)
    needs = of_file(facts)
    sizes = [t.nbytes for t in facts.tensors() if "_exps" in t.name]
    assert sizes == [8 * 64 * 64 * 4] * 6
    assert needs.experts == (sum(sizes) // 2,) * 2
    assert needs.resident(mapped=True) == needs.weights - needs.embedding
    assert needs.read == needs.weights - needs.embedding - sum(sizes) * 6 // 8
    assert needs.rough
    dense = of_file(read_facts(tiny_qwen3(tmp_path / "d.gguf")))
    assert (dense.experts, dense.used, dense.rough) == ((), 1.0, False)
    assert dense.read == dense.resident(mapped=True)


def test_a_header_with_more_experts_than_there_can_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="1,000,000 experts a token"):
        read_facts(tiny_qwen3(tmp_path / "e.gguf", experts=2, used=1_000_000))


def test_without_a_word_on_how_many_are_used_all_count_as_read(tmp_path: Path) -> None:
    needs = of_file(read_facts(tiny_qwen3(tmp_path / "e.gguf", experts=4, used=9)))
    assert needs.used == 1.0
    assert needs.read == needs.resident(mapped=True)


def test_a_token_is_priced_by_what_it_reads_and_memory_by_what_lies_there() -> None:
    plan = alone(16)
    read = 200 * MB + LAYERS * (100 * MB + 50 * MB)
    assert plan.plain_ms == pytest.approx(read / machine(0).memory.rate)
    assert plan.taken["memory"] > MODEL.weights - MODEL.embedding


def test_a_pass_over_several_tokens_reads_more_experts() -> None:
    """Two tokens choose 1 - (7/8)² of them, and compute twice what one does."""
    draft = replace(MODEL, layers=(30 * MB,) * 4, output=40 * MB, experts=(), used=1.0)
    here = machine(16 * GB)
    plan = next(p for p in plans(Request(MODEL, draft, 4096), here) if p.where == "memory")
    memory, prices = here.memory, {}
    for k in range(1, 17):
        touched = 1 - (7 / 8) ** (k + 1)
        reading = 1200 * MB + touched * 4000 * MB
        t_pass = (reading + memory.row * k * MODEL.read) / memory.rate
        prices[k] = ms_per_token(t_pass, k, draft.read / memory.rate, expected_tokens(0.75, k))
    assert MODEL.touched(1) == pytest.approx(MODEL.used)
    assert plan.ms == pytest.approx(min(plan.plain_ms, *prices.values()))


def test_experts_stay_in_memory_before_layers_do() -> None:
    """A card with room for all that is no expert, and for the experts of three layers."""
    cache = MODEL.kv(4096) // LAYERS
    buffers = MODEL.compute(4096, 512, 64, flash=True)
    spare = machine(0, [0]).gpus[0].spare
    room = 200 * MB + LAYERS * (100 * MB + cache) + buffers + 3 * 400 * MB + spare
    plan = alone(16, (room + 1) / GB)
    assert (plan.gpu_layers, plan.experts_in_memory) == (LAYERS + 1, 7)
    assert plan.taken["GPU 0"] == pytest.approx(room - spare, abs=10)
    assert plan.taken["memory"] == 7 * 400 * MB + MODEL.compute_here(4096, 512, 64, "f16", flash=True) + WORKER
    here = machine(0, [0])
    on_card = (200 * MB + LAYERS * 100 * MB + 3 * 50 * MB) / here.gpus[0].rate
    assert plan.plain_ms == pytest.approx(on_card + 7 * 50 * MB / here.memory.rate)
    dense = alone(16, (room + 1) / GB, model=replace(MODEL, experts=(), used=1.0))
    assert 0 < dense.gpu_layers < LAYERS + 1
    assert dense.experts_in_memory == 0


def test_where_even_the_rest_does_not_fit_a_card_takes_layers_without_experts() -> None:
    plan = alone(16, 1.2)
    assert 0 < plan.gpu_layers < LAYERS + 1
    assert plan.experts_in_memory == LAYERS
    assert plan.taken["memory"] > 4000 * MB


def test_a_card_without_room_changes_nothing() -> None:
    plan = alone(16, 0.3)
    assert (plan.gpu_layers, plan.experts_in_memory) == (0, 0)
    assert plan.plain_ms == pytest.approx(alone(16).plain_ms)


def test_a_large_card_takes_the_experts_too() -> None:
    plan = alone(16, 8)
    assert (plan.gpu_layers, plan.experts_in_memory) == (LAYERS + 1, 0)


def test_experts_are_shared_out_over_several_cards() -> None:
    plan = alone(16, 2, 2)
    assert plan.gpu_layers == LAYERS + 1
    assert 0 < plan.experts_in_memory < LAYERS
    assert all(plan.split)


def test_what_comes_from_disk_is_read_with_all_its_experts() -> None:
    plan = alone(3)
    assert plan.from_disk > 0
    here = machine(0)
    held = 1 - plan.from_disk / (MODEL.weights - MODEL.embedding)
    expected = plan.from_disk / here.disk.rate + held * MODEL.read / here.memory.rate
    assert plan.plain_ms == pytest.approx(expected)


def test_of_very_many_layers_the_fewest_without_experts_are_found_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A header may claim thousands, and a plan is made for many contexts."""
    n, tried = 4096, list[int]()
    deep = replace(MODEL, layers=(5 * MB,) * n, experts=(4 * MB,) * n)
    shares = plan._shares
    monkeypatch.setattr(plan, "_shares", lambda *given: tried.append(given[3]) or shares(*given))
    best = alone(64, 12, model=deep)
    assert best.gpu_layers == n + 1
    assert 0 < best.experts_in_memory < n
    assert len(tried) < 50
    room = machine(64 * GB, [12 * GB]).gpus
    free = {card.name: card.usable for card in room}
    fewer = shares(Request(deep, None, 4096), room, free, best.experts_in_memory - 1)
    assert fewer["GPU 0"].layers < n + 1


def test_a_model_without_layers_is_planned_all_the_same() -> None:
    bare = replace(MODEL, layers=(), experts=(), output=4 * GB)
    assert alone(2, model=bare).streamed > 0
