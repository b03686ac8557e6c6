"""Headers of published mixtures of experts in sparse files: the shapes are whole, of the weights nothing is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import prod
from pathlib import Path

import gguf
import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from tests.tiny import CHATML, _add_bpe, _add_transformer_keys, _Model

_VOCAB = 32_000
_KIND = GGMLQuantizationType.Q4_K
_BLOCK, _BYTES = GGML_QUANT_SIZES[_KIND]

Add = Callable[..., None]
"""Name, and sizes as llama.cpp writes them: the inner one first."""


def _write(path: Path, m: _Model, add_tensors: Callable[[Add], None]) -> Path:
    def add(name: str, *sizes: int) -> None:
        n, shape = prod(sizes), sizes[::-1]
        if len(sizes) == 1:
            m.out.add_tensor_info(name, shape, np.dtype(np.float32), 4 * n)
        elif sizes[0] % _BLOCK:
            m.out.add_tensor_info(name, shape, np.dtype(np.float16), 2 * n)
        else:
            m.out.add_tensor_info(name, shape, np.dtype(np.float16), n // _BLOCK * _BYTES, _KIND)

    add_tensors(add)
    m.out.write_header_to_file()
    m.out.write_kv_data_to_file()
    m.out.write_ti_data_to_file()
    m.out.close()
    align = gguf.GGUF_DEFAULT_ALIGNMENT
    data = sum(-(-t.nbytes // align) * align for tensors in m.out.tensors for t in tensors.values())
    os.truncate(path, -(-path.stat().st_size // align) * align + data)
    return path


def qwen3_30b_a3b(path: Path) -> Path:
    """128 experts a layer, 8 of which a token reads."""
    n_embd, heads, kv, head, experts, width = 2048, 32, 4, 128, 128, 768
    m = _Model(path, "qwen3moe", 0, 0.0)
    _add_bpe(m, _VOCAB, CHATML, add_bos=False, swap_token=None)
    _add_transformer_keys(m, 48, n_embd, heads, kv, 32_768)
    m.out.add_key_length(head)
    m.out.add_value_length(head)
    m.out.add_expert_count(experts)
    m.out.add_expert_used_count(8)
    m.out.add_expert_feed_forward_length(width)

    def tensors(add: Add) -> None:
        add("token_embd.weight", n_embd, _VOCAB)
        add("output_norm.weight", n_embd)
        add("output.weight", n_embd, _VOCAB)
        for i in range(48):
            b = f"blk.{i}"
            add(f"{b}.attn_norm.weight", n_embd)
            add(f"{b}.attn_q.weight", n_embd, heads * head)
            add(f"{b}.attn_k.weight", n_embd, kv * head)
            add(f"{b}.attn_v.weight", n_embd, kv * head)
            add(f"{b}.attn_q_norm.weight", head)
            add(f"{b}.attn_k_norm.weight", head)
            add(f"{b}.attn_output.weight", heads * head, n_embd)
            add(f"{b}.ffn_norm.weight", n_embd)
            add(f"{b}.ffn_gate_inp.weight", n_embd, experts)
            add(f"{b}.ffn_gate_exps.weight", n_embd, width, experts)
            add(f"{b}.ffn_up_exps.weight", n_embd, width, experts)
            add(f"{b}.ffn_down_exps.weight", width, n_embd, experts)

    return _write(path, m, tensors)


def deepseek_v2_lite(path: Path) -> Path:
    """Its cache holds what keys and values are made from, which its header does not put as other headers do."""
    n_embd, heads, experts, width, rope, inner, layers = 2048, 16, 64, 1536, 64, 512, 27
    m = _Model(path, "deepseek2", 0, 0.0)
    _add_bpe(m, _VOCAB, CHATML, add_bos=False, swap_token=None)
    _add_transformer_keys(m, layers, n_embd, heads, 1, 32_768, [10_752] * layers)
    m.out.add_key_length(inner + rope)
    m.out.add_value_length(inner)
    m.out.add_key_length_mla(128 + rope)
    m.out.add_value_length_mla(128)
    m.out.add_kv_lora_rank(inner)
    m.out.add_rope_dimension_count(rope)
    m.out.add_leading_dense_block_count(1)
    m.out.add_expert_count(experts)
    m.out.add_expert_used_count(6)
    m.out.add_expert_shared_count(2)
    m.out.add_expert_weights_scale(1.0)
    m.out.add_expert_feed_forward_length(width)

    def tensors(add: Add) -> None:
        add("token_embd.weight", n_embd, _VOCAB)
        add("output_norm.weight", n_embd)
        add("output.weight", n_embd, _VOCAB)
        for i in range(layers):
            b = f"blk.{i}"
            add(f"{b}.attn_norm.weight", n_embd)
            add(f"{b}.attn_q.weight", n_embd, heads * (128 + rope))
            add(f"{b}.attn_kv_a_mqa.weight", n_embd, inner + rope)
            add(f"{b}.attn_kv_a_norm.weight", inner)
            add(f"{b}.attn_k_b.weight", 128, inner, heads)
            add(f"{b}.attn_v_b.weight", inner, 128, heads)
            add(f"{b}.attn_output.weight", heads * 128, n_embd)
            add(f"{b}.ffn_norm.weight", n_embd)
            if i == 0:
                for part, sizes in (("gate", (n_embd, 10_752)), ("up", (n_embd, 10_752)), ("down", (10_752, n_embd))):
                    add(f"{b}.ffn_{part}.weight", *sizes)
                continue
            add(f"{b}.ffn_gate_inp.weight", n_embd, experts)
            for part, sizes in (("gate", (n_embd, width)), ("up", (n_embd, width)), ("down", (width, n_embd))):
                add(f"{b}.ffn_{part}_exps.weight", *sizes, experts)
                add(f"{b}.ffn_{part}_shexp.weight", *(2 * n if n == width else n for n in sizes))

    return _write(path, m, tensors)
