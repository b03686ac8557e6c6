"""The only way from the window to the engine: one asyncio thread with the client, signals on the way back.

The window calls plain methods and gets a job id; everything that comes back arrives as frozen records through one
signal a kind, at most every 33 ms, on the window's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from backend.client import EngineClient
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    Delta,
    DraftRequest,
    Finished,
    LoadProgress,
    LoadRequest,
    Message,
    PromptProgress,
    ReplyRequest,
    Speculation,
    State,
)
from desktop.gate import Gate
from desktop.inbox import Event, Inbox, Kind

log = logging.getLogger(__name__)
FRAME_MS = 33
_LAST_WORDS_S = 0.5


class EngineBridge(QObject):
    """Owns the engine's client and its thread.

    Args:
        make_client: called on the asyncio thread, again for every restart.
    """

    state_changed = Signal(object)
    lost = Signal(object)
    loading = Signal(str, object)
    loaded = Signal(str, object)
    prompt_progress = Signal(str, object)
    delta = Signal(str, str, object)
    rounds = Signal(str, object)
    """Of a reply or a comparison, told beside it: the last ones may come after its end."""
    finished = Signal(str, object)
    compared = Signal(str, object)
    counted = Signal(int, object)
    failed = Signal(str, object)
    _wake = Signal()

    def __init__(self, make_client: Callable[[], EngineClient], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make_client = make_client
        self._client: EngineClient | None = None
        self._inbox = Inbox()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._watcher: asyncio.Task[None] | None = None
        self._there = asyncio.Event()
        """Set while there is a client: requests wait for it through a restart."""
        self._gate = Gate()
        self._loads = asyncio.Lock()
        self._waiting: set[str] = set()
        """Jobs of which the engine has not said anything yet."""
        self._closed = False
        """From then on requests come too late and do nothing."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="engine-client", daemon=True)
        self._timer = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._timer.timeout.connect(self._drain)
        self._wake.connect(self._timer.start)

    # -- the window's side ----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread and the client; the first ``state_changed`` tells that the engine answers."""
        self._thread.start()
        self._call(self._open())

    def close(self) -> None:
        """Stop what runs, tell how far it came, end the worker and the thread. Blocks, a few seconds at most."""
        self._timer.stop()
        self._closed = True
        if self._thread.is_alive():
            done = asyncio.run_coroutine_threadsafe(self._end(), self._loop)
            try:
                done.result(timeout=8)
            except (TimeoutError, EngineError):
                log.warning("the engine did not close in time")
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=2)
        if not self._loop.is_running():
            self._loop.close()
        self._drain()

    def restart(self) -> None:
        """A new worker with nothing in it. What was asked for before is over, what is asked for from now on waits."""
        self._job(self._restart)

    def hold_replies(self) -> None:
        """A pair has been chosen: from now on replies and comparisons wait for it."""
        self._soon(self._gate.close)

    def release_replies(self, error: EngineError | None = None) -> None:
        """The pair is there, or ``error`` says why it will not come."""
        self._soon(lambda: self._gate.open(error))

    def load(self, request: LoadRequest) -> str:
        """Load a pair; ``loading`` then ``loaded`` or ``failed``."""
        return self._job(lambda job: self._load_pair(request, job))

    def set_draft(self, request: DraftRequest) -> str:
        """Swap the draft model, leaving the target alone."""
        return self._job(lambda job: self._swap(request, job))

    def set_speculation(self, settings: Speculation) -> str:
        """From the next round, also of a running reply."""
        return self._job(lambda _: self._set_speculation(settings))

    def reply(self, request: ReplyRequest) -> str:
        """Generate, once no pair is on its way."""
        return self._job(lambda job: self._reply(request, job))

    def compare(self, request: ReplyRequest) -> str:
        """The same reply both ways."""
        return self._job(lambda job: self._compare(request, job))

    def count(self, ticket: int, messages: list[Message], kwargs: dict[str, Any]) -> None:
        """Count prompt tokens; the answer carries ``ticket``. Failing is silent: it is only a hint."""
        self._job(lambda _: self._count(ticket, messages, kwargs))

    def cancel(self, job: str) -> None:
        """Stop a load, a reply or a comparison; its last signal still comes."""
        self._call(self._cancel(job))

    @Slot()
    def _drain(self) -> None:
        for event in self._inbox.take():
            match event.kind:
                case "state":
                    self.state_changed.emit(event.value)
                case "lost":
                    self.lost.emit(event.value)
                case "counted":
                    self.counted.emit(*event.value)
                case "delta":
                    self.delta.emit(event.job, event.side, event.value)
                case "prompt":
                    self.prompt_progress.emit(event.job, event.value)
                case _:
                    getattr(self, event.kind).emit(event.job, event.value)

    # -- the engine's side (asyncio thread) -----------------------------------------------------------------------

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def _call(self, coroutine: Coroutine[Any, Any, None]) -> None:
        if self._closed:
            coroutine.close()
        else:
            asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _soon(self, call: Callable[[], None]) -> None:
        """Calls and jobs begin in the order in which the window asks for them."""
        if not self._closed:
            self._loop.call_soon_threadsafe(call)

    def _job(self, start: Callable[[str], Coroutine[Any, Any, None]]) -> str:
        job = uuid.uuid4().hex

        def begin() -> None:
            self._tasks[job] = task = self._loop.create_task(self._guard(start, job))
            task.add_done_callback(lambda _: self._ended(job))

        self._soon(begin)
        return job

    def _ended(self, job: str) -> None:
        self._tasks.pop(job, None)
        self._waiting.discard(job)

    async def _guard(self, start: Callable[[str], Coroutine[Any, Any, None]], job: str) -> None:
        """Every way a job can end is told to the window."""
        try:
            await start(job)
        except EngineError as error:
            self._tell("failed", job, error)
        except asyncio.CancelledError:
            self._tell("failed", job, EngineError(ErrorCode.CANCELLED, "Stopped."))
        except Exception as error:  # a job's top: nothing may end silently
            log.exception("job failed")
            self._tell("failed", job, EngineError(ErrorCode.BUG, f"Tandem hit a fault of its own: {error!r}."))

    def _tell(self, kind: Kind, job: str, value: Any, side: str = "") -> None:
        if self._inbox.put(Event(kind, job, value, side)):
            self._wake.emit()

    async def _engine(self) -> EngineClient:
        await self._there.wait()
        assert self._client is not None
        return self._client

    async def _open(self) -> None:
        self._client = self._make_client()
        self._there.set()
        self._watcher = self._loop.create_task(self._watch(self._client))

    async def _watch(self, client: EngineClient) -> None:
        try:
            async for event in client.events():
                if isinstance(event, State):
                    self._tell("state", "", event)
                else:
                    self._tell("rounds", event[0], (event[1],))
            if client is self._client:
                self._tell("lost", "", EngineError(ErrorCode.WORKER_GONE, "The engine has ended; restart it."))
        except EngineError as error:
            if client is self._client:
                self._tell("lost", "", error)
        except Exception as error:  # a task's top
            log.exception("the engine's events broke off")
            if client is self._client:
                self._tell("lost", "", EngineError(ErrorCode.WORKER_GONE, f"The engine's events broke off: {error!r}."))

    async def _end(self) -> None:
        """A reply that is stopped needs a moment to hand over its last words, token ids and figures."""
        tasks = list(self._tasks.values())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_S):
                await asyncio.gather(*(self._cancel(job) for job in list(self._tasks)))
                await asyncio.gather(*tasks, return_exceptions=True)
        await self._shut()

    async def _shut(self, until: str = "") -> None:
        """End the client and the jobs older than ``until``, by default all."""
        client, self._client = self._client, None
        self._there.clear()
        older = itertools.takewhile(lambda job: job != until, self._tasks)
        tasks = [*(self._tasks[job] for job in older), *([self._watcher] if self._watcher else [])]
        for task in tasks:
            task.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:  # also when a second restart overtakes this one: else it would find the old worker
            if client is not None:
                await client.close()

    async def _restart(self, job: str) -> None:
        try:
            await self._shut(job)
        except EngineError as error:
            log.warning("the old engine did not close: %s", error)
        self._inbox.forget("state", "lost")  # of the old engine, whatever the window has not heard yet
        await self._open()

    async def _load_pair(self, request: LoadRequest, job: str) -> None:
        self._waiting.add(job)
        async with self._loads:  # so that one that was given up is over before the next one comes
            await self._load((await self._engine()).load(request, job), job)

    async def _swap(self, request: DraftRequest, job: str) -> None:
        self._waiting.add(job)
        await self._load((await self._engine()).set_draft(request, job), job)

    async def _load(self, steps: AsyncIterator[LoadProgress | State], job: str) -> None:
        async for step in steps:
            self._waiting.discard(job)
            if isinstance(step, State):
                self._tell("state", "", step)
                self._tell("loaded", job, step)
            else:
                self._tell("loading", job, step)

    async def _set_speculation(self, settings: Speculation) -> None:
        self._tell("state", "", await (await self._engine()).set_speculation(settings))

    async def _when_loaded(self, job: str) -> EngineClient:
        """A message may be sent while its model is on its way."""
        self._waiting.add(job)
        await self._gate.passed()
        client = await self._engine()
        self._waiting.discard(job)
        return client

    async def _reply(self, request: ReplyRequest, job: str) -> None:
        async for event in (await self._when_loaded(job)).reply(request, job):
            match event:
                case Delta():
                    self._tell("delta", job, event)
                case PromptProgress():
                    self._tell("prompt", job, event)
                case Finished():
                    self._tell("finished", job, event)

    async def _compare(self, request: ReplyRequest, job: str) -> None:
        async for event in (await self._when_loaded(job)).compare(request, job):
            match event:
                case Comparison():
                    self._tell("compared", job, event)
                case (side, Delta() as part):
                    self._tell("delta", job, part, side)
                case (side, PromptProgress() as progress):
                    self._tell("prompt", job, progress, side)

    async def _count(self, ticket: int, messages: list[Message], kwargs: dict[str, Any]) -> None:
        try:
            self._tell("counted", "", (ticket, await (await self._engine()).count(messages, kwargs)))
        except EngineError:
            log.debug("tokens were not counted", exc_info=True)

    async def _cancel(self, job: str) -> None:
        task = self._tasks.get(job)
        if task is None:
            return
        if job in self._waiting or self._client is None:
            task.cancel()
            return
        try:
            await self._client.cancel(job)
        except EngineError:
            task.cancel()
