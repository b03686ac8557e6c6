"""Where lines may break: between words, but not in a text without any.

Qt looks for a place to break in a time that grows with the square of a run of letters: 0.3 s for 100,000 of them, more
than 20 s for a million, on the window's thread.
"""

from __future__ import annotations

from PySide6.QtGui import QTextOption

_LONGEST = 5_000
"""Letters in a row. Addresses and hashes are shorter."""


def wrap_mode(text: str) -> QTextOption.WrapMode:
    """How ``text`` is wrapped."""
    longest = max((len(run) for line in text.splitlines() for run in line.split(" ")), default=0)
    long = longest > _LONGEST
    return QTextOption.WrapMode.WrapAnywhere if long else QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
