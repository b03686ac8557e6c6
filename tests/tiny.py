"""Writes tiny model files with random weights: every architecture that the engine must tell apart, in milliseconds.

The weights are scaled so that the next-token law is neither flat nor a spike (logits have a standard deviation of
about 3). Files of the same ``seed`` are the same model; ``noise`` mixes other weights in, which makes a draft that
agrees with it now and then.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'system' %}"
    "{{ raise_exception('System role not supported') }}"
    "{% endif %}{% set role = 'model' if m['role'] == 'assistant' else m['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + m['content'] | trim + '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
_MERGES = "h e|t he|i n|e r|a n|an d|r e|o n|Ġ the|Ġ a|Ġ s|e d|in g|Ġ and|o r|o u|Ġ t|Ġt o|l l|e n|Ċ Ċ|Ġ Ġ"
_NORMAL, _UNKNOWN, _CONTROL, _UNUSED, _BYTE = 1, 2, 3, 5, 6
SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|pad|>", "<|reserved|>")
"""Ids 0 to 4 of the byte-level vocabulary; llama.cpp compares pairs from id 5 on."""


class _Model:
    """One file being written: keys, vocabulary, and random tensors by shape (numpy order: rows first)."""

    def __init__(self, path: Path, arch: str, seed: int, noise: float) -> None:
        self.out = gguf.GGUFWriter(str(path), arch)
        self._rng = np.random.default_rng(seed)
        self._other = np.random.default_rng(seed + 1_000_003)
        self._noise = noise
        self.out.add_name(f"tiny {arch}")

    def matrix(self, name: str, rows: int, columns: int, scale: float = 1.0) -> None:
        """Random weights that keep the size of what they multiply (times ``scale``)."""
        draw = self._rng.standard_normal((rows, columns))
        if self._noise:
            draw = (draw + self._noise * self._other.standard_normal(draw.shape)) / np.hypot(1, self._noise)
        self.tensor(name, draw * scale / np.sqrt(columns))

    def ones(self, name: str, size: int) -> None:
        self.tensor(name, np.ones(size))

    def zeros(self, name: str, size: int) -> None:
        self.tensor(name, np.zeros(size))

    def tensor(self, name: str, data: np.ndarray[Any, Any]) -> None:
        self.out.add_tensor(name, np.ascontiguousarray(data, dtype=np.float32))

    def close(self) -> None:
        self.out.write_header_to_file()
        self.out.write_kv_data_to_file()
        self.out.write_tensors_to_file()
        self.out.close()


def _bytes_to_unicode() -> list[str]:
    """GPT-2's printable stand-in for each byte."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    spare = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(spare)) for b in range(256)]


def _add_bpe(
    m: _Model, n_vocab: int, template: str | None, add_bos: bool, swap_token: tuple[int, int] | None, bos: int = 0
) -> None:
    merges = _MERGES.split("|")
    tokens = [*SPECIALS, *_bytes_to_unicode(), *(pair.replace(" ", "") for pair in merges)]
    types = [_CONTROL] * len(SPECIALS) + [_NORMAL] * (len(tokens) - len(SPECIALS))
    if n_vocab < len(tokens):
        raise ValueError(f"the vocabulary needs at least {len(tokens)} tokens")
    spare = n_vocab - len(tokens)
    tokens += [f"<unused{i}>" for i in range(spare)]
    types += [_UNUSED] * spare
    if swap_token:
        i, j = swap_token
        tokens[i], tokens[j] = tokens[j], tokens[i]
    m.out.add_tokenizer_model("gpt2")
    m.out.add_tokenizer_pre("qwen2")
    m.out.add_token_list(tokens)
    m.out.add_token_types(types)
    m.out.add_token_merges(merges)
    m.out.add_bos_token_id(bos)
    m.out.add_eos_token_id(2)
    m.out.add_add_bos_token(add_bos)
    if template is not None:
        m.out.add_chat_template(template)


def _add_spm(m: _Model, n_vocab: int, template: str | None, add_bos: bool, space_prefix: bool) -> None:
    control = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
    singles = ["▁", *(chr(c) for c in range(33, 127)), "\n", "é", "語"]
    words = ["th", "the", "▁the", "in", "an", "and", "▁a", "er", "▁and", "he", "▁t", "\n\n"]
    tokens = [*control, *(f"<0x{b:02X}>" for b in range(256)), *words, *singles]
    types = [_CONTROL] * 3 + [_UNKNOWN] + [_CONTROL] * 2 + [_BYTE] * 256 + [_NORMAL] * (len(words) + len(singles))
    if n_vocab < len(tokens):
        raise ValueError(f"the vocabulary needs at least {len(tokens)} tokens")
    spare = n_vocab - len(tokens)
    tokens += [f"<unused{i}>" for i in range(spare)]
    types += [_UNUSED] * spare
    scores = [0.0] * (len(control) + 256) + [-float(i + 1) for i in range(len(words) + len(singles))] + [-1e3] * spare
    m.out.add_tokenizer_model("llama")
    m.out.add_tokenizer_pre("default")
    m.out.add_token_list(tokens)
    m.out.add_token_scores(scores)
    m.out.add_token_types(types)
    m.out.add_bos_token_id(2)
    m.out.add_eos_token_id(1)
    m.out.add_unk_token_id(3)
    m.out.add_eot_token_id(5)
    m.out.add_add_bos_token(add_bos)
    m.out.add_add_space_prefix(space_prefix)
    if template is not None:
        m.out.add_chat_template(template)


def _add_transformer_keys(
    m: _Model,
    n_layer: int,
    n_embd: int,
    n_head: int,
    n_head_kv: int | list[int],
    n_ctx: int,
    n_ff: list[int] | None = None,
) -> None:
    m.out.add_context_length(n_ctx)
    m.out.add_embedding_length(n_embd)
    m.out.add_block_count(n_layer)
    m.out.add_feed_forward_length(n_ff or 2 * n_embd)
    m.out.add_head_count(n_head)
    m.out.add_head_count_kv(n_head_kv)
    m.out.add_layer_norm_rms_eps(1e-5)
    m.out.add_rope_freq_base(10000.0)


def _add_attention(m: _Model, block: str, n_embd: int, width: int, kv_width: int) -> None:
    m.matrix(f"{block}.attn_q.weight", width, n_embd, 1.5)
    m.matrix(f"{block}.attn_k.weight", kv_width, n_embd, 1.5)
    m.matrix(f"{block}.attn_v.weight", kv_width, n_embd)
    m.matrix(f"{block}.attn_output.weight", n_embd, width)


def _add_ffn(m: _Model, block: str, n_embd: int) -> None:
    m.ones(f"{block}.ffn_norm.weight", n_embd)
    m.matrix(f"{block}.ffn_gate.weight", 2 * n_embd, n_embd)
    m.matrix(f"{block}.ffn_up.weight", 2 * n_embd, n_embd)
    m.matrix(f"{block}.ffn_down.weight", n_embd, 2 * n_embd)


def _add_ends(m: _Model, n_vocab: int, n_embd: int, norm: str = "output_norm") -> None:
    m.matrix("token_embd.weight", n_vocab, n_embd, np.sqrt(n_embd))
    m.ones(f"{norm}.weight", n_embd)
    m.matrix("output.weight", n_vocab, n_embd, 3.0)


def tiny_llama(
    path: Path,
    *,
    n_vocab: int = 320,
    n_layer: int = 2,
    n_embd: int = 64,
    n_head: int = 4,
    n_head_kv: int = 2,
    n_ctx: int = 2048,
    template: str | None = CHATML,
    add_bos: bool = False,
    bos: int = 0,
    seed: int = 0,
    noise: float = 0.0,
    swap_token: tuple[int, int] | None = None,
) -> Path:
    """Llama with a byte-level BPE vocabulary; ``swap_token`` exchanges the texts of two ids."""
    m = _Model(path, "llama", seed, noise)
    _add_bpe(m, n_vocab, template, add_bos, swap_token, bos)
    _add_transformer_keys(m, n_layer, n_embd, n_head, n_head_kv, n_ctx)
    m.out.add_vocab_size(n_vocab)
    m.out.add_rope_dimension_count(n_embd // n_head)
    _add_ends(m, n_vocab, n_embd)
    for i in range(n_layer):
        m.ones(f"blk.{i}.attn_norm.weight", n_embd)
        _add_attention(m, f"blk.{i}", n_embd, n_embd, n_embd // n_head * n_head_kv)
        _add_ffn(m, f"blk.{i}", n_embd)
    m.close()
    return path


def tiny_qwen2(
    path: Path,
    *,
    n_vocab: int = 320,
    n_layer: int = 2,
    n_embd: int = 64,
    n_ctx: int = 2048,
    template: str | None = CHATML,
    seed: int = 0,
    noise: float = 0.0,
    swap_token: tuple[int, int] | None = None,
) -> Path:
    """Qwen2 (biases on q, k, v) with a byte-level BPE vocabulary."""
    m = _Model(path, "qwen2", seed, noise)
    _add_bpe(m, n_vocab, template, add_bos=False, swap_token=swap_token)
    _add_transformer_keys(m, n_layer, n_embd, 4, 2, n_ctx)
    _add_ends(m, n_vocab, n_embd)
    for i in range(n_layer):
        m.ones(f"blk.{i}.attn_norm.weight", n_embd)
        _add_attention(m, f"blk.{i}", n_embd, n_embd, n_embd // 2)
        for name, size in (("q", n_embd), ("k", n_embd // 2), ("v", n_embd // 2)):
            m.zeros(f"blk.{i}.attn_{name}.bias", size)
        _add_ffn(m, f"blk.{i}", n_embd)
    m.close()
    return path


def tiny_gemma3(
    path: Path,
    *,
    n_vocab: int = 400,
    n_layer: int = 6,
    n_embd: int = 32,
    window: int = 16,
    n_ctx: int = 2048,
    template: str | None = GEMMA,
    add_bos: bool = True,
    space_prefix: bool = False,
    seed: int = 0,
    noise: float = 0.0,
) -> Path:
    """Gemma 3: sliding window in five layers of six, SentencePiece vocabulary with byte fallback."""
    m = _Model(path, "gemma3", seed, noise)
    _add_spm(m, n_vocab, template, add_bos, space_prefix)
    _add_transformer_keys(m, n_layer, n_embd, 2, 1, n_ctx)
    head = n_embd // 2
    m.out.add_key_length(head)
    m.out.add_value_length(head)
    m.out.add_sliding_window(window)
    m.matrix("token_embd.weight", n_vocab, n_embd, 3.0)  # tied: it is the output matrix too
    m.ones("output_norm.weight", n_embd)
    for i in range(n_layer):
        b = f"blk.{i}"
        for name in ("attn_norm", "post_attention_norm", "post_ffw_norm"):
            m.ones(f"{b}.{name}.weight", n_embd)
        m.ones(f"{b}.attn_q_norm.weight", head)
        m.ones(f"{b}.attn_k_norm.weight", head)
        _add_attention(m, b, n_embd, n_embd, head)
        _add_ffn(m, b, n_embd)
    m.close()
    return path


def tiny_mmproj(path: Path) -> Path:
    """The header of an image projector: a GGUF file that is no language model."""
    m = _Model(path, "clip", 0, 0.0)
    m.out.add_type("mmproj")
    m.out.add_bool("clip.has_vision_encoder", True)
    m.out.add_string("clip.projector_type", "mlp")
    m.matrix("mm.0.weight", 8, 8)
    m.matrix("v.patch_embd.weight", 8, 8)
    m.close()
    return path


def tiny_eagle(path: Path, *, n_embd: int = 64) -> Path:
    """The header of an EAGLE-3 head: it reads the target's features and cannot run alone."""
    m = _Model(path, "eagle3", 0, 0.0)
    _add_transformer_keys(m, 1, n_embd, 4, 2, 2048)
    m.matrix("fc.weight", n_embd, 3 * n_embd)
    m.tensor("d2t", np.zeros(32))
    m.close()
    return path


def tiny_mtp(path: Path, *, n_embd: int = 64) -> Path:
    """The header of a multi-token-prediction head, split off its target."""
    m = _Model(path, "qwen3", 0, 0.0)
    _add_transformer_keys(m, 1, n_embd, 4, 2, 2048)
    m.out.add_uint32("qwen3.nextn_predict_layers", 1)
    m.matrix("blk.0.nextn.eh_proj.weight", n_embd, 2 * n_embd)
    m.ones("blk.0.nextn.enorm.weight", n_embd)
    m.ones("blk.0.nextn.hnorm.weight", n_embd)
    m.close()
    return path
