"""The API for other programs: on a port of its own, with a key of its own, and back after the worker was."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path

import pytest

from tests.server.conftest import Worker, make_worker


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_public_listener_has_its_own_key_and_only_v1(tmp_path: Path) -> None:
    port, key = free_port(), "a-public-key-of-some-length"
    worker = make_worker(tmp_path / "home", TANDEM_PUBLIC_PORT=str(port), TANDEM_PUBLIC_KEY=key)
    public = Worker(worker.supervisor, worker.home)
    try:

        def get(path: str, secret: str, to: int) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", to, timeout=10)
            connection.request("GET", path, headers={"Authorization": f"Bearer {secret}"})
            status = connection.getresponse().status
            connection.close()
            return status

        assert worker.ask("GET", "/x/state")[0] == 200
        assert get("/v1/models", key, port) == 200
        assert get("/x/state", key, port) == 404
        assert get("/v1/models", worker.endpoint.secret, port) == 401
        assert get("/v1/models", key, worker.port) == 401
        assert key not in public.log
    finally:
        worker.supervisor.stop()


def test_public_listener_comes_back_with_the_next_worker(tmp_path: Path) -> None:
    """A program that keeps its connection open, as most do; a port of which connections linger is not in use."""
    port, key = free_port(), "a-public-key-of-some-length"
    worker = make_worker(tmp_path / "home", TANDEM_PUBLIC_PORT=str(port), TANDEM_PUBLIC_KEY=key)
    try:
        for _ in range(2):
            assert worker.json("GET", "/x/state")["detail"] == ""
            kept = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            kept.request("GET", "/v1/models", headers={"Authorization": f"Bearer {key}"})
            answer = kept.getresponse()
            answer.read()
            assert answer.status == 200
            worker.supervisor.stop()
            kept.close()
            worker.supervisor.start()
        assert worker.json("GET", "/x/state")["detail"] == ""
    finally:
        worker.supervisor.stop()


@pytest.mark.parametrize(
    ("port", "key", "words"),
    [("80", "k" * 20, "80"), ("x", "k" * 20, "x"), (None, "", "key"), ("taken", "k" * 20, "is not free")],
)
def test_public_listener_that_cannot_start_costs_nothing_else(
    tmp_path: Path, port: str | None, key: str, words: str
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = str(taken.getsockname()[1]) if port == "taken" else port or str(free_port())
        worker = make_worker(tmp_path / "home", TANDEM_PUBLIC_PORT=number, TANDEM_PUBLIC_KEY=key)
        try:
            detail = worker.json("GET", "/x/state")["detail"]
            assert "local API could not start" in detail
            assert words in detail
        finally:
            worker.supervisor.stop()
