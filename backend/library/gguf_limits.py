"""What a header may say: a damaged one must cost no gigabytes where a plan believes it, and not end the engine."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from backend.library.gguf_header import Header, TensorInfo, damaged

if TYPE_CHECKING:
    from backend.library.gguf import GgufFacts

MOST_LAYERS: Final = 4096
_MOST: Final = {
    "n_layer": (MOST_LAYERS, "layers"),
    "n_head": (16_384, "attention heads"),
    "n_head_kv": (16_384, "KV heads"),
    "head_size_k": (65_536, "numbers a key"),
    "head_size_v": (65_536, "numbers a value"),
    "n_embd": (2**20, "numbers an embedding"),
    "n_vocab": (2**24, "tokens of vocabulary"),
    "context_length": (2**31 - 1, "tokens of context"),
    "sliding_window": (2**31 - 1, "tokens of sliding window"),
    "n_expert": (65_536, "experts"),
    "n_expert_used": (65_536, "experts a token"),
}
"""Many times what the largest published models have."""
_WIDEST: Final = 2**20
"""Numbers that all heads of one layer may keep of a token."""
_EPSILON: Final = ("norm_rms_epsilon", "norm_epsilon")
_MATRIX: Final = re.compile(r"(token_embd|output|blk\.\d+\.(attn|ffn|ssm)_(?!gate_tid2eid)\w*)(\.weight|\.bias)?")
_NORM: Final = re.compile(r"(output|blk\.\d+\.\w*)_norm\.weight")
_NO_WEIGHTS: Final = {"I8", "I16", "I32", "I64", "F64", "Q8_1", "Q8_K"}
"""Types of tables, and of what is multiplied with weights: as weights they end the engine."""


def check_numbers(facts: GgufFacts, first: Header, tensors: Sequence[TensorInfo]) -> None:
    """Refuse numbers and types that no model has.

    Args:
        facts: as the header tells them.
        first: of the file's first part.
        tensors: of all parts.

    Raises:
        EngineError: FILE_DAMAGED.
    """
    for name, (most, what) in _MOST.items():
        if (found := getattr(facts, name)) > most:
            raise damaged(first.path, f"it claims {found:,} {what}")
    if facts.n_head_kv * max(facts.head_size_k, facts.head_size_v) > _WIDEST:
        raise damaged(first.path, f"it claims {facts.n_head_kv:,} KV heads of {facts.head_size_k:,} numbers")
    for key, value in first.values.items():
        if key.endswith(_EPSILON) and isinstance(value, float) and not (value >= 0 and math.isfinite(value)):
            raise damaged(first.path, f"{key} is {value}")
    _check_types(first, tensors)
    n_tensors = len(tensors)
    if facts.kind != "model" or len(facts.files) != facts.split_count:
        return  # a prediction head and one part of several hold fewer blocks than they speak of
    named = f"{facts.architecture}.block_count"
    if facts.n_layer > n_tensors:
        raise damaged(first.path, f"it claims {facts.n_layer:,} layers but only {n_tensors:,} of its tensors are there")
    if not facts.n_layer and (named in first.values or named in first.arrays):
        raise damaged(first.path, "it does not say how many layers it has")


def _check_types(first: Header, tensors: Sequence[TensorInfo]) -> None:
    for tensor in tensors:
        norm = _NORM.fullmatch(tensor.name)
        if (norm and tensor.type != "F32") or (tensor.type in _NO_WEIGHTS and _MATRIX.fullmatch(tensor.name)):
            raise damaged(first.path, f"it holds {tensor.name} as {tensor.type}")
