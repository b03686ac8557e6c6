"""Who gets in: every combination over a real socket, for a header is what arrives, not what a library sends."""

from __future__ import annotations

import json
import socket

import pytest

from tests.server.conftest import Worker

OWN = object()  # the value a friend would send


def send(worker: Worker, method: str, path: str, headers: list[tuple[str, str]], body: bytes = b"") -> tuple[int, str]:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    raw = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body
    with socket.create_connection(("127.0.0.1", worker.port), timeout=10) as connection:
        connection.sendall(raw)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest.decode()


def friend(worker: Worker) -> dict[str, str]:
    return {
        "Host": f"127.0.0.1:{worker.port}",
        "Authorization": f"Bearer {worker.endpoint.secret}",
        "Content-Type": "application/json",
    }


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_own_hosts_get_in(bare: Worker, name: str) -> None:
    headers = friend(bare) | {"Host": f"{name}:{bare.port}"}
    assert send(bare, "GET", "/x/state", list(headers.items()))[0] == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "evil.example:{port}",
        "localhost.evil.example:{port}",
        "127.0.0.1:{port}.evil.example",
        "127.0.0.1.nip.io:{port}",
        "LOCALHOST:{port}",
        "0.0.0.0:{port}",
        "[::]:{port}",
        "127.0.0.1:{port}@evil.example",
    ],
)
@pytest.mark.parametrize("path", ["/health", "/x/state"])
def test_other_hosts_do_not(bare: Worker, host: str | None, path: str) -> None:
    headers = friend(bare)
    if host is None:
        del headers["Host"]
    else:
        headers["Host"] = host.format(port=bare.port)
    assert send(bare, "GET", path, list(headers.items()))[0] == 400


def test_two_hosts_do_not(bare: Worker) -> None:
    headers = [*friend(bare).items(), ("Host", f"127.0.0.1:{bare.port}")]
    assert send(bare, "GET", "/x/state", headers)[0] == 400


@pytest.mark.parametrize(
    "origin", ["null", "http://evil.example", "http://127.0.0.1:{port}", "http://localhost:{port}", "file://", ""]
)
@pytest.mark.parametrize("path", ["/health", "/x/state", "/v1/models"])
def test_no_origin_gets_in(bare: Worker, origin: str, path: str) -> None:
    headers = friend(bare) | {"Origin": origin.format(port=bare.port)}
    assert send(bare, "GET", path, list(headers.items()))[0] == 403


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic {secret}",
        "bearer {secret}",
        "{secret}",
        "Bearer {secret}x",
        "Bearer  {secret}",
        "Bearer {short}",
        "Bearer {secret}, Bearer {secret}",
    ],
)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/x/state"), ("GET", "/v1/models"), ("DELETE", "/x/jobs/1"), ("GET", "/nothing")]
)
def test_only_the_secret_gets_in(bare: Worker, value: str | None, method: str, path: str) -> None:
    headers = friend(bare)
    secret = bare.endpoint.secret
    if value is None:
        del headers["Authorization"]
    else:
        headers["Authorization"] = value.format(secret=secret, short=secret[:-1])
    status, body = send(bare, method, path, list(headers.items()))
    assert status == 401
    assert json.loads(body)["error"]["code"] == "unauthorized"
    assert secret not in body


def test_two_authorizations_do_not(bare: Worker) -> None:
    headers = [*friend(bare).items(), ("Authorization", f"Bearer {bare.endpoint.secret}")]
    assert send(bare, "GET", "/x/state", headers)[0] == 401


def test_health_needs_no_secret(bare: Worker) -> None:
    status, body = send(bare, "GET", "/health", [("Host", f"127.0.0.1:{bare.port}")])
    assert status == 200
    assert json.loads(body)["status"] == "ok"
    assert json.loads(body)["protocol"] == 1


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        (None, 415),
        ("", 415),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data", 415),
        ("text/plain; application/json", 415),
        ("application/jsonx", 415),
    ],
)
def test_bodies_must_be_json(bare: Worker, kind: str | None, status: int) -> None:
    headers = friend(bare)
    del headers["Content-Type"]
    if kind is not None:
        headers["Content-Type"] = kind
    assert send(bare, "PUT", "/x/speculation", list(headers.items()), b'{"enabled": true}')[0] == status


def test_preflights_are_never_answered(bare: Worker) -> None:
    headers = {
        "Host": f"127.0.0.1:{bare.port}",
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "POST",
    }
    status, body = send(bare, "OPTIONS", "/x/models/load", list(headers.items()))
    assert status == 403
    assert "access-control" not in body.lower()


def test_announced_body_over_the_limit(bare: Worker) -> None:
    headers = friend(bare) | {"Content-Length": str(33 * 1024 * 1024)}
    assert send(bare, "POST", "/x/count", list(headers.items()))[0] == 413


def test_unannounced_body_over_the_limit(bare: Worker) -> None:
    """Chunked, so that only counting can tell."""
    head = "\r\n".join(["POST /x/count HTTP/1.1", *(f"{k}: {v}" for k, v in friend(bare).items())])
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", bare.port), timeout=20) as connection:
        connection.sendall(head.encode() + b"\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(40):
                connection.sendall(chunk)
            connection.sendall(b"0\r\n\r\n")
        except OSError:
            pass  # refused while sending: what we want
        assert connection.recv(64).split()[1] == b"413"


def test_unknown_routes_and_methods(bare: Worker) -> None:
    assert bare.ask("GET", "/nothing")[0] == 404
    assert bare.ask("GET", "/x/models/load")[0] == 405
    assert json.loads(bare.ask("GET", "/nothing")[2])["error"]["code"] == "bad_request"
