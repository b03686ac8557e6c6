"""ggml symbols that llama-cpp-python does not bind, and llama.cpp's log. Declared here only; a test checks them."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llama_cpp
from llama_cpp import llama_cpp as _llama

_LEVELS = {0: "none", 1: "debug", 2: "info", 3: "warning", 4: "error", 5: "continue"}
_ERROR = 4

ABORT_HOOK = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


def _library(name: str) -> Any:
    """The library that holds ``name``, from the folder that libllama itself was loaded from.

    llama-cpp-python's own handle on libggml ignores LLAMA_CPP_LIB_PATH and would load a second copy.
    """
    if hasattr(_llama._lib, name):  # dlsym also searches what libllama depends on; Windows does not
        return _llama._lib
    folder = Path(_llama._lib._name).parent
    for library in sorted(folder.glob("*ggml*")):
        if library.suffix in (".dll", ".dylib", ".so") and hasattr(found := ctypes.CDLL(str(library)), name):
            return found
    raise AttributeError(f"{name} is in none of the engine's libraries in {folder}")


def bind(name: str, argtypes: list[Any], restype: Any) -> Any:
    """A ggml function by name, with its C signature."""
    function = getattr(_library(name), name)
    function.argtypes, function.restype = argtypes, restype
    return function


def variable(name: str, kind: Any) -> Any:
    """A variable of the engine's libraries by name.

    Raises:
        AttributeError: they have none of that name.
    """
    return kind.in_dll(_library(name), name)


set_abort_callback = bind("ggml_set_abort_callback", [ABORT_HOOK], ctypes.c_void_p)
dev_count = bind("ggml_backend_dev_count", [], ctypes.c_size_t)
dev_get = bind("ggml_backend_dev_get", [ctypes.c_size_t], ctypes.c_void_p)
dev_name = bind("ggml_backend_dev_name", [ctypes.c_void_p], ctypes.c_char_p)
dev_description = bind("ggml_backend_dev_description", [ctypes.c_void_p], ctypes.c_char_p)
dev_type = bind("ggml_backend_dev_type", [ctypes.c_void_p], ctypes.c_int)
dev_memory = bind(
    "ggml_backend_dev_memory",
    [ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)],
    None,
)
cpu_buffer_type = bind("ggml_backend_cpu_buffer_type", [], ctypes.c_void_p)
tensor_name = bind("ggml_get_name", [ctypes.c_void_p], ctypes.c_char_p)


def file_name(path: Path) -> bytes:
    """A path as llama.cpp takes it: UTF-8 on Windows, elsewhere the system's own bytes, whatever they spell."""
    return str(path).encode("utf-8") if os.name == "nt" else os.fsencode(path)


_kept: list[object] = []
"""ctypes callbacks must outlive the C side's use of them: installed once per process, never removed."""


_collectors: list[list[str]] = []


@contextlib.contextmanager
def collect_errors() -> Iterator[list[str]]:
    """The error lines that llama.cpp logs meanwhile (needs :func:`install_log`)."""
    lines: list[str] = []
    _collectors.append(lines)
    try:
        yield lines
    finally:
        _collectors.remove(lines)


def install_log(callback: Callable[[str, str], None]) -> None:
    """Send llama.cpp's log to ``callback(level, text)``, level one of debug, info, warning, error, continue."""

    def receive(level: int, text: bytes | None, _user: object) -> None:
        with contextlib.suppress(Exception):  # an exception cannot cross C; a lost log line is the lesser harm
            line = (text or b"").decode("utf-8", "replace")
            if level == _ERROR:
                for lines in _collectors:
                    lines.append(line.strip())
            callback(_LEVELS.get(level, "info"), line)

    c_callback = llama_cpp.llama_log_callback(receive)
    _kept.append(c_callback)
    llama_cpp.llama_log_set(c_callback, ctypes.c_void_p(0))


def install_abort_hook(path: Path) -> None:
    """Before ggml aborts the process, write the reason to ``path`` (a GGML_ASSERT cannot be caught, only told)."""

    def last_words(text: bytes | None) -> None:
        with contextlib.suppress(OSError):
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(fd, (text or b"") + b"\n")
            os.close(fd)

    hook = ABORT_HOOK(last_words)
    _kept.append(hook)
    set_abort_callback(hook)
