"""A reply's rounds as they come from disk: read when somebody looks at them.

There are hundreds to a reply, tens of thousands to a long chat, and a person looks at a few. Read with the messages
they took half the time of opening a chat, and every collection of garbage went through them.

They are packed: in each the same names and reasons stand again. Those of earlier versions are plain JSON.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections.abc import Sequence
from typing import Any, overload

log = logging.getLogger(__name__)

_MOST = 64_000_000
"""Bytes that are unpacked: thirty times what the rounds of a reply come to."""


def packed(rounds: Sequence[dict[str, Any]]) -> bytes | str:
    """As they are stored."""
    return zlib.compress(json.dumps(list(rounds), separators=(",", ":")).encode()) if rounds else "[]"


class Rounds(Sequence[dict[str, Any]]):
    """Rounds as they are stored. Damaged ones are none."""

    def __init__(self, text: str | bytes) -> None:
        self._text = text
        self._read: tuple[dict[str, Any], ...] | None = None

    @property
    def _all(self) -> tuple[dict[str, Any], ...]:
        if self._read is None:
            self._read, self._text = _rounds(self._text), ""  # not kept twice
        return self._read

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[dict[str, Any], ...]: ...

    def __getitem__(self, at: int | slice) -> dict[str, Any] | tuple[dict[str, Any], ...]:
        return self._all[at]

    def __len__(self) -> int:
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # what can be changed, dicts, is in it


def _rounds(text: str | bytes) -> tuple[dict[str, Any], ...]:
    try:
        value = json.loads(zlib.decompressobj().decompress(text, _MOST) if isinstance(text, bytes) else text)
    except (ValueError, TypeError, RecursionError, zlib.error) as error:
        log.warning("rounds are damaged (%s)", error)
        return ()
    whole = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return tuple(value) if whole else ()
