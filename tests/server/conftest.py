"""A real worker process, over real sockets: one bare, one with the quickest real model loaded."""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from backend.client import ManagedEngine, RemoteEngine
from backend.protocol import LoadOptions, LoadRequest, State
from backend.supervisor import Endpoint, Supervisor

T = TypeVar("T")


@dataclass
class Worker:
    """A running worker and short ways to talk to it."""

    supervisor: Supervisor
    home: Path

    @property
    def endpoint(self) -> Endpoint:
        endpoint = self.supervisor.endpoint
        assert endpoint is not None
        return endpoint

    @property
    def port(self) -> int:
        return int(self.endpoint.url.rsplit(":", 1)[1])

    @property
    def log(self) -> str:
        return "".join(path.read_text("utf-8", "replace") for path in (self.home / "logs").glob("engine.log*"))

    def ask(self, method: str, path: str, body: Any = None, timeout: float = 60) -> tuple[int, dict[str, str], bytes]:
        """One request with all that the worker wants to see: (status, headers, body)."""
        headers = {"Authorization": f"Bearer {self.endpoint.secret}", "Content-Type": "application/json"}
        raw = body if isinstance(body, bytes) else (None if body is None else json.dumps(body).encode())
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, raw, headers)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def json(self, method: str, path: str, body: Any = None) -> Any:
        status, _, raw = self.ask(method, path, body)
        assert status == 200, raw
        return json.loads(raw)

    def client(self) -> RemoteEngine:
        return RemoteEngine(self.endpoint.url, self.endpoint.secret)

    def run(self, talk: Callable[[RemoteEngine], Coroutine[Any, Any, T]]) -> T:
        """Run ``talk(client)`` to its end."""

        async def main() -> T:
            client = self.client()
            try:
                return await talk(client)
            finally:
                await client.close()

        return asyncio.run(main())


def make_worker(home: Path, models: dict[str, Path] | None = None, **env: str) -> Worker:
    worker = Worker(Supervisor(models or {}, env={"TANDEM_HOME": str(home)} | env), home)
    worker.supervisor.start()
    return worker


async def last(items: AsyncIterator[T]) -> T:
    item: T | None = None
    async for item in items:  # noqa: B007
        pass
    assert item is not None
    return item


@pytest.fixture
def fresh(tandem_home: Path, smollm2: Path) -> Iterator[Worker]:
    """A worker for this one test, with nothing loaded."""
    worker = make_worker(tandem_home, {"smollm2": smollm2})
    yield worker
    worker.supervisor.stop()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A worker with nothing loaded."""
    worker = make_worker(tmp_path_factory.mktemp("bare"))
    yield worker
    worker.supervisor.stop()


@pytest.fixture(scope="module")
def loaded(
    tmp_path_factory: pytest.TempPathFactory, smollm2: Path, gemma3_270m: Path, starter_draft: Path
) -> Iterator[Worker]:
    """A worker with SmolLM2 loaded (context 8192), and other models that it can be asked to load."""
    models = {"smollm2": smollm2, "gemma": gemma3_270m, "coder": starter_draft}
    worker = make_worker(tmp_path_factory.mktemp("loaded"), models)
    load_smollm2(worker)
    yield worker
    worker.supervisor.stop()


def load_smollm2(worker: Worker) -> State:
    """One thread: two that wait for each other are far slower where the machine has other work."""
    request = LoadRequest(target="smollm2", options=LoadOptions(n_ctx=8192, threads=1))
    state = worker.run(lambda client: last(client.load(request, "load")))
    assert isinstance(state, State)
    assert state.phase == "ready", state
    return state


@pytest.fixture
def managed(fresh: Worker) -> ManagedEngine:
    return ManagedEngine(fresh.supervisor)
