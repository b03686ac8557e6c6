"""An engine in a worker process of our own, and why that process died when it did."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from typing_extensions import override

from backend.client.interface import EngineClient, News
from backend.client.remote import RemoteEngine
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    DraftRequest,
    Judged,
    LoadProgress,
    LoadRequest,
    Message,
    ReplyEvent,
    ReplyRequest,
    Side,
    Speculation,
    State,
)
from backend.supervisor import Supervisor

T = TypeVar("T")


def own_engine(models: Mapping[str, Path] | None = None) -> ManagedEngine:
    """An engine in a worker of our own; ``models`` are files named on a command line, by id."""
    return ManagedEngine(Supervisor(models))


class ManagedEngine(EngineClient):
    """A worker of our own: started with the first call, and explained when it dies.

    Args:
        supervisor: of the worker.
    """

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._remote: RemoteEngine | None = None
        self._starting = asyncio.Lock()
        self._early_cancels: set[str] = set()
        """Jobs stopped while the worker was still starting: they must not begin when it is there."""

    async def start(self) -> None:
        """Start the worker if none has been started yet. A dead one is not replaced: see :meth:`restart`."""
        async with self._starting:
            if self._remote is None:
                await self._connect(self._supervisor.start)

    async def restart(self) -> None:
        """A fresh worker, with nothing loaded, in place of the old one, dead or alive."""
        async with self._starting:
            if self._remote is not None:
                await self._remote.close()
                self._remote = None
            await self._connect(self._supervisor.restart)

    @override
    async def state(self) -> State:
        return await self._ask(lambda remote: remote.state())

    @override
    async def unload(self) -> State:
        return await self._ask(lambda remote: remote.unload())

    @override
    async def set_speculation(self, speculation: Speculation) -> State:
        return await self._ask(lambda remote: remote.set_speculation(speculation))

    @override
    async def count(self, messages: Sequence[Message], kwargs: dict[str, Any]) -> tuple[int, int | None]:
        return await self._ask(lambda remote: remote.count(messages, kwargs))

    @override
    async def pieces(self, ids: Sequence[int]) -> tuple[str, list[str]]:
        return await self._ask(lambda remote: remote.pieces(ids))

    @override
    async def judge(
        self, messages: Sequence[Message], ids: Sequence[int], job: str, kwargs: dict[str, Any] | None = None
    ) -> Judged:
        return await self._ask(lambda remote: remote.judge(messages, ids, job, kwargs))

    @override
    async def cancel(self, job: str) -> None:
        if self._remote is None:
            self._early_cancels.add(job)
        else:
            await self._ask(lambda remote: remote.cancel(job))

    @override
    def events(self) -> AsyncIterator[News]:
        return self._follow(lambda remote: remote.events(), None)

    @override
    def load(self, request: LoadRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        return self._follow(lambda remote: remote.load(request, job), job)

    @override
    def set_draft(self, request: DraftRequest, job: str) -> AsyncIterator[LoadProgress | State]:
        return self._follow(lambda remote: remote.set_draft(request, job), job)

    @override
    def reply(self, request: ReplyRequest, job: str) -> AsyncIterator[ReplyEvent]:
        return self._follow(lambda remote: remote.reply(request, job), job)

    @override
    def compare(self, request: ReplyRequest, job: str) -> AsyncIterator[tuple[Side, ReplyEvent] | Comparison]:
        return self._follow(lambda remote: remote.compare(request, job), job)

    @override
    async def close(self) -> None:
        if self._remote is not None:
            await self._remote.close()
        await asyncio.to_thread(self._supervisor.stop)

    async def _connect(self, begin: Callable[[], Any]) -> None:
        endpoint = await asyncio.to_thread(begin)
        self._remote = RemoteEngine(endpoint.url, endpoint.secret, native=True)

    async def _ask(self, call: Callable[[RemoteEngine], Awaitable[T]]) -> T:
        await self.start()
        assert self._remote is not None
        try:
            return await call(self._remote)
        except EngineError as error:
            raise await self._explained(error) from error

    async def _follow(self, call: Callable[[RemoteEngine], AsyncIterator[T]], job: str | None) -> AsyncIterator[T]:
        await self.start()
        assert self._remote is not None
        if job in self._early_cancels:
            self._early_cancels.discard(job)
            raise EngineError(ErrorCode.CANCELLED, "Stopped before it began.")
        try:
            async with aclosing(call(self._remote)) as items:  # type: ignore[type-var]  # they are generators
                async for item in items:
                    yield item
        except EngineError as error:
            raise await self._explained(error) from error

    async def _explained(self, error: EngineError) -> EngineError:
        """A lost connection as what is behind it: the worker's end takes a moment to be known."""
        if error.code is not ErrorCode.WORKER_GONE:
            return error
        return await asyncio.to_thread(self._supervisor.death, 2.0) or error
