"""What the list of models says of those that are not here: how fast they would be on this machine."""

from __future__ import annotations

from typing import Any

import pytest

from backend.library.catalogue import shipped_catalogue
from backend.library.library import LibraryModel
from backend.protocol import CostTable, DeviceInfo, ModelInfo, State
from desktop.models import forecast
from desktop.models.choices import DOWNLOAD, target_rows
from desktop.models.forecast import forecasts

GB = 10**9


def published(*ids: str) -> list[Any]:
    models = []
    for name in ids:
        found = shipped_catalogue().find(name)
        assert found is not None
        entry, variant = found
        models.append(
            LibraryModel(name, entry.name, "catalogue", False, (), (), variant.size, variant.quant, entry, variant)
        )
    return models


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine that runs the tests may have any amount."""
    monkeypatch.setattr(forecast, "free_main_memory", lambda: 16 * GB)


def card(free: int) -> State:
    return State(devices=[DeviceInfo(name="GPU0", description="a card", kind="gpu", free=free, total=free)])


def test_a_pair_that_fits_says_both_speeds() -> None:
    said = forecasts(published("qwen3-14b", "qwen3-0.6b"), State())
    assert said["qwen3-14b"] == "≈ 5 tok/s, 8 tok/s with its draft here"


def test_a_card_makes_it_faster() -> None:
    said = forecasts(published("qwen3-14b", "qwen3-0.6b"), card(16 * GB))
    assert said["qwen3-14b"] == "≈ 29 tok/s, 65 tok/s with its draft here"


def test_what_is_larger_than_the_memory_says_so() -> None:
    said = forecasts(published("qwen3-32b", "qwen3-0.6b"), State())
    assert said["qwen3-32b"].startswith("larger than the free memory, ≈ 0.")


def test_what_a_loaded_model_measured_is_used() -> None:
    """A pass over the 4B that takes 250 ms: this machine reads weights at a quarter of what is assumed."""
    models = published("qwen3-14b", "qwen3-4b")
    info = ModelInfo(
        id="qwen3-4b", name="Qwen3 4B", file="f", architecture="qwen3", quant="Q4_K_M", n_params=4 * GB, size=2 * GB,
        n_vocab=151_936, n_ctx_train=40_960, n_ctx=8192, n_layer=36, gpu_layers=0, tokenizer="", can_truncate=True,
    )  # fmt: skip
    said = forecasts(models, State(target=info, cost=CostTable(target={1: 250.0, 2: 260.0})))
    assert said["qwen3-14b"] == "≈ 0.8 tok/s here"


def test_the_row_shows_it_beside_size_and_licence() -> None:
    models = published("qwen3-14b")
    row = next(r for r in target_rows(models, forecasts(models, State())) if r.value == DOWNLOAD + "qwen3-14b")
    assert row.detail == "Download · 9.0 GB · Apache-2.0 · ≈ 5 tok/s here"
