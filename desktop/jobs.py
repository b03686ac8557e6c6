"""What is done with the engine: every job is a task on the asyncio thread, and every way it can end is told."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from backend.bench.report import summarise
from backend.bench.runner import Run
from backend.bench.series import Series, measured
from backend.bench.tune import Failed, Trying, chat_replies, try_drafts
from backend.client import EngineClient
from backend.documents import Attachment
from backend.errors import EngineError, ErrorCode
from backend.forecast import Forecast
from backend.protocol import (
    Comparison,
    Delta,
    DraftRequest,
    Finished,
    LoadProgress,
    LoadRequest,
    Message,
    ModelInfo,
    PromptProgress,
    ReplyRequest,
    Speculation,
    State,
)
from desktop.fitting import Prompt, fit, weigh
from desktop.gate import Gate
from desktop.inbox import Kind
from desktop.language import tr

log = logging.getLogger(__name__)
Start = Callable[[str], Coroutine[Any, Any, None]]
MakeClient = Callable[[], EngineClient]
_LAST_WORDS_S = 0.5


class Tell(Protocol):
    """Hands one thing that happened to the window."""

    def __call__(self, kind: Kind, job: str, value: Any, side: str = "") -> None: ...


class Jobs:
    """The client and what runs on it. For the engine's thread only.

    Args:
        make_client: called again for every restart.
        tell: hands on what happens.
        forget: drops what was told and has not been heard yet.
    """

    def __init__(self, make_client: MakeClient, tell: Tell, forget: Callable[..., None]) -> None:
        self._make_client = make_client
        self._tell = tell
        self._forget = forget
        self.gate = Gate()
        """Replies and comparisons wait here for a pair that is on its way."""
        self._client: EngineClient | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._watcher: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        """The end of the last client, and of those before it."""
        self._there = asyncio.Event()
        """Set while there is a client: requests wait for it through a restart."""
        self._target: ModelInfo | None = None
        """What answers, as the engine said last."""
        self._loads = asyncio.Lock()
        self._waiting: set[str] = set()
        """Jobs of which the engine has not said anything yet; trials and benchmarks are stopped like them, at once."""

    def begin(self, job: str, start: Start) -> None:
        """Run ``start`` under the id ``job``."""
        self._tasks[job] = task = asyncio.get_running_loop().create_task(self._guard(start, job))
        task.add_done_callback(lambda _: self._ended(job))

    def _ended(self, job: str) -> None:
        self._tasks.pop(job, None)
        self._waiting.discard(job)

    async def _guard(self, start: Start, job: str) -> None:
        """Every way a job can end is told to the window."""
        try:
            await start(job)
        except EngineError as error:
            self._tell("failed", job, error)
        except asyncio.CancelledError:
            self._tell("failed", job, EngineError(ErrorCode.CANCELLED, tr("Stopped.")))
        except Exception as error:  # a job's top: nothing may end silently
            log.exception("job failed")
            said = tr("Tandem hit a fault of its own: {error!r}.", error=error)
            self._tell("failed", job, EngineError(ErrorCode.BUG, said))

    async def _engine(self) -> EngineClient:
        await self._there.wait()
        assert self._client is not None
        return self._client

    def _tell_state(self, state: State) -> None:
        self._target = state.target or self._target  # without one nothing answers, and a late word of that does no harm
        self._tell("state", "", state)

    async def open(self) -> None:
        """A client, and an ear for what it tells by itself."""
        self._client = self._make_client()
        self._there.set()
        self._watcher = asyncio.get_running_loop().create_task(self._watch(self._client))

    async def _watch(self, client: EngineClient) -> None:
        try:
            async for event in client.events():
                if isinstance(event, State):
                    self._tell_state(event)
                else:
                    self._tell("rounds", event[0], (event[1],))
            lost = EngineError(ErrorCode.WORKER_GONE, tr("The engine has ended; restart it."))
        except EngineError as error:
            lost = error
        except Exception as error:  # a task's top
            log.exception("the engine's events broke off")
            lost = EngineError(ErrorCode.WORKER_GONE, tr("The engine's events broke off: {error!r}.", error=error))
        if client is self._client:
            self._tell("lost", "", lost)

    async def end(self) -> None:
        """A reply that is stopped needs a moment to hand over its last words, token ids and figures."""
        tasks = list(self._tasks.values())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_S):
                await asyncio.gather(*(self.cancel(job) for job in list(self._tasks)))
                await asyncio.gather(*tasks, return_exceptions=True)
        await self._shut(self._tasks)

    async def _shut(self, ending: Iterable[str] = ()) -> None:
        """End the client and some jobs with it."""
        client, self._client, self._target = self._client, None, None
        self._there.clear()
        tasks = [*(self._tasks[job] for job in ending), *([self._watcher] if self._watcher else [])]
        for task in tasks:
            task.cancel()
        # a task of its own: what waits for it may be cancelled (a second restart, the program's end), it may not
        self._closing = asyncio.get_running_loop().create_task(self._close(client, [*tasks, self._closing]))
        await asyncio.shield(self._closing)

    @staticmethod
    async def _close(client: EngineClient | None, after: Sequence[asyncio.Task[None] | None]) -> None:
        await asyncio.gather(*filter(None, after), return_exceptions=True)
        if client is not None:
            await client.close()

    async def restart(self, job: str) -> None:
        """Another client in place of the old one, whose jobs end with it."""
        try:
            await self._shut(list(itertools.takewhile(lambda other: other != job, self._tasks)))
        except EngineError as error:
            log.warning("the old engine did not close: %s", error)
        self._forget("state", "lost")  # of the old engine, whatever the window has not heard yet
        await self.open()

    async def load(self, request: LoadRequest, job: str) -> None:
        """A pair."""
        self._waiting.add(job)
        async with self._loads:  # so that one that was given up is over before the next one comes
            await self._follow((await self._engine()).load(request, job), job)

    async def set_draft(self, request: DraftRequest, job: str) -> None:
        """Another draft."""
        self._waiting.add(job)
        await self._follow((await self._engine()).set_draft(request, job), job)

    async def _follow(self, steps: AsyncIterator[LoadProgress | State], job: str) -> None:
        async for step in steps:
            self._waiting.discard(job)
            if isinstance(step, State):
                self._tell_state(step)
                self._tell("loaded", job, step)
            else:
                self._tell("loading", job, step)

    async def set_speculation(self, settings: Speculation) -> None:
        self._tell_state(await (await self._engine()).set_speculation(settings))

    async def _when_loaded(self, job: str) -> EngineClient:
        """A message may be sent while its model is on its way."""
        self._waiting.add(job)
        await self.gate.passed()
        client = await self._engine()
        self._waiting.discard(job)
        return client

    def _fitted(self, request: ReplyRequest) -> ReplyRequest:
        return request.model_copy(update={"template_kwargs": self._fitting(request.template_kwargs)})

    def _fitting(self, switches: dict[str, Any]) -> dict[str, Any]:
        """Those that the template of what answers knows: the engine refuses others. Known only when it is there."""
        known = self._target.template_variables if self._target is not None else ()
        return {name: value for name, value in switches.items() if name in known}

    async def reply(self, request: ReplyRequest, job: str) -> None:
        client = await self._when_loaded(job)
        async for event in client.reply(self._fitted(request), job):
            match event:
                case Delta():
                    self._tell("delta", job, event)
                case PromptProgress():
                    self._tell("prompt", job, event)
                case Finished():
                    self._tell("finished", job, event)

    async def compare(self, request: ReplyRequest, job: str) -> None:
        client = await self._when_loaded(job)
        async for event in client.compare(self._fitted(request), job):
            match event:
                case Comparison():
                    self._tell("compared", job, event)
                case (side, Delta() as part):
                    self._tell("delta", job, part, side)
                case (side, PromptProgress() as progress):
                    self._tell("prompt", job, progress, side)

    async def count(self, ticket: int, messages: list[Message], switches: dict[str, Any]) -> None:
        counted = None
        try:
            with contextlib.suppress(EngineError):
                counted = await (await self._engine()).count(messages, self._fitting(switches))
        finally:
            self._tell("counted", "", (ticket, counted))

    async def weigh(self, attachment: Attachment, job: str) -> None:
        with contextlib.suppress(EngineError):  # it is only a hint
            self._tell("weighed", job, await weigh(await self._engine(), attachment))

    async def fit(
        self, prompt: Prompt, attached: tuple[Attachment, ...], most: int | None, switches: dict[str, Any], job: str
    ) -> None:
        fits = None
        with contextlib.suppress(EngineError):  # what is wrong is said when it is sent
            fits = await fit(await self._engine(), prompt, attached, most, self._fitting(switches))
        self._tell("fitted", job, fits)

    async def pieces(self, ids: Sequence[int], job: str) -> None:
        """What tokens stand for."""
        self._tell("pieces", job, await (await self._engine()).pieces(ids))

    async def try_drafts(self, drafts: Sequence[str], chats: Path, job: str) -> None:
        """What each draft would gain on the replies that the loaded target has written."""
        self._waiting.add(job)
        client = await self._engine()
        if (target := (await client.state()).target) is None:
            raise EngineError(ErrorCode.NO_MODEL, tr("No model is loaded; choose one first."))
        replies = await asyncio.to_thread(chat_replies, chats, target)
        found: list[Forecast | Failed] = []
        async with contextlib.aclosing(try_drafts(client, drafts, replies)) as steps:  # type: ignore[type-var]
            async for step in steps:
                if isinstance(step, Trying):
                    self._tell("trying", job, step)
                else:
                    found.append(step)
                    self._tell("tried", job, step)
        self._tell_state(await client.state())
        self._tell("judged", job, (len(replies), tuple(found)))

    async def bench(self, series: Series, job: str) -> None:
        """Every way of decoding on every prompt, one reply after another."""
        self._waiting.add(job)
        client = await self._engine()
        runs: list[Run] = []
        async with contextlib.aclosing(measured(client, series)) as steps:  # type: ignore[type-var]
            async for run in steps:
                if run is None:
                    self._tell("warmed", job, None)
                else:
                    runs.append(run)  # the rows are made between two replies, so that no reply is slowed by it
                    self._tell("benched", job, (run, await asyncio.to_thread(summarise, tuple(runs))))
        self._tell("bench_ended", job, None)

    async def cancel(self, job: str) -> None:
        """Through the engine, which then says how far the job came; at once when it knows nothing of it."""
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
