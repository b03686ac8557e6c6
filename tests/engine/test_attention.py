"""Whether flash attention is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.engine.devices import has_gpu
from backend.plan.attention import flash_attention
from backend.protocol import LoadOptions
from tests.engine.rig import loaded


@pytest.mark.parametrize(
    ("options", "kv_type", "on_gpu", "sliding", "used"),
    [
        (LoadOptions(), "f16", False, False, "off"),
        (LoadOptions(), "f16", True, False, "auto"),
        (LoadOptions(), "f16", False, True, "auto"),
        (LoadOptions(), "q8_0", False, False, "auto"),
        (LoadOptions(flash_attention="on"), "f16", False, False, "on"),
        (LoadOptions(flash_attention="off"), "f16", True, True, "off"),
        (LoadOptions(strict=True, flash_attention="on"), "f16", True, True, "off"),
    ],
)
def test_off_on_a_processor_unless_asked_for(
    options: LoadOptions, kv_type: str, on_gpu: bool, sliding: bool, used: str
) -> None:
    assert flash_attention(options, kv_type, on_gpu=on_gpu, sliding=sliding) == used


@pytest.mark.skipif(has_gpu(), reason="a GPU's own choice")
def test_a_loaded_model_tells_which_it_is(smollm2: Path) -> None:
    """What passes cost is kept by this (learnt.json)."""
    with loaded(smollm2, n_ctx=256) as model:
        assert model.context.kind == "f16, flash attention off"
    with loaded(smollm2, n_ctx=256, kv_type="q8_0") as model:
        assert model.context.kind == "q8_0, flash attention auto"
