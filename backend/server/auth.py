"""Who may talk to the worker: the checks that stand before every route.

A loopback port is open to every program of every user of the machine and, through a browser, to every web page
(simple POSTs, DNS rebinding). So: an exact Host list, no Origin at all, a bearer secret compared in constant time, JSON
bodies only (which forces a preflight that is never answered), and a limit on the body's size.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import EngineError, ErrorCode
from backend.server.connections import mark_known

BODY_LIMIT = 32 * 1024 * 1024
OPEN_PATHS = frozenset({"/health"})


class BodyTooLargeError(EngineError):
    """The request's body passed the limit while it was being read."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            ErrorCode.BAD_REQUEST,
            f"The request is larger than {limit // (1024 * 1024)} MiB; send a shorter conversation.",
            {"limit": limit},
        )


def loopback_hosts(port: int) -> frozenset[str]:
    """The only values of the Host header that a listener on ``port`` accepts."""
    return frozenset({f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"})


class Guard:
    """ASGI middleware that refuses what is not from the one who holds the secret.

    Args:
        app: the application behind it.
        secret: the bearer token; must not be empty.
        hosts: exact values accepted as Host.
        body_limit: largest body, in bytes.
    """

    def __init__(self, app: ASGIApp, secret: str, hosts: Iterable[str], body_limit: int = BODY_LIMIT) -> None:
        if not secret:
            raise ValueError("the secret must not be empty")
        self._app = app
        self._expected = b"Bearer " + secret.encode()
        self._hosts = frozenset(h.encode() for h in hosts)
        self._limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if scope["path"] not in OPEN_PATHS:
            mark_known(scope)
        await self._app(scope, self._limited(receive), send)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0] not in self._hosts:
            return _refuse(400, ErrorCode.BAD_REQUEST, "The Host header is not this listener's own address.")
        if b"origin" in headers:
            return _refuse(403, ErrorCode.UNAUTHORIZED, "Requests from web pages are not accepted.")
        if scope["path"] in OPEN_PATHS:
            return None
        given = headers.get(b"authorization", [])
        if len(given) != 1 or not secrets.compare_digest(given[0], self._expected):
            return _refuse(401, ErrorCode.UNAUTHORIZED, "The Authorization header does not carry this listener's key.")
        return self._body_refusal(scope, headers)

    def _body_refusal(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> JSONResponse | None:
        if scope["method"] not in {"POST", "PUT", "PATCH"}:
            return None
        kinds = headers.get(b"content-type", [])
        if len(kinds) != 1 or kinds[0].split(b";")[0].strip().lower() != b"application/json":
            return _refuse(415, ErrorCode.BAD_REQUEST, "The body must be sent as Content-Type: application/json.")
        length = headers.get(b"content-length", [b"0"])[0]
        if not length.isdigit() or int(length) > self._limit:
            return _refuse(413, ErrorCode.BAD_REQUEST, BodyTooLargeError(self._limit).message)
        return None

    def _limited(self, receive: Receive) -> Receive:
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise BodyTooLargeError(self._limit)
            return message

        return limited


def _refuse(status: int, code: ErrorCode, message: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(EngineError(code, message).to_wire(), status, headers)
