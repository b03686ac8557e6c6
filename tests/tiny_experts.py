"""Tiny Qwen 3 models, dense or of experts: of these a token reads a few, and all take memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.tiny import CHATML, _add_attention, _add_bpe, _add_ends, _add_ffn, _add_transformer_keys, _Model

_EMBD, _HEADS, _VOCAB = 64, 4, 320


def tiny_qwen3(
    path: Path, *, experts: int = 0, used: int = 2, n_layer: int = 2, width: int = 64, n_ctx: int = 2048, seed: int = 0
) -> Path:
    """Dense where ``experts`` is 0; else each block has so many of ``width``, of which a token uses some."""
    arch = "qwen3moe" if experts else "qwen3"
    m = _Model(path, arch, seed, 0.0)
    _add_bpe(m, _VOCAB, CHATML, add_bos=False, swap_token=None)
    _add_transformer_keys(m, n_layer, _EMBD, _HEADS, 2, n_ctx)
    head = _EMBD // _HEADS
    m.out.add_key_length(head)
    m.out.add_value_length(head)
    if experts:
        m.out.add_expert_count(experts)
        m.out.add_expert_used_count(used)
        m.out.add_expert_feed_forward_length(width)
    _add_ends(m, _VOCAB, _EMBD)
    for i in range(n_layer):
        b = f"blk.{i}"
        m.ones(f"{b}.attn_norm.weight", _EMBD)
        m.ones(f"{b}.attn_q_norm.weight", head)
        m.ones(f"{b}.attn_k_norm.weight", head)
        _add_attention(m, b, _EMBD, _EMBD, _EMBD // 2)
        if experts:
            _add_experts(m, b, experts, width)
        else:
            _add_ffn(m, b, _EMBD)
    m.close()
    return path


def _add_experts(m: _Model, block: str, experts: int, width: int) -> None:
    m.ones(f"{block}.ffn_norm.weight", _EMBD)
    m.matrix(f"{block}.ffn_gate_inp.weight", experts, _EMBD)
    for name, rows, columns in (("gate", width, _EMBD), ("up", width, _EMBD), ("down", _EMBD, width)):
        draw = m._rng.standard_normal((experts, rows, columns))
        m.tensor(f"{block}.ffn_{name}_exps.weight", draw / np.sqrt(columns))
