"""Tiny models whose memory is a state that each token overwrites: recurrent ones, and hybrids with attention beside it.

Three of the hybrids are of architectures for which llama.cpp keeps snapshots of the state: short convolutions, whose
state is the last two tokens; Mamba 2 and gated delta nets, whose states remember everything, so that a state one token
off is seen in every row after it. For Mamba and Jamba it keeps none.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.tiny import CHATML, _add_attention, _add_bpe, _add_ends, _add_ffn, _add_transformer_keys, _Model

_EMBD, _VOCAB, _CTX = 64, 320, 2048
_CONV = 4
_INNER = 2 * _EMBD


def _start(path: Path, arch: str, seed: int, noise: float) -> _Model:
    m = _Model(path, arch, seed, noise)
    _add_bpe(m, _VOCAB, CHATML, add_bos=False, swap_token=None)
    return m


def _add_state_keys(m: _Model, state: int, rank: int, groups: int | None = None) -> None:
    m.out.add_ssm_conv_kernel(_CONV)
    m.out.add_ssm_inner_size(_INNER)
    m.out.add_ssm_state_size(state)
    m.out.add_ssm_time_step_rank(rank)
    if groups is not None:
        m.out.add_ssm_group_count(groups)


def _add_mamba(m: _Model, b: str, state: int, rank: int) -> None:
    m.matrix(f"{b}.ssm_in.weight", 2 * _INNER, _EMBD)
    m.matrix(f"{b}.ssm_conv1d.weight", _INNER, _CONV)
    m.zeros(f"{b}.ssm_conv1d.bias", _INNER)
    m.matrix(f"{b}.ssm_x.weight", rank + 2 * state, _INNER)
    m.matrix(f"{b}.ssm_dt.weight", _INNER, rank)
    m.zeros(f"{b}.ssm_dt.bias", _INNER)
    m.tensor(f"{b}.ssm_a", -np.tile(np.arange(1, state + 1), (_INNER, 1)))
    m.ones(f"{b}.ssm_d", _INNER)
    m.matrix(f"{b}.ssm_out.weight", _EMBD, _INNER)


def tiny_mamba(path: Path, *, seed: int = 0, noise: float = 0.0) -> Path:
    """Mamba: recurrent, and llama.cpp keeps no snapshots of its state."""
    m = _start(path, "mamba", seed, noise)
    state, rank = 8, 4
    m.out.add_context_length(_CTX)
    m.out.add_embedding_length(_EMBD)
    m.out.add_block_count(2)
    m.out.add_feed_forward_length(0)
    m.out.add_head_count(0)
    m.out.add_layer_norm_rms_eps(1e-5)
    _add_state_keys(m, state, rank)
    _add_ends(m, _VOCAB, _EMBD)
    for i in range(2):
        m.ones(f"blk.{i}.attn_norm.weight", _EMBD)
        _add_mamba(m, f"blk.{i}", state, rank)
    m.close()
    return path


def tiny_jamba(path: Path, *, seed: int = 0, noise: float = 0.0) -> Path:
    """Jamba: a Mamba layer and an attention layer; llama.cpp keeps no snapshots of its state."""
    m = _start(path, "jamba", seed, noise)
    state, rank = 8, 4
    _add_transformer_keys(m, 2, _EMBD, 4, [0, 2], _CTX)
    _add_state_keys(m, state, rank)
    _add_ends(m, _VOCAB, _EMBD)
    for i in range(2):
        m.ones(f"blk.{i}.attn_norm.weight", _EMBD)
        _add_ffn(m, f"blk.{i}", _EMBD)
    _add_mamba(m, "blk.0", state, rank)
    m.ones("blk.0.ssm_dt_norm.weight", rank)
    m.ones("blk.0.ssm_b_norm.weight", state)
    m.ones("blk.0.ssm_c_norm.weight", state)
    _add_attention(m, "blk.1", _EMBD, _EMBD, _EMBD // 2)
    m.close()
    return path


def tiny_hybrid(path: Path, *, seed: int = 0, noise: float = 0.0) -> Path:
    """LFM2: a short-convolution layer and an attention layer."""
    m = _start(path, "lfm2", seed, noise)
    _add_transformer_keys(m, 2, _EMBD, 4, [0, 2], _CTX)
    m.out.add_vocab_size(_VOCAB)
    m.out.add_shortconv_l_cache(3)
    _add_ends(m, _VOCAB, _EMBD, norm="token_embd_norm")
    for i in range(2):
        m.ones(f"blk.{i}.attn_norm.weight", _EMBD)
        _add_ffn(m, f"blk.{i}", _EMBD)
    m.matrix("blk.0.shortconv.in_proj.weight", 3 * _EMBD, _EMBD)
    m.matrix("blk.0.shortconv.conv.weight", _EMBD, 3)
    m.matrix("blk.0.shortconv.out_proj.weight", _EMBD, _EMBD)
    _add_attention(m, "blk.1", _EMBD, _EMBD, _EMBD // 2)
    m.ones("blk.1.attn_q_norm.weight", _EMBD // 4)
    m.ones("blk.1.attn_k_norm.weight", _EMBD // 4)
    m.close()
    return path


def tiny_nemotron(path: Path, *, seed: int = 0, noise: float = 0.0) -> Path:
    """Nemotron-H: Mamba 2, attention, feed-forward and Mamba 2 again, one kind a layer."""
    m = _start(path, "nemotron_h", seed, noise)
    heads, state, groups = 8, 16, 2
    _add_transformer_keys(m, 4, _EMBD, 4, [0, 2, 0, 0], _CTX, [0, 0, 2 * _EMBD, 0])
    m.out.add_layer_norm_eps(1e-5)
    m.out.add_vocab_size(_VOCAB)
    _add_state_keys(m, state, heads, groups)
    _add_ends(m, _VOCAB, _EMBD)
    wide = _INNER + 2 * groups * state
    for i in range(4):
        m.ones(f"blk.{i}.attn_norm.weight", _EMBD)
    for b in ("blk.0", "blk.3"):
        m.matrix(f"{b}.ssm_in.weight", _INNER + wide + heads, _EMBD)
        m.matrix(f"{b}.ssm_conv1d.weight", wide, _CONV)
        m.zeros(f"{b}.ssm_conv1d.bias", wide)
        m.zeros(f"{b}.ssm_dt.bias", heads)
        m.tensor(f"{b}.ssm_a", -np.linspace(0.02, 0.5, heads)[:, None])
        m.tensor(f"{b}.ssm_d", np.ones((heads, 1)))
        m.tensor(f"{b}.ssm_norm.weight", np.ones((groups, _INNER // groups)))
        m.matrix(f"{b}.ssm_out.weight", _EMBD, _INNER)
    _add_attention(m, "blk.1", _EMBD, _EMBD, _EMBD // 2)
    m.matrix("blk.2.ffn_up.weight", 2 * _EMBD, _EMBD)
    m.matrix("blk.2.ffn_down.weight", _EMBD, 2 * _EMBD)
    m.close()
    return path


def tiny_qwen35(path: Path, *, seed: int = 0, noise: float = 0.0) -> Path:
    """Qwen 3.5: a gated delta net layer and an attention layer."""
    m = _start(path, "qwen35", seed, noise)
    state, heads, groups = 16, 8, 4
    _add_transformer_keys(m, 2, _EMBD, 4, 2, _CTX)
    m.out.add_vocab_size(_VOCAB)
    m.out.add_rope_dimension_sections([2, 2, 2, 2])
    m.out.add_uint32("qwen35.full_attention_interval", 2)
    _add_state_keys(m, state, heads, groups)
    _add_ends(m, _VOCAB, _EMBD)
    for i in range(2):
        m.ones(f"blk.{i}.attn_norm.weight", _EMBD)
        m.ones(f"blk.{i}.post_attention_norm.weight", _EMBD)
        m.matrix(f"blk.{i}.ffn_gate.weight", 2 * _EMBD, _EMBD)
        m.matrix(f"blk.{i}.ffn_up.weight", 2 * _EMBD, _EMBD)
        m.matrix(f"blk.{i}.ffn_down.weight", _EMBD, 2 * _EMBD)
    wide = 2 * state * groups + state * heads
    m.matrix("blk.0.attn_qkv.weight", wide, _EMBD)
    m.matrix("blk.0.attn_gate.weight", state * heads, _EMBD)
    m.matrix("blk.0.ssm_conv1d.weight", wide, _CONV)
    m.zeros("blk.0.ssm_dt.bias", heads)
    m.tensor("blk.0.ssm_a", -np.linspace(0.02, 0.5, heads))
    m.matrix("blk.0.ssm_beta.weight", heads, _EMBD)
    m.matrix("blk.0.ssm_alpha.weight", heads, _EMBD)
    m.ones("blk.0.ssm_norm.weight", state)
    m.matrix("blk.0.ssm_out.weight", _EMBD, state * heads)
    m.matrix("blk.1.attn_q.weight", 2 * _EMBD, _EMBD, 1.5)
    m.matrix("blk.1.attn_k.weight", _EMBD // 2, _EMBD, 1.5)
    m.matrix("blk.1.attn_v.weight", _EMBD // 2, _EMBD)
    m.matrix("blk.1.attn_output.weight", _EMBD, _EMBD)
    m.ones("blk.1.attn_q_norm.weight", _EMBD // 4)
    m.ones("blk.1.attn_k_norm.weight", _EMBD // 4)
    m.close()
    return path


SNAPSHOTS = {"convolution": tiny_hybrid, "mamba 2": tiny_nemotron, "delta net": tiny_qwen35}
"""Hybrids whose state can be rolled back."""
PLAIN = {"mamba": tiny_mamba, "jamba": tiny_jamba}
"""Models whose state cannot."""
