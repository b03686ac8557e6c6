"""What llama.cpp refuses, in words that say what to do."""

from __future__ import annotations

from backend.errors import EngineError, ErrorCode


def truncate_error(wanted: int, held: int) -> EngineError:
    """A memory that was not cut, or not where it was to be."""
    return EngineError(
        ErrorCode.TRUNCATE_FAILED,
        f"The model's memory could not be cut back to {wanted} tokens (it holds {held}).",
        {"wanted": wanted, "held": held},
    )


def context_error(said: str, n_ctx: int) -> EngineError:
    """A context that was not made; ``said`` is what llama.cpp logged."""
    if not said or any(words in said.lower() for words in ("alloc", "memory", "buffer")):
        return EngineError(
            ErrorCode.OUT_OF_MEMORY,
            f"There is not enough memory for a context of {n_ctx} tokens. "
            "Choose a shorter context, a smaller KV type or a smaller model.",
            {"n_ctx": n_ctx, "engine": said},
        )
    return EngineError(
        ErrorCode.LOAD_FAILED,
        f"The engine refuses these settings: {said}. Change KV type, flash attention or context and load again.",
        {"engine": said},
    )


def stream_error(error: OSError) -> EngineError:
    """Weights that could not be read from disk in the middle of a pass."""
    return EngineError(
        ErrorCode.DECODE_FAILED,
        f"The model's file could not be read on ({error.strerror or error}). Check the disk and load it again.",
        {"reason": str(error)},
    )


def decode_error(code: int, n: int, n_ctx: int) -> EngineError:
    """llama_decode's return codes, told apart."""
    if code == 1:
        return EngineError(
            ErrorCode.CONTEXT_FULL,
            f"The context of {n_ctx} tokens is full. Start a new chat or load the model with a longer context.",
            {"n_ctx": n_ctx},
        )
    if code == 2:
        return EngineError(ErrorCode.CANCELLED, "Stopped.")
    if code == -1:
        return EngineError(ErrorCode.DECODE_FAILED, f"The engine refused a batch of {n} tokens.", {"code": code})
    return EngineError(
        ErrorCode.DECODE_FAILED,
        f"The engine failed while decoding (code {code}), often for want of memory. Load the model again.",
        {"code": code},
    )
