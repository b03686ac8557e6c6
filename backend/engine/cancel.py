"""One flag that stops everything: a byte in C memory that llama.cpp's abort callback reads without any Python.

``llama_set_abort_callback`` is given the C library's ``strlen`` over that byte: length 1 is true, length 0 is false.
A Python callback would take the interpreter lock at every graph node instead.
"""

from __future__ import annotations

import ctypes
import sys

import llama_cpp

from backend.errors import EngineError, ErrorCode

_libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
ABORT_CALLBACK = ctypes.cast(_libc.strlen, llama_cpp.ggml_abort_callback)


class CancelFlag:
    """Set from any thread; read by loops in Python and by llama.cpp in C."""

    def __init__(self) -> None:
        self._byte = ctypes.create_string_buffer(b"\0", 2)

    @property
    def address(self) -> int:
        """Address of the flag byte, for the abort callback."""
        return ctypes.addressof(self._byte)

    def set(self) -> None:
        """Ask for a stop."""
        self._byte[0] = b"\1"

    def is_set(self) -> bool:
        """Whether a stop was asked for."""
        return self._byte[0] != b"\0"

    def check(self) -> None:
        """Raise CANCELLED if a stop was asked for."""
        if self._byte[0] != b"\0":
            raise EngineError(ErrorCode.CANCELLED, "Stopped.")
