"""Connections that nothing comes of: their number and their time are bounded, so that they cost no request anything.

Every program of the machine can connect, and each connection counts towards the listener's limit. So those that have
not shown the listener's key yet are few, the oldest making way; and none may begin a request and not go on with it, or
leave unread what it is sent.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_STRANGERS: Final = 64
"""Connections that have not shown the key."""
PATIENCE = 30.0
"""Seconds from a connection's beginning, or a request's, or a part of its body, to the next of it."""
TURNS = 3
"""Of the event loop, until what a new connection has said already is read."""
ACCEPTED = 128
"""Connections that are taken in during one of them."""
UNREAD = 120.0
"""Seconds that a client may leave its buffers full."""
KNOWN = "known"
"""In the state of a request's scope: it has shown the key."""


class Connection(H11Protocol):
    """A connection with an end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it in; the oldest stranger makes way."""
        self._timer: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._began = self.loop.time()
        super().connection_made(transport)
        self._await_more()
        self._make_way(TURNS)

    @property
    def strange(self) -> bool:
        """Whether it has not shown the key, and asks for nothing just now."""
        known = self.scope is not None and KNOWN in self.scope["state"]
        return self._idle and not known and not self.transport.is_closing()

    def data_received(self, data: bytes) -> None:
        """More of a request, or all of it."""
        super().data_received(data)
        if self._idle or self.cycle.more_body:
            self._await_more(anew=not self._idle)
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads on."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def on_response_complete(self) -> None:
        """An answer is out; it may have been one for which no key is needed."""
        super().on_response_complete()
        self._make_way(0)

    def _make_way(self, turns: int) -> None:
        if turns:
            self.loop.call_soon(self._make_way, turns - 1)
            return
        strangers = [other for other in self.connections if isinstance(other, Connection) and other.strange]
        if len(strangers) > MOST_STRANGERS:
            min(strangers, key=lambda other: other._began).transport.abort()

    @property
    def _idle(self) -> bool:
        """No request's head has come whole since the last answer."""
        return self.cycle is None or self.cycle.response_complete

    def _await_more(self, *, anew: bool = False) -> None:
        if self._timer is not None and not anew:
            return
        self._stop_waiting()
        self._timer = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def mark_known(scope: Any) -> None:
    """Say of a request that it has shown the key."""
    scope.setdefault("state", {})[KNOWN] = True
