"""The client's HTTP: requests, event streams, and every failure as an EngineError."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import httpx2

from backend.errors import EngineError, ErrorCode
from backend.text import encode_text
from backend.wire import to_json

_MAX_EVENT = 64 * 1024 * 1024
_CONNECT = 10.0
"""Seconds. Reading waits for as long as a prompt takes; a dead worker ends the connection by itself."""
_JSON = {"Content-Type": "application/json"}
_CODES = {401: ErrorCode.UNAUTHORIZED, 403: ErrorCode.UNAUTHORIZED, 429: ErrorCode.BUSY}


@dataclass(frozen=True, slots=True)
class Message:
    """One server-sent event."""

    event: str
    data: str

    def json(self) -> Any:
        """Its data, an object; an empty one if it is none."""
        try:
            value = json.loads(self.data)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


def gone() -> EngineError:
    """The connection ended before the answer did."""
    return EngineError(ErrorCode.WORKER_GONE, "The connection to the engine was lost before the answer was complete.")


class Http:
    """A connection pool to one server.

    Args:
        base_url: without a trailing slash.
        key: bearer token; empty = none.
    """

    def __init__(self, base_url: str, key: str) -> None:
        self.base_url = base_url
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            # trust_env False: a proxy set for the web must not catch requests to this machine
            timeout = httpx2.Timeout(_CONNECT, read=None)
            self._client = httpx2.AsyncClient(base_url=base_url, headers=headers, timeout=timeout, trust_env=False)
        except (ValueError, httpx2.InvalidURL) as error:
            raise EngineError(ErrorCode.BAD_REQUEST, f"{base_url} is not the address of a server: {error}.") from error

    async def exists(self, path: str) -> bool:
        """Whether ``path`` answers with success."""
        try:
            response = await self._open.get(path)
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            raise _error(response)
        return response.is_success

    async def json(self, method: str, path: str, body: Any = None, *, patience: float | None = None) -> Any:
        """One request; the answer's object (an empty one for 204). ``patience`` in seconds; None = for ever."""
        timeout = httpx2.Timeout(_CONNECT, read=patience)
        try:
            response = await self._open.request(method, path, content=_encode(body), headers=_JSON, timeout=timeout)
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise _error(response)
        return _object(response.content)

    async def stream(
        self, method: str, path: str, body: Any = None, *, silence: float | None = None
    ) -> AsyncGenerator[Message, None]:
        """The messages of an event stream; an ``error`` event is raised.

        A server that answers a streaming request with one JSON object gives one message. After ``silence`` seconds
        without a byte the server counts as hung; None = it may be silent for ever.
        """
        headers = _JSON | {"Accept": "text/event-stream"}
        timeout = httpx2.Timeout(_CONNECT, read=silence)
        request = self._open.stream(method, path, content=_encode(body), headers=headers, timeout=timeout)
        try:
            async with request as response:
                if not response.is_success:
                    await response.aread()
                    raise _error(response)
                if "text/event-stream" not in response.headers.get("content-type", ""):
                    yield Message("message", (await response.aread()).decode("utf-8", "replace"))
                    return
                async for sse in httpx2.EventSource(response, max_event_size=_MAX_EVENT):
                    if sse.event == "error":
                        raise EngineError.from_wire(Message("error", sse.data).json())
                    yield Message(sse.event, sse.data)
        except httpx2.ReadTimeout as error:
            text = f"The engine at {self.base_url} has given no sign of life for {silence:g} seconds; restart it."
            raise EngineError(ErrorCode.WORKER_GONE, text, {"silence": silence}) from error
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error

    @property
    def _open(self) -> httpx2.AsyncClient:
        if self._client.is_closed:
            raise EngineError(ErrorCode.WORKER_GONE, "The connection to the engine was closed; start it again.")
        return self._client

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def _unreachable(self, error: Exception) -> EngineError:
        why = str(error) or type(error).__name__
        return EngineError(
            ErrorCode.WORKER_GONE, f"The engine at {self.base_url} does not answer ({why}).", {"reason": why}
        )


def _encode(body: Any) -> bytes | None:
    if body is None:
        return None
    return encode_text(to_json(body))


def _object(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content) if content else {}
    except (ValueError, RecursionError):
        value = {}
    return value if isinstance(value, dict) else {}


def _error(response: httpx2.Response) -> EngineError:
    body = _object(response.content)
    known = EngineError.from_wire(body) if body else None
    if known is not None and known.message != "unknown error" and known.code is not ErrorCode.BAD_REQUEST:
        return known
    code = _CODES.get(response.status_code, ErrorCode.BAD_REQUEST)
    message = known.message if known is not None else f"The server answered with status {response.status_code}."
    return EngineError(code, message, {"status": response.status_code} | (known.details if known else {}))
