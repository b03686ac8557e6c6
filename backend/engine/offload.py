"""What llama.cpp is told of where weights go: on which cards, how many layers on each, and experts in main memory."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp

from backend.engine import native
from backend.engine.devices import devices
from backend.plan.machine import cards
from backend.plan.request import Role
from backend.protocol import LoadOptions

_EXPERTS = r"blk\.{}\.ffn_(up|down|gate|gate_up)_(ch|)exps"
"""Of one block, as llama.cpp's own programs name them (common.h)."""


class _Override(ctypes.Structure):
    """llama_model_tensor_buft_override, which llama-cpp-python leaves untyped."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p))


def fill_in(params: Any, options: LoadOptions, role: Role) -> list[object]:
    """Fill in llama_model_params as the plan has placed the model.

    Returns:
        What must outlive the load.
    """
    kept: list[object] = []
    if role == "draft" and options.draft_gpu is not None:
        kept += onto_cards(params, _cards()[options.draft_gpu :], [1])
    if role == "target" and options.gpu_split is not None and any(options.gpu_split):
        kept += onto_cards(params, _cards(), options.gpu_split)
    if role == "target" and options.experts_in_memory:
        kept += experts_to_memory(params, options.experts_in_memory)
    return kept


def described(options: LoadOptions, role: Role) -> str:
    """What of that a pass costs by, for the name under which costs are kept."""
    if role == "draft":
        return ""
    split = f", layers {options.gpu_split}" if options.gpu_split is not None else ""
    return split + (f", experts of {options.experts_in_memory} in memory" if options.experts_in_memory else "")


def onto_cards(params: Any, cards: Sequence[int | None], layers: Sequence[int]) -> list[object]:
    """So that the cards take so many layers each; one that takes none is left alone. Returns the same."""
    wanted = [(card, n) for card, n in zip(cards, layers, strict=False) if n]
    chosen = (ctypes.c_void_p * (len(wanted) + 1))(*(card for card, _ in wanted), None)
    split = (ctypes.c_float * max(int(llama_cpp.llama_max_devices()), len(wanted)))(*(n for _, n in wanted))
    params.devices = ctypes.cast(chosen, ctypes.c_void_p)
    params.tensor_split = ctypes.cast(split, ctypes.POINTER(ctypes.c_float))
    return [chosen, split]


def experts_to_memory(params: Any, layers: int) -> list[object]:
    """So that the experts of the first ``layers`` layers stay in main memory. Returns the same."""
    memory = native.cpu_buffer_type()
    patterns = [_EXPERTS.format(i).encode() for i in range(layers)]
    overrides = (_Override * (layers + 1))(*(_Override(pattern, memory) for pattern in patterns))  # and a null
    params.tensor_buft_overrides = ctypes.cast(overrides, ctypes.c_void_p)
    return [patterns, overrides]


def _cards() -> list[int | None]:
    """The devices that the plan counts as cards, in its order."""
    return [native.dev_get(i) for i, device in enumerate(devices()) if cards([device])]
