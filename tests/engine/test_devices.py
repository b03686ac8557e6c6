"""What a process holds in memory."""

from __future__ import annotations

import mmap
import os
import sys

import pytest

from backend.engine.devices import memory_used


@pytest.mark.skipif(sys.platform != "linux", reason="shared memory without a name")
def test_shared_memory_is_held_too() -> None:
    """Where the layers lie that stay in memory while others are read from disk."""
    size = 64 << 20
    before = memory_used()
    fd = os.memfd_create("layers")
    try:
        os.ftruncate(fd, size)
        with mmap.mmap(fd, size) as held:
            held.write(b"x" * size)
            assert memory_used() >= before + size - (16 << 20)
    finally:
        os.close(fd)
