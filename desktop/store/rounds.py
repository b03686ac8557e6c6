"""A reply's rounds as they come from disk: read when somebody looks at them.

There are hundreds to a reply, tens of thousands to a long chat, and a person looks at a few. Read with the messages
they took half the time of opening a chat, and every collection of garbage went through them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any, overload

log = logging.getLogger(__name__)


class Rounds(Sequence[dict[str, Any]]):
    """Rounds in a JSON list. Damaged ones are none."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read: tuple[dict[str, Any], ...] | None = None

    @property
    def _all(self) -> tuple[dict[str, Any], ...]:
        if self._read is None:
            self._read, self._text = _rounds(self._text), ""
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


def _rounds(text: str) -> tuple[dict[str, Any], ...]:
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        log.warning("rounds are damaged (%s)", error)
        return ()
    whole = isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return tuple(value) if whole else ()
