"""Making a cheaper or a fuller copy of a model file with llama.cpp's own quantizer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import llama_cpp

from backend.engine import native
from backend.engine.cancel import CancelFlag
from backend.engine.devices import default_threads
from backend.errors import EngineError, ErrorCode

FILE_TYPES = {
    "F16": llama_cpp.LLAMA_FTYPE_MOSTLY_F16,
    "BF16": llama_cpp.LLAMA_FTYPE_MOSTLY_BF16,
    "Q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0,
    "Q6_K": llama_cpp.LLAMA_FTYPE_MOSTLY_Q6_K,
    "Q5_K_M": llama_cpp.LLAMA_FTYPE_MOSTLY_Q5_K_M,
    "Q4_K_M": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_K_M,
    "Q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0,
    "Q4_1": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_1,
    "Q3_K_M": llama_cpp.LLAMA_FTYPE_MOSTLY_Q3_K_M,
    "Q2_K": llama_cpp.LLAMA_FTYPE_MOSTLY_Q2_K,
}
_PURE = {"Q4_0", "Q4_1", "BF16", "F16"}
"""Types whose copies leave no tensor in another type, the output matrix included: what makes a draft cheap."""


def quantize(
    source: Path, destination: Path, type_name: str, progress: Callable[[float], None], flag: CancelFlag
) -> None:
    """Write a copy of ``source`` in another type; nothing half-written is left behind.

    Args:
        source: GGUF file; already quantized ones are allowed (their losses stay).
        destination: where the copy goes; replaced only when complete.
        type_name: one of :data:`FILE_TYPES`.
        progress: called with an estimated fraction, twice a second.
        flag: checked before and after; llama.cpp cannot be interrupted in between, so a cancelled copy is deleted.

    Raises:
        EngineError: BAD_REQUEST for an unknown type, DISK_FULL, LOAD_FAILED with the engine's reason, CANCELLED.
    """
    if type_name not in FILE_TYPES:
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"{type_name} is not a type that can be written. Choose one of {', '.join(FILE_TYPES)}.",
        )
    flag.check()
    part = destination.with_name(destination.name + ".part")
    params = llama_cpp.llama_model_quantize_default_params()
    params.nthread = default_threads()
    params.ftype = FILE_TYPES[type_name]
    params.allow_requantize = True
    params.pure = type_name in _PURE
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(part, source.stat().st_size, progress, done), daemon=True)
    watcher.start()
    try:
        with native.collect_errors() as errors:
            code = llama_cpp.llama_model_quantize(str(source).encode(), str(part).encode(), params)
        flag.check()
        if code:
            said = " ".join(errors)
            full = "write" in said.lower() or "space" in said.lower()
            raise EngineError(
                ErrorCode.DISK_FULL if full else ErrorCode.LOAD_FAILED,
                f"{source.name} could not be rewritten as {type_name}: {said or 'the engine gave no reason'}.",
            )
        part.replace(destination)
    finally:
        done.set()
        watcher.join()
        part.unlink(missing_ok=True)
    progress(1.0)


def _watch(part: Path, size: int, progress: Callable[[float], None], done: threading.Event) -> None:
    while not done.wait(0.5):
        if part.exists():
            progress(min(0.99, part.stat().st_size / max(1, size)))
