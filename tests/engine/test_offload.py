"""What llama.cpp is told of where weights go; the experts' part is seen at work, cards are made up."""

from __future__ import annotations

import ctypes
from pathlib import Path

import llama_cpp
import pytest

from backend.engine import native, offload
from backend.engine.offload import described, experts_to_memory, fill_in, onto_cards
from backend.protocol import LoadOptions
from tests.engine.rig import loaded
from tests.tiny_experts import tiny_qwen3


def parameters() -> llama_cpp.llama_model_params:
    return llama_cpp.llama_model_default_params()


def told(params: llama_cpp.llama_model_params) -> tuple[list[int], list[float]]:
    """The devices, up to the null that ends them, and as many shares of the layers."""
    pointers, found = ctypes.cast(params.devices, ctypes.POINTER(ctypes.c_void_p)), []
    while (pointer := pointers[len(found)]) is not None:
        found.append(pointer)
    return found, [params.tensor_split[i] for i in range(len(found))]


def test_each_card_is_told_its_layers_and_one_without_is_left_alone() -> None:
    params = parameters()
    kept = onto_cards(params, [0x10, 0x20, 0x30], [5, 0, 20])
    assert told(params) == ([0x10, 0x30], [5.0, 20.0])
    _devices, split = kept
    assert len(split) >= llama_cpp.llama_max_devices(), "as long as llama.cpp reads"  # type: ignore[arg-type]


def test_a_draft_lies_on_its_card_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offload, "_cards", lambda: [0x10, 0x20])
    options = LoadOptions(gpu_layers=12, gpu_split=(8, 4), draft_gpu_layers=999, draft_gpu=1)
    draft, target = parameters(), parameters()
    kept = [fill_in(draft, options, "draft"), fill_in(target, options, "target")]
    assert all(kept)
    assert told(draft) == ([0x20], [1.0])
    assert told(target) == ([0x10, 0x20], [8.0, 4.0])


def test_where_nothing_is_planned_llama_cpp_decides() -> None:
    params = parameters()
    for role in ("target", "draft"):
        assert fill_in(params, LoadOptions(gpu_split=(0, 0)), role) == []  # type: ignore[arg-type]
    assert params.devices is None
    assert not params.tensor_split
    assert params.tensor_buft_overrides is None


def test_experts_of_the_first_layers_go_where_they_are_told(tmp_path: Path) -> None:
    path, lines = tiny_qwen3(tmp_path / "experts.gguf", experts=4, n_layer=3), list[str]()
    native.install_log(lambda _level, text: lines.append(text))
    try:
        with loaded(path, experts_in_memory=2) as model:
            assert model.context.kind.endswith(", experts of 2 in memory")
            assert model.context.sequence().append([5], 1) is not None
    finally:
        native.install_log(lambda _level, _text: None)
    moved = [line.split()[1] for line in lines if "buffer type overridden to CPU" in line]
    assert sorted(moved) == sorted(f"blk.{i}.ffn_{part}_exps.weight" for i in (0, 1) for part in ("gate", "up", "down"))


def test_costs_are_kept_apart_by_where_weights_lie() -> None:
    options = LoadOptions(gpu_split=(3, 4), experts_in_memory=2)
    assert described(options, "target") == ", layers (3, 4), experts of 2 in memory"
    assert described(LoadOptions(), "target") == described(options, "draft") == ""


def test_overrides_end_with_a_null() -> None:
    params = parameters()
    kept = experts_to_memory(params, 1)
    table = ctypes.cast(params.tensor_buft_overrides, ctypes.POINTER(offload._Override))
    assert table[0].pattern == rb"blk\.0\.ffn_(up|down|gate|gate_up)_(ch|)exps"
    assert table[0].buffer_type
    assert table[1].pattern is None
    assert kept
