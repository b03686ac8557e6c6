"""How fast a file can be read past the page cache, by several reads at once (Linux)."""

from __future__ import annotations

import mmap
import os
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

_BLOCK = 8 << 20
_AT_ONCE = 4


def disk_rate(file: Path, seconds: float = 1.5) -> float:
    """Bytes a second, from the file's beginning on, over so much time at most."""
    size = file.stat().st_size // _BLOCK * _BLOCK
    number = count()
    opened = os.open(file, os.O_RDONLY | os.O_DIRECT)
    began = time.perf_counter()

    def reader() -> int:
        read = 0
        with mmap.mmap(-1, _BLOCK) as block:  # whole pages, as such reads need
            while (at := next(number) * _BLOCK) < size and time.perf_counter() - began < seconds:
                read += os.preadv(opened, [block], at)
        return read

    try:
        with ThreadPoolExecutor(_AT_ONCE) as readers:
            read = sum(job.result() for job in [readers.submit(reader) for _ in range(_AT_ONCE)])
    finally:
        os.close(opened)
    return read / (time.perf_counter() - began)


def read_bytes(pid: int) -> int:
    """What a process has had read from disks so far, by page faults too."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])
