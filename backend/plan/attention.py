"""Whether a context uses flash attention (docs/adr/0006), and which caches that leaves possible."""

from __future__ import annotations

from typing import Literal

from backend.errors import EngineError, ErrorCode
from backend.protocol import LoadOptions


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


def check_caches(options: LoadOptions) -> None:
    """Refuse caches that cannot be, before anything is loaded or freed.

    Raises:
        EngineError: BAD_REQUEST.
    """
    for kind in (options.kv_type, options.draft_kv_type):
        if kind.startswith("q") and (options.strict or options.flash_attention == "off"):
            why = "for exact texts" if options.strict else "without flash attention"
            raise EngineError(
                ErrorCode.BAD_REQUEST,
                f"A KV cache of type {kind} cannot be used {why}: choose f16, bf16 or f32.",
                {"kv_type": kind},
            )
