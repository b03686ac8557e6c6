"""The places that a model can lie in: graphics cards, main memory, disk; what is free there, how fast it is read."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.equations import between
from backend.protocol import DeviceInfo

_GPU_RATE = 250e6
_RAM_RATE = 40e6
_DISK_RATE = 2e6
"""Bytes a millisecond where nothing was measured: a card of the middle class, two channels of DDR4, an NVMe disk."""
_GPU_ROW, _RAM_ROW = 0.02, 0.15
"""What each further token of a pass adds to it, as a share of a pass over one: measured on a 2-core server processor
with a Q4_K_M target (0.12 to 0.2 there), assumed for a GPU."""
_NARROW, _WIDE = 8, 2.0
"""Tokens of a pass up to which a card's kernels for few columns go, and what a pass takes beyond, as a multiple: one
with a 34B Q8_0 model on an A100 took 2.2 times as long over 9 tokens as over 8 (llama.cpp's issue 5625)."""

_REACHED = 0.7
_SPARE = 256 << 20
"""Left free on a card: for its driver, and what other programs draw."""


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere weights can lie.

    Attributes:
        name: for people.
        free: bytes that nobody uses.
        rate: bytes read in a millisecond.
        row: what each further token of a pass adds, as a share of a one-token pass.
        card: whether it is a graphics card.
        spare: bytes of ``free`` that are left alone.
        passes: what passes of some sizes were measured to take there, as multiples of a one-token pass; instead of row.
    """

    name: str
    free: int
    rate: float
    row: float
    spare: int = 0
    passes: Mapping[int, float] | None = None
    card: bool = False

    def times(self, n: int) -> float:
        """What a pass over ``n`` tokens takes there, as a multiple of a one-token pass."""
        if self.passes:
            return between(self.passes, sorted(self.passes), n)
        return (1 + self.row * (n - 1)) * (_WIDE if self.card and n > _NARROW else 1)

    @property
    def usable(self) -> int:
        """Bytes that a plan may take."""
        return max(0, self.free - self.spare)


@dataclass(frozen=True, slots=True)
class Machine:
    """All places; ``gpus`` may be empty, and what fits nowhere is read from ``disk`` for each pass."""

    gpus: tuple[Place, ...]
    memory: Place
    disk: Place


def machine(
    memory: int,
    gpus: Sequence[int] = (),
    *,
    memory_rate: float | None = None,
    passes: Mapping[int, float] | None = None,
) -> Machine:
    """A machine with so many free bytes of main memory and on each card."""
    places = (Place(f"GPU {i}", free, _GPU_RATE, _GPU_ROW, _SPARE, card=True) for i, free in enumerate(gpus))
    ram = Place("memory", memory, memory_rate or _RAM_RATE, _RAM_ROW, passes=passes)
    return Machine(tuple(places), ram, Place("disk", 0, _DISK_RATE, 0.0))


def cards(devices: Iterable[DeviceInfo]) -> list[int]:
    """Free bytes of each card with memory of its own; where it is shared, main memory is what counts."""
    if sys.platform == "darwin":
        return []
    return [device.free for device in devices if device.kind == "gpu" and device.total]


def measured_memory_rate(threads: int, size: int = 1 << 28, seconds: float = 0.2) -> float:
    """Bytes of weights that a pass with ``threads`` threads reads in a millisecond.

    Matrix products reach a part of what a plain scan does: 0.5 to 0.7 on one 2-core processor, 0.8 to 0.9 on another.
    """
    part = np.ones(size // threads // 8)
    parts = [part, *(part.copy() for _ in range(threads - 1))]

    def scan(part: NDArray[np.float64]) -> float:
        scans, began = 0, time.perf_counter()
        while (now := time.perf_counter()) < began + seconds or not scans:
            part.max()  # lets other threads run, and reads without writing
            scans += 1
        return scans * part.nbytes / (1e3 * (now - began))

    with ThreadPoolExecutor(threads) as pool:
        return _REACHED * sum(pool.map(scan, parts))
