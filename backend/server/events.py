"""What subscribers of ``/x/events`` hear: that the state changed, and each round. Fed from any thread, never waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from backend.protocol import RoundRecord
from backend.server.jobs import Outbox

Heard = tuple[str, RoundRecord] | None
"""A job's round, or None: the state changed."""
_NEWEST = 4096
"""A subscriber that does not read keeps the newest so many."""


class Events:
    """Broadcasts to the subscribers of the moment."""

    def __init__(self) -> None:
        self._outboxes: tuple[Outbox[Heard], ...] = ()
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def subscription(self) -> Iterator[Outbox[Heard]]:
        """An outbox that hears everything until the block ends. On the event loop only."""
        outbox: Outbox[Heard] = Outbox(asyncio.get_running_loop(), _NEWEST)
        with self._lock:
            self._outboxes += (outbox,)
        if self._closed:
            outbox.close()
        try:
            yield outbox
        finally:
            with self._lock:
                self._outboxes = tuple(o for o in self._outboxes if o is not outbox)

    def touch(self) -> None:
        """The state changed."""
        for outbox in self._outboxes:
            outbox.put(None)

    def rounds(self, job: str, records: tuple[RoundRecord, ...]) -> None:
        """Rounds of a running reply."""
        for outbox in self._outboxes:
            for record in records:
                outbox.put((job, record))

    def close(self) -> None:
        """End every subscription."""
        self._closed = True
        for outbox in self._outboxes:
            outbox.close()
