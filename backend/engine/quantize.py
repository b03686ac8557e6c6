"""Making a cheaper or a fuller copy of a model file with llama.cpp's own quantizer.

The quantizer cannot be interrupted, and a large model takes minutes: it runs in a process of its own that can be ended.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import llama_cpp

from backend.engine import aside, native
from backend.engine.cancel import CancelFlag
from backend.engine.devices import default_threads
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import read_model, split_parts
from backend.library.gguf_header import stamp
from backend.text import shown_size

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
_FULL = 2**24
"""Bytes that a full disk may have left: the library writes whole tensors."""
_LOOK_EVERY = 0.2
"""Seconds between two looks at the flag and at how much is written."""


def quantize(
    source: Path, destination: Path, type_name: str, progress: Callable[[float], None], flag: CancelFlag
) -> None:
    """Write a copy of ``source`` in another type; nothing half-written is left behind, also by an exception.

    Args:
        source: GGUF file; already quantized ones are allowed (their losses stay).
        destination: where the copy goes; replaced only when complete.
        type_name: one of :data:`FILE_TYPES`.
        progress: called with an estimated fraction, a few times a second.
        flag: ends it within a fraction of a second.

    Raises:
        EngineError: BAD_REQUEST for an unknown type, what is wrong with the source, NOT_WRITABLE, DISK_FULL,
            LOAD_FAILED with the engine's reason, CANCELLED.
    """
    if type_name not in FILE_TYPES:
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"{type_name} is not a type that can be written. Choose one of {', '.join(FILE_TYPES)}.",
        )
    read_model(files := split_parts(source))
    size = sum(stamp(file)[0] for file in files)
    if destination.exists() and not destination.is_file():  # a folder, or a device that would be replaced by a file
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"{destination} is not a file that can be replaced; name a file for the copy.",
            {"path": str(destination)},
        )
    part = destination.with_name(destination.name + ".part")
    flag.check()
    try:
        _check_writable(part)
        with aside.process(_write_copy, source, part, type_name) as writer:
            while not writer.answer.poll(_LOOK_EVERY):
                flag.check()
                progress(min(0.99, _written(part) / max(1, size)))
            code, said = _received(writer.answer)
        if code:
            raise _failure(source, part, type_name, said)
        _put(part, destination)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
    progress(1.0)


def _received(answer: Connection) -> tuple[int, str]:
    try:
        code, said = answer.recv()
    except EOFError:
        return 1, "the engine stopped itself"
    return int(code), str(said)


def _write_copy(source: Path, part: Path, type_name: str, answer: Connection) -> None:
    """The other process."""
    aside.end_with_parent()
    native.install_log(lambda _level, _text: None)
    params = llama_cpp.llama_model_quantize_default_params()
    params.nthread = default_threads()
    params.ftype = FILE_TYPES[type_name]
    params.allow_requantize = True
    params.pure = type_name in _PURE
    with native.collect_errors() as errors:
        code = llama_cpp.llama_model_quantize(native.file_name(source), native.file_name(part), params)
    answer.send((code, " ".join(errors)))


def _failure(source: Path, part: Path, type_name: str, said: str) -> EngineError:
    """llama.cpp tells of a write that failed by its library's words, and never says that the disk is full."""
    what = f"{source.name} could not be rewritten as {type_name}"
    if not any(words in said.lower() for words in ("failed to write", "no space", "iostream")):
        return EngineError(ErrorCode.LOAD_FAILED, f"{what}: {said or 'the engine gave no reason'}.")
    try:
        free = shutil.disk_usage(part.parent).free
    except OSError as error:
        return _not_writable(part.parent, error)
    if free < _FULL:
        sentence = f"{what}: the disk is full ({shown_size(free)} are left in {part.parent}). Make room there."
        return EngineError(ErrorCode.DISK_FULL, sentence, {"path": str(part.parent), "free": free})
    sentence = f"{what}: {part.parent} does not take the file ({said}). Choose another place."
    return EngineError(ErrorCode.NOT_WRITABLE, sentence, {"path": str(part.parent)})


def _written(part: Path) -> int:
    try:
        return part.stat().st_size
    except OSError:  # somebody removed it: the quantizer will say what it makes of that
        return 0


def _put(part: Path, destination: Path) -> None:
    try:
        part.replace(destination)
    except OSError as error:
        raise _not_writable(destination.parent, error) from error


def _check_writable(part: Path) -> None:
    try:
        part.touch()
    except OSError as error:
        raise _not_writable(part.parent, error) from error


def _not_writable(folder: Path, error: OSError) -> EngineError:
    return EngineError(
        ErrorCode.NOT_WRITABLE,
        f"{folder} cannot be written to ({error.strerror}); choose another place.",
        {"path": str(folder)},
    )
