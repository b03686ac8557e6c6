"""Clients that connect and say nothing, say half of something, or never listen: nothing waits for them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import select
import socket
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from backend.server import connections
from backend.server.auth import Guard
from backend.worker import _listen, _server
from tests.server.asking import chat, settle
from tests.server.conftest import Worker

KEY = "a key of more than sixteen characters"


@contextlib.contextmanager
def opened(port: int, n: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that have said so much and will say no more."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(n)]
        for one in found:
            with contextlib.suppress(OSError):  # it was closed already
                one.sendall(said)
        yield found


def wait_until_closed(found: Sequence[socket.socket], n: int) -> None:
    """Until the other end has closed at least so many of them."""
    still = set(found)
    while len(found) - len(still) < n:
        ready, _, _ = select.select(list(still), [], [], 20)
        assert ready, f"only {len(found) - len(still)} are closed"
        for one in ready:
            with contextlib.suppress(ConnectionError):
                if one.recv(65536):
                    continue
            still.discard(one)


@pytest.mark.parametrize(
    "said", [b"", b"GET /x/state HTTP/1.1\r\nHo", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"]
)
def test_however_many_say_nothing_or_have_no_key_requests_are_answered(bare: Worker, said: bytes) -> None:
    with opened(bare.port, 300, said) as strangers:
        assert bare.json("GET", "/x/state")["phase"] == "idle"
        wait_until_closed(strangers, len(strangers) - connections.MOST_STRANGERS)
        assert bare.json("GET", "/x/state")["phase"] == "idle"


@pytest.mark.model
def test_a_stop_reaches_a_reply_whose_client_never_reads_while_others_say_nothing(loaded: Worker) -> None:
    body = json.dumps(chat("Count.", max_tokens=8000, stream=True, x_job="unread")).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{loaded.port}\r\nContent-Length: {len(body)}\r\n"
        f"Authorization: Bearer {loaded.endpoint.secret}\r\nContent-Type: application/json\r\n\r\n"
    )
    with opened(loaded.port, 1, head.encode() + body), opened(loaded.port, 300):
        for _ in range(500):
            if loaded.json("GET", "/x/state")["phase"] == "generating":
                break
            time.sleep(0.02)
        else:
            pytest.fail("the request was not heard")
        assert loaded.ask("DELETE", "/x/jobs/unread")[0] == 204
        settle(loaded)


HALVES = [
    b"",
    b"POST /x/thing HTTP/1.1\r\nHost: localhost",
    b"POST /x/thing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
    b"POST /x/thing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nContent-Type: application/json\r\n"
    b"Authorization: Bearer " + KEY.encode() + b"\r\n\r\n[1,",
]


@pytest.mark.parametrize("said", HALVES, ids=["nothing", "half a head", "no body, no key", "half a body"])
def test_half_a_request_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.1)
    came: list[str] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        while (message := await receive())["type"] != "http.disconnect":
            came.append(message["type"])
        came.append("gone")

    async def main() -> None:
        async with serving(app) as port:
            with opened(port, 1, said) as found:
                await asyncio.to_thread(wait_until_closed, found, 1)

    asyncio.run(main())
    assert came in ([], ["http.request", "gone"])


def test_what_nobody_reads_is_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNREAD", 0.1)

    async def main() -> None:
        gone = asyncio.Event()

        async def app(_scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})

            async def listen() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                gone.set()

            listening = asyncio.ensure_future(listen())
            while not gone.is_set():
                await send({"type": "http.response.body", "body": bytes(2**20), "more_body": True})
                await asyncio.sleep(0)
            await listening

        async with serving(app) as port:
            said = b"GET /x HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + KEY.encode() + b"\r\n\r\n"
            with opened(port, 1, said):
                await asyncio.wait_for(gone.wait(), 20)

    asyncio.run(main())


@contextlib.asynccontextmanager
async def serving(app: Any) -> AsyncIterator[int]:
    """The worker's own server before ``app``; its port."""
    listener = _listen(0)
    serve, server = _server(Guard(app, KEY, {"localhost"}), listener)
    running = asyncio.ensure_future(serve)
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await running
