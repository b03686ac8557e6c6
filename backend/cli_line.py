"""The line on a terminal that says how far a long step is."""

from __future__ import annotations

import os
import sys
import time


class Line:
    """A progress line that rewrites itself on a terminal, and one line every ten seconds elsewhere."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._terminal = sys.stderr.isatty()
        self._next = 0.0
        self._open = self._whole = False

    def check(self, done: int, total: int, speed: float) -> None:
        """The same of a file that is here and is being read."""
        self.show(done, total, speed, "checking, ")

    def show(self, done: int, total: int, speed: float, doing: str = "") -> None:
        """Bytes done, bytes in all, bytes per second (0: not known yet)."""
        now = time.monotonic()
        if not self._terminal and (self._whole if done >= total else now < self._next):
            return
        self._next, self._whole = now + 10, done >= total
        share = f"{100 * done / total:5.1f} %" if total else "  ?   "
        left = f", {_duration((total - done) / speed)} left" if speed > 0 and done < total else ""
        rate = f", {speed / 1e6:.1f} MB/s" if speed > 0 else ""
        text = f"{self._label}: {doing}{share} of {size_text(total)}{rate}{left}"
        if self._terminal:
            width = max(os.get_terminal_size(sys.stderr.fileno()).columns - 1, 20)
            print("\r" + text[:width].ljust(width), end="", file=sys.stderr, flush=True)
            self._open = True
        else:
            print(text, file=sys.stderr, flush=True)

    def say(self, sentence: str) -> None:
        """A sentence on a line of its own."""
        self.end()
        print(f"{self._label}: {sentence}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Close the line."""
        if self._open:
            print(file=sys.stderr, flush=True)
            self._open = False


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def size_text(size: int | None) -> str:
    """``1.23 GB``."""
    return "?" if size is None else f"{size / 1e9:.2f} GB"
