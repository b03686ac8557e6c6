"""How a context computes attention: with flash attention or without, and how many tokens at once (docs/adr/0006)."""

from __future__ import annotations

from typing import Literal

from backend.protocol import LoadOptions

_SCORES = 256 << 20
"""Bytes of attention scores in the compute buffer."""
_LEAST = 64
"""Tokens that are computed at once whatever they take: the most of one verification pass."""


def flash_attention(options: LoadOptions, kv_type: str, *, on_gpu: bool, sliding: bool) -> Literal["auto", "on", "off"]:
    """Off on a processor, unless asked for.

    There llama.cpp's reads the whole cache again for each row of a pass of fewer than 64, and splits it between threads
    for one-token passes only, whose bits no other pass gives then. Sliding windows are what it is good at, and a
    quantised cache cannot do without.
    """
    if options.strict:
        return "off"
    if options.flash_attention == "auto" and not (on_gpu or sliding or kv_type.startswith("q")):
        return "off"
    return options.flash_attention


def tokens_at_once(n_batch: int, n_ctx: int, n_heads: int) -> int:
    """Of ``n_batch``: without flash attention the scores of every head over the whole context are held in memory."""
    fits = _SCORES // (4 * n_ctx * max(1, n_heads)) // _LEAST * _LEAST
    return min(n_batch, max(_LEAST, fits))
