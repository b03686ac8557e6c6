"""Which pair is proposed at the first start, of the real catalogue on made-up machines."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from backend.library.catalogue import shipped_catalogue
from backend.library.library import LibraryModel
from backend.plan.machine import machine
from desktop.models.proposal import USEFUL, Proposal, proposal

GB = 10**9
STARTER = SimpleNamespace(target="qwen2.5-coder-1.5b", draft="qwen2.5-coder-0.5b")
STARTER_IDS = [STARTER.target, STARTER.draft]


def catalogue(**fields: dict[str, Any]) -> list[LibraryModel]:
    """All that is offered, nothing of it here; ``fields`` are what is otherwise, by id."""
    models = []
    for entry in shipped_catalogue().models:
        for variant in () if entry.test_only else entry.variants:
            name = entry.variant_id(variant)
            model = LibraryModel(
                name, entry.name, "catalogue", False, (), (), variant.size, variant.quant, entry, variant
            )
            models.append(dataclasses.replace(model, **fields.get(name, {})))
    return models


def proposed(
    memory: float,
    card: float = 0,
    *,
    rate: float | None = None,
    room: float = 1000,
    starter: Any = STARTER,
    models: list[LibraryModel] | None = None,
) -> Proposal:
    here = machine(round(memory * GB), [round(card * GB)] if card else [], memory_rate=rate)
    return proposal(models or catalogue(), starter, here, round(room * GB))


@pytest.mark.parametrize(
    ("memory", "card", "target"),
    [(8, 0, "qwen2.5-coder-7b"), (16, 0, "qwen3-14b"), (64, 0, "qwen3-14b"), (64, 24, "qwen2.5-coder-32b")],
)
def test_the_largest_that_is_quick_enough_here(memory: float, card: float, target: str) -> None:
    found = proposed(memory, card)
    assert found.best is not None
    assert found.best.target.id == target
    assert found.best.draft.id in found.best.target.entry.drafts
    assert found.best.outlook.memory < 0.9 * (memory + card) * GB
    assert 1e3 / found.best.outlook.ms >= USEFUL
    assert found.small is not None
    assert found.small.ids == STARTER_IDS


def test_a_slow_memory_gets_a_smaller_one() -> None:
    """A quarter of the speed that is assumed where nothing was measured."""
    found = proposed(64, rate=10e6)
    assert found.best is not None
    assert found.best.target.id == "qwen3-4b"


def test_where_only_the_starter_is_left_there_is_one_choice() -> None:
    for found in (proposed(4), proposed(64, rate=1e6)):
        assert found.best is not None
        assert found.best.ids == STARTER_IDS
        assert found.small is None


def test_where_the_starter_is_too_large_the_smallest_is_proposed_and_then_none() -> None:
    found = proposed(2)
    assert found.best is not None
    assert found.best.ids == ["gemma-3-1b", "gemma-3-270m"]
    assert found.small is None
    found = proposed(1)
    assert (found.best, found.small, found.free) == (None, None, GB)
    assert found.least is not None
    assert found.least.outlook.memory > GB


def test_the_disk_has_room_for_it() -> None:
    found = proposed(16, room=4)
    assert found.best is not None
    assert found.best.size < 4 * GB
    assert found.best.target.id == "qwen3-4b"


def test_what_is_gated_is_not_proposed() -> None:
    models = catalogue()
    for number, model in enumerate(models):
        if model.id in ("qwen3-14b", "qwen2.5-coder-0.5b"):
            assert model.entry is not None
            models[number] = dataclasses.replace(model, entry=model.entry.model_copy(update={"gated": True}))
    found = proposed(16, models=models)
    assert found.best is not None
    assert found.best.ids == ["qwen2.5-coder-14b", "qwen2.5-coder-1.5b"]
    assert found.small is None, "the starter's draft is one of them"


def test_a_download_that_was_begun_is_gone_on_with() -> None:
    found = proposed(16, models=catalogue(**{STARTER.target: {"fetched": GB // 2}}))
    assert found.best is not None
    assert found.best.ids == STARTER_IDS
    assert found.best.fetched == GB // 2
    found = proposed(16, models=catalogue(**{"llama-3.1-8b": {"fetched": GB}}))
    assert found.best is not None
    assert found.best.target.id == "llama-3.1-8b"
    assert found.small is not None


def test_a_catalogue_without_shapes_or_starter() -> None:
    bare = [dataclasses.replace(m, size=None, variant=None) for m in catalogue() if m.id in STARTER_IDS]
    found = proposed(16, models=bare)
    assert found.best is not None
    assert (found.best.ids, found.best.outlook.memory) == (STARTER_IDS, 0)
    assert proposed(16, starter=None, models=bare).best is None
