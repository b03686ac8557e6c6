"""Jobs: what the engine's threads do for a client, and how their events reach the event loop.

The engine thread must never wait for a consumer: a stalled client would stall every other one. So a job's events go
into an unbounded outbox (their number is bounded by the reply's length), the consumer takes all that is there at once,
and the server merges it into one message.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from backend.errors import EngineError, ErrorCode

if TYPE_CHECKING:
    from backend.engine.cancel import CancelFlag

log = logging.getLogger(__name__)
T = TypeVar("T")

_LOOK_EVERY = 0.01
"""Seconds between two looks at a running job's events: less than a frame of a screen."""


class Outbox(Generic[T]):
    """Events from any thread to one consumer on the event loop. Putting never blocks.

    Args:
        loop: the consumer's loop.
        limit: keep only the newest so many (for subscribers that may not read); None = all.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: int | None = None) -> None:
        self._items: deque[T] = deque(maxlen=limit)
        self._loop = loop
        self._polled = limit is None
        self._wake = asyncio.Event()
        self._waiting = False
        self._closed = False
        self._error: EngineError | None = None

    @property
    def closed(self) -> bool:
        """Whether nothing more will come."""
        return self._closed

    def put(self, item: T) -> None:
        """Add an event."""
        self._items.append(item)
        self._notify()

    def close(self, error: EngineError | None = None) -> None:
        """End the stream of events, with the error that ended it if there was one. Later calls do nothing."""
        if not self._closed:
            self._error = error
            self._closed = True
            self._notify()

    def _notify(self) -> None:
        # The loop is woken only if the consumer sleeps: a busy consumer costs the engine thread one append. A running
        # job's consumer looks by itself: waking it between two rounds makes it compete with the engine thread for the
        # interpreter just then (half a millisecond a round); during a decode the interpreter is free.
        if self._waiting:
            self._waiting = False
            with suppress(RuntimeError):  # the loop is closed: nobody is left to tell
                self._loop.call_soon_threadsafe(self._wake.set)

    async def batches(self, keep_alive: float = 10.0) -> AsyncGenerator[list[T], None]:
        """Everything that is queued, each time something is; an empty list after ``keep_alive`` silent seconds.

        Raises:
            EngineError: the error the outbox was closed with, after all events.
        """
        while True:
            closed = self._closed  # read before the items: what was put before closing is in them
            items = [self._items.popleft() for _ in range(len(self._items))]
            if items:
                yield items
            elif closed:
                if self._error is not None:
                    raise self._error
                return
            elif not await self._sleep(keep_alive):
                yield []

    async def _sleep(self, seconds: float) -> bool:
        return await (self._poll(seconds) if self._polled else self._wait(seconds))

    async def _poll(self, seconds: float) -> bool:
        until = self._loop.time() + seconds
        while not (self._items or self._closed):
            if self._loop.time() >= until:
                return False
            await asyncio.sleep(_LOOK_EVERY)
        return True

    async def _wait(self, seconds: float) -> bool:
        self._wake.clear()
        self._waiting = True
        if self._items or self._closed:
            self._waiting = False
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return False
        return True


class Job:
    """One piece of work for one client.

    Args:
        id: chosen by the client or drawn by the server; unique among running jobs.
        work: runs on a job thread; emits events, raises EngineError.
        flag: set to cancel.
        outbox: where its events go.
    """

    def __init__(self, id: str, work: Callable[[Job], None], flag: CancelFlag, outbox: Outbox[Any]) -> None:  # noqa: A002
        self.id = id
        self.work = work
        self.flag = flag
        self.outbox = outbox

    def emit(self, event: Any) -> None:
        """Hand an event to the client."""
        self.outbox.put(event)


class JobThread:
    """A thread that does jobs in the order they came. It survives every job.

    Args:
        name: the thread's name.
        on_done: called on the thread after each job, and by :meth:`discard`.
        first: run on the thread before any job (slow imports).
    """

    def __init__(self, name: str, on_done: Callable[[Job], None], first: Callable[[], None] | None = None) -> None:
        self._queue: deque[Job] = deque()
        self._changed = threading.Condition()
        self._stopping = False
        self._on_done = on_done
        self._first = first
        self._current: Job | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Jobs that have not begun."""
        return len(self._queue)

    @property
    def idle(self) -> bool:
        """Whether no job runs or waits."""
        with self._changed:
            return self._current is None and not self._queue

    def submit(self, job: Job) -> None:
        """Queue a job."""
        with self._changed:
            if self._stopping:
                raise EngineError(ErrorCode.WORKER_GONE, "The engine is shutting down.")
            self._queue.append(job)
            self._changed.notify()

    def discard(self, job: Job) -> bool:
        """Take a job that has not begun out of the queue; its client gets ``cancelled``. False if it has begun."""
        with self._changed:
            if job not in self._queue:
                return False
            self._queue.remove(job)
        job.outbox.close(EngineError(ErrorCode.CANCELLED, "The request was cancelled before it began."))
        self._on_done(job)
        return True

    def cancel_all(self) -> None:
        """Cancel the running job and everything queued."""
        with self._changed:
            queued, current = list(self._queue), self._current
        for job in queued:
            job.flag.set()
            self.discard(job)
        if current is not None:
            current.flag.set()

    def stop(self, timeout: float) -> bool:
        """Cancel everything and end the thread. False if it still runs after ``timeout`` seconds."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self.cancel_all()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        if self._first is not None:
            self._first()
        while (job := self._next()) is not None:
            job.outbox.close(_error_of(job))
            self._current = None
            self._on_done(job)

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._stopping)
            if not self._queue:
                return None
            self._current = self._queue.popleft()
            return self._current


def _error_of(job: Job) -> EngineError | None:
    """Do the job; the error that ended it, or None."""
    try:
        job.work(job)
    except EngineError as error:
        return error
    except MemoryError:
        return EngineError(
            ErrorCode.OUT_OF_MEMORY,
            "There was not enough memory to go on; close other programs or choose a smaller model or context.",
        )
    except Exception as error:  # the top of a thread that must live on
        log.error("job %s failed", job.id, exc_info=error)
        return EngineError(
            ErrorCode.BUG,
            f"The engine made a mistake ({type(error).__name__}). Try again; if it comes back, restart the engine.",
            {"exception": repr(error)},
        )
    return None
