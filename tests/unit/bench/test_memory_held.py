"""What the memory check counts of a process."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path

import pytest

from tests.long.memory import held

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system's own table of mappings")
SIZE = 40 << 20


def test_what_cannot_be_dropped_is_counted_and_mapped_files_are_not(tmp_path: Path) -> None:
    file = tmp_path / "weights.gguf"
    file.write_bytes(b"x" * SIZE)
    before = held(os.getpid())
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert mapped.find(b"y") == -1, "it is all read"
        assert held(os.getpid()) - before < SIZE / 2
    anonymous = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    anonymous.write(b"x" * SIZE)
    assert held(os.getpid()) - before == pytest.approx(SIZE, rel=0.2)
    anonymous.close()
    pool = os.memfd_create("layers")
    os.ftruncate(pool, SIZE)
    with mmap.mmap(pool, SIZE) as shared:
        shared.write(b"x" * SIZE)
        assert held(os.getpid()) - before == pytest.approx(SIZE, rel=0.2)
    os.close(pool)
