"""Bring a model file into the page cache in slices that can be stopped.

llama.cpp maps a file with all pages populated before it reports any progress, so a cold file of many gigabytes could
neither be stopped nor watched while it is read. Where the system tells what is cached (Linux), the cold part is read
first, here. Files larger than the memory left are not warmed: they would only push themselves out again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from backend.engine.cancel import CancelFlag
from backend.library.gguf_header import stamp
from backend.plan.free import free_main_memory

_SLICE = 8 * 2**20
_PAGE = 4096


def warm(files: Sequence[Path], progress: Callable[[float], None], flag: CancelFlag) -> None:
    """Read what is not cached of ``files``; ``progress`` gets the fraction done.

    Raises:
        EngineError: FILE_MISSING; CANCELLED within one slice of the flag being set.
    """
    if not hasattr(os, "RWF_NOWAIT"):
        return
    sizes = [stamp(path)[0] for path in files]
    if sum(sizes) > free_main_memory():
        return
    done, total = 0, max(1, sum(sizes))
    buffer = bytearray(_SLICE)
    for path, size in zip(files, sizes, strict=True):
        fd = os.open(path, os.O_RDONLY)
        try:
            for start in range(0, size, _SLICE):
                flag.check()
                if not _cached(fd, start):
                    os.preadv(fd, [buffer], start)
                    progress((done + start) / total)
        finally:
            os.close(fd)
        done += size


def _cached(fd: int, offset: int) -> bool:
    """Whether the page at ``offset`` can be read without waiting for the disk."""
    try:
        return os.preadv(fd, [bytearray(_PAGE)], offset, os.RWF_NOWAIT) > 0
    except OSError:  # it would have to wait, or this file system cannot tell: reading settles both
        return False
