"""What the engine's thread hands to the window, merged so that the window draws at most 30 times a second.

Text is never dropped, only joined; progress and state are latest-wins; the order within a job stays.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any, Literal

from backend.protocol import Delta
from desktop.store.records import ROUNDS_KEPT

Kind = (
    Literal["state", "lost", "loading", "loaded", "prompt", "delta", "rounds", "finished", "compared", "counted"]
    | Literal["trying", "tried", "judged", "warmed", "benched", "bench_ended", "pieces", "weighed", "fitted", "failed"]
)
_LATEST: frozenset[Kind] = frozenset({"state", "loading", "prompt", "counted", "trying"})


@dataclass(slots=True, frozen=True)
class Event:
    """One thing that happened. ``job`` is empty for the worker itself; ``side`` is set in a comparison."""

    kind: Kind
    job: str
    value: Any
    side: str = ""


class Inbox:
    """Filled on one thread, emptied on another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: dict[object, Event] = {}

    def put(self, event: Event) -> bool:
        """Add or merge; True when the inbox was empty, so that someone must be woken."""
        with self._lock:
            was_empty = not self._events
            key: object = (event.kind, event.job, event.side)
            old = self._events.get(key)
            if old is not None and event.kind == "delta":
                self._events[key] = replace(event, value=_join(old.value, event.value))
            elif old is not None and event.kind == "rounds":
                self._events[key] = replace(event, value=(old.value + event.value)[-ROUNDS_KEPT:])
            elif event.kind in _LATEST or event.kind in ("delta", "rounds"):
                self._events[key] = event
            else:
                self._events[object()] = event
            return was_empty

    def forget(self, *kinds: Kind) -> None:
        """Drop what has lost its meaning before anybody heard it."""
        with self._lock:
            self._events = {key: event for key, event in self._events.items() if event.kind not in kinds}

    def take(self) -> list[Event]:
        """Everything since the last call, oldest first."""
        with self._lock:
            events, self._events = list(self._events.values()), {}
        return events


def _join(old: Delta, new: Delta) -> Delta:
    return Delta(old.text + new.text, old.tokens + new.tokens, new.timings)
