"""What every long step of the library shares: progress with a speed, a flag to stop it, room on the disk."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from backend.errors import EngineError, ErrorCode

Progress = Callable[[int, int, float], None]
"""``(bytes done, bytes in all, bytes per second)``; the speed is an average over the last seconds."""

MARGIN = 256 * 2**20
"""Bytes that stay free after a download: a full disk harms more than a missing model."""
_INTERVAL = 0.1
_SMOOTHING = 3.0


class Flag(Protocol):
    """Something that can be set to stop a step, such as ``threading.Event``."""

    def is_set(self) -> bool:
        """True once the step shall stop."""
        ...


class Meter:
    """Counts bytes and tells ``progress`` at most ten times a second."""

    def __init__(self, total: int, progress: Progress) -> None:
        self.total = total
        self._progress = progress
        self._told = self._since = time.monotonic()
        self._counted = 0
        self._speed = 0.0

    def begin(self, done: int) -> None:
        """``done`` bytes were there before: they say nothing of the speed."""
        self._counted, self._since = done, time.monotonic()

    def at(self, done: int) -> None:
        """``done`` bytes are there by now."""
        now = time.monotonic()
        step = now - self._since
        if step >= 0.5:
            fresh = max(done - self._counted, 0) / step
            weight = min(1.0, step / _SMOOTHING) if self._speed else 1.0
            self._speed += weight * (fresh - self._speed)
            self._since, self._counted = now, done
        if now - self._told >= _INTERVAL or done >= self.total:
            self._told = now
            self._progress(min(done, self.total), self.total, self._speed)


def stop_if(flag: Flag) -> None:
    """Raise ``CANCELLED`` once the flag is set."""
    if flag.is_set():
        raise EngineError(ErrorCode.CANCELLED, "Stopped on request.")


def check_space(folder: Path, needed: int) -> None:
    """Make sure that ``needed`` bytes and the margin fit on the disk of ``folder`` (which may not exist yet).

    Raises:
        EngineError: ``DISK_FULL`` with both numbers.
    """
    free = free_space(folder)
    if free < needed + MARGIN:
        raise disk_full(folder, needed + MARGIN, free)


def free_space(folder: Path) -> int:
    """Free bytes on the disk of ``folder``, which may not exist yet."""
    place = next((p for p in (folder, *folder.parents) if p.exists()), Path.cwd())
    return shutil.disk_usage(place).free


def disk_full(folder: Path, needed: int, free: int | None = None) -> EngineError:
    """The one sentence for a full disk."""
    if free is None:
        free = free_space(folder)
    return EngineError(
        ErrorCode.DISK_FULL,
        f"The disk of {folder} has {free / 1e9:.2f} GB free, but {needed / 1e9:.2f} GB are needed "
        "(a reserve included); free some space or move the folder.",
        {"folder": str(folder), "needed": needed, "free": free},
    )
