"""What the numbers of a header may be: a damaged one must cost no gigabytes where a plan believes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backend.library.gguf_header import Header, damaged

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
    "sliding_window": (2**32 - 1, "tokens of sliding window"),
    "n_expert": (65_536, "experts"),
    "n_expert_used": (65_536, "experts a token"),
}
"""Many times what the largest published models have."""
_WIDEST: Final = 2**20
"""Numbers that all heads of one layer may keep of a token."""


def check_numbers(facts: GgufFacts, first: Header, n_tensors: int) -> None:
    """Refuse numbers that no model has.

    Args:
        facts: as the header tells them.
        first: of the file's first part.
        n_tensors: in all parts.

    Raises:
        EngineError: FILE_DAMAGED.
    """
    for name, (most, what) in _MOST.items():
        if (found := getattr(facts, name)) > most:
            raise damaged(first.path, f"it claims {found:,} {what}")
    if facts.n_head_kv * max(facts.head_size_k, facts.head_size_v) > _WIDEST:
        raise damaged(first.path, f"it claims {facts.n_head_kv:,} KV heads of {facts.head_size_k:,} numbers")
    if facts.kind != "model" or len(facts.files) != facts.split_count:
        return  # a prediction head and one part of several hold fewer blocks than they speak of
    named = f"{facts.architecture}.block_count"
    if facts.n_layer > n_tensors:
        raise damaged(first.path, f"it claims {facts.n_layer:,} layers but only {n_tensors:,} of its tensors are there")
    if not facts.n_layer and (named in first.values or named in first.arrays):
        raise damaged(first.path, "it does not say how many layers it has")
