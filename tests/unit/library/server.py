"""A small hub on this machine: real HTTP, and every way in which a server can disappoint."""

from __future__ import annotations

import hashlib
import json
import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CONTENT = b"GGUF" + random.Random(3).randbytes(3_000_000)


@dataclass
class Hub:
    """What the server shall do, and what it was asked."""

    content: bytes = CONTENT
    files: dict[str, bytes] = field(default_factory=dict)
    """Other contents, by the file's name."""
    mark: str = '"one"'
    """The ETag of its answers to GET; to HEAD it says the content's hash, as the real one does."""
    hashed: bool = True
    """Whether it says that hash."""
    ranges: bool = True
    token: str = ""
    """Without it nobody gets anything."""
    missing: bool = False
    status: int = 0
    statuses: list[int] = field(default_factory=list)
    """Of the next answers to GET."""
    breaks: list[int] = field(default_factory=list)
    """The next answers to GET end after so many bytes, without a word."""
    stall_after: int | None = None
    rate: int = 0
    """Bytes a second; 0 = as fast as it goes."""
    page: bytes | None = None
    """Instead of the content, as a hotel's network does."""
    redirect: str = ""
    """Where the bytes really lie."""
    json: dict[str, Any] = field(default_factory=dict)
    """Answers by path."""
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    @property
    def gets(self) -> list[dict[str, str]]:
        """The headers of every GET for content."""
        return [headers for method, path, headers in self.requests if method == "GET" and "/api/" not in path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def handle(self) -> None:
        with suppress(ConnectionError):  # a client that was killed says nothing
            super().handle()

    @property
    def _content(self) -> bytes:
        return self.hub.files.get(self.path.partition("?")[0].rpartition("/")[2], self.hub.content)

    def do_HEAD(self) -> None:
        self._note()
        if not self._refused():
            length = len(self._content)
            if self.hub.redirect:
                self._answer(302, {"Location": self.hub.redirect, "X-Linked-Size": str(length)})
            else:
                self._answer(200, {}, length)

    def do_GET(self) -> None:
        hub = self.hub
        self._note()
        path = self.path.partition("?")[0]
        if path in hub.json:
            self._send(json.dumps(hub.json[path]).encode(), 200, {})
        elif path == "/bytes":
            self._bytes()
        elif not self._refused():
            if hub.redirect:
                self._answer(302, {"Location": hub.redirect})
            else:
                self._bytes()

    def _bytes(self) -> None:
        hub, content = self.hub, self._content
        if hub.statuses and (status := hub.statuses.pop(0)) != 200:
            self._answer(status, {"Content-Range": f"bytes */{len(content)}"} if status == 416 else {})
            return
        if hub.page is not None:
            self._send(hub.page, 200, {})
            return
        start = self._start()
        if start is not None and start >= len(content):
            self._answer(416, {"Content-Range": f"bytes */{len(content)}"})
        elif start is None:
            self._send(content, 200, {"ETag": hub.mark})
        else:
            last = len(content) - 1
            part = {"ETag": hub.mark, "Content-Range": f"bytes {start}-{last}/{len(content)}"}
            self._send(content[start:], 206, part)

    def _start(self) -> int | None:
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked is None or not self.hub.ranges or self.headers.get("If-Range", self.hub.mark) != self.hub.mark:
            return None
        return int(asked[1])

    def _send(self, content: bytes, status: int, headers: dict[str, str]) -> None:
        hub = self.hub
        limit = hub.breaks.pop(0) if hub.breaks else hub.stall_after
        self._answer(status, headers, len(content))
        try:
            for part in self._paced(content[:limit]):
                self.wfile.write(part)
            self.wfile.flush()
            if hub.stall_after is not None:
                self.connection.settimeout(30)
                self.rfile.read(1)
        except OSError:
            pass
        if limit is not None:
            self.close_connection = True

    def _paced(self, content: bytes) -> Iterator[bytes]:
        step = max(self.hub.rate // 20, 1) if self.hub.rate else len(content) or 1
        for at in range(0, len(content), step):
            yield content[at : at + step]
            if self.hub.rate:
                time.sleep(0.05)

    def _refused(self) -> bool:
        hub = self.hub
        if hub.status:
            self._answer(hub.status, {})
        elif hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            self._answer(403 if self.headers.get("Authorization") else 401, {"X-Error-Code": "GatedRepo"})
        elif hub.missing:
            self._answer(404, {"X-Error-Code": "EntryNotFound"})
        else:
            return False
        return True

    def _answer(self, status: int, headers: dict[str, str], length: int = 0) -> None:
        hub, told = self.hub, {"X-Repo-Commit": "c" * 40} | headers
        if self.command == "HEAD" and hub.hashed:
            told["X-Linked-Etag"] = f'"{hashlib.sha256(self._content).hexdigest()}"'
        self.send_response(status)
        for key, value in ({"ETag": hub.mark} | told).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _note(self) -> None:
        self.hub.requests.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub answers at ``hub.url`` meanwhile."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
