"""Server-sent events: how messages are written, and a response that owns the job it streams."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from backend.wire import to_bytes

PING = ": still here\n\n"
"""A comment line: keeps proxies and clients from giving up during a long prompt."""
DONE = "data: [DONE]\n\n"


def event(name: str, data: Any) -> str:
    """One named message, as the ``/x/`` routes send them."""
    return f"event: {name}\ndata: {to_bytes(data).decode()}\n\n"


def data(value: Any) -> str:
    """One unnamed message, as the chat-completions stream sends them."""
    return f"data: {to_bytes(value).decode()}\n\n"


class JobStream(StreamingResponse):
    """An event stream that releases its job however it ends, even if it never began.

    Args:
        content: the messages.
        release: called once when the response is over: at its end, on an error, or when the client is gone.
    """

    def __init__(self, content: AsyncIterator[str], release: Callable[[], None]) -> None:
        super().__init__(content, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._release()
