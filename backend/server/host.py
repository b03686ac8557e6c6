"""The front desk of the worker: takes requests on the event loop, gives each to the thread that does it, keeps order.

One queue in order of arrival for everything that decodes; a limit on it, so that a program in a loop gets ``busy``
instead of filling memory; one register of running jobs, so that each can be cancelled by its id.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from backend.errors import EngineError, ErrorCode
from backend.protocol import DraftRequest, LoadRequest, Message, ReplyRequest, Speculation, State
from backend.server.cheaper import REST, Cheaper
from backend.server.events import Events
from backend.server.jobs import Job, JobThread, Outbox
from backend.server.rig import Rig
from backend.server.work import Work

_REMEMBERED = 64
"""Ids of ended jobs, and of jobs cancelled before they came."""
MAX_QUEUED = 8
"""Requests that may wait behind the running one."""


class Host:
    """Owns threads and jobs. Made on the event loop; every method returns at once and may be called on any thread."""

    def __init__(self, rig: Rig) -> None:
        self.events = Events()
        self._loop = asyncio.get_running_loop()
        self._rig = rig
        self._jobs: dict[str, Job] = {}
        self._early_cancels: deque[str] = deque(maxlen=_REMEMBERED)
        self._ended: deque[str] = deque(maxlen=_REMEMBERED)
        self._register = threading.Lock()
        """Over the three above and the next: jobs end on their threads, and these queue some of their own."""
        self._settling = ""
        """The job that finds out about exact texts while nobody asks for anything."""
        self._ready = asyncio.Event()
        self._engine = JobThread("engine", self._done, self._begin)
        self._loader = JobThread("loader", self._done)
        self._counter = JobThread("counter", self._done)
        self._copier = JobThread("copier", self._done)
        self._threads = (self._copier, self._loader, self._counter, self._engine)
        cheaper = Cheaper(
            rig,
            self.events.touch,
            lambda: self._engine.idle,
            lambda trial: self._submit(self._engine, None, trial),
            lambda trial: self.cancel(trial.id),
        )
        self._work = Work(rig, self.events, self._cancel_draft_loads, cheaper)

    def start(self) -> None:
        """Start the threads; the engine's library is imported on the engine thread."""
        for thread in self._threads:
            thread.start()

    async def started(self) -> None:
        """Wait until the engine's library is there (about a second after the start of the process)."""
        await self._ready.wait()

    def close(self, timeout: float = 3.0) -> None:
        """Cancel all jobs, end the threads, free the models. Blocks for as long as that takes."""
        self.events.close()
        still_running = [thread for thread in self._threads if not thread.stop(timeout)]
        if not still_running:  # else freeing would pull the models from under them
            self._work.close_pair()

    # -- jobs

    def load(self, request: LoadRequest, job: str | None) -> Job:
        """Load a target and perhaps a draft; emits LoadProgress."""

        def load(j: Job) -> None:
            self._work.load(request, j)
            self._settle()
            self._improve_draft(0.0)

        return self._making_way(self._submit(self._engine, job, load))

    def unload(self) -> Job:
        """Free the models."""
        return self._making_way(self._submit(self._engine, None, self._work.unload))

    def set_draft(self, request: DraftRequest, job: str | None) -> Job:
        """Swap the draft while the target stays; emits LoadProgress."""

        def measure_later() -> None:
            self._submit(self._engine, None, self._work.measure)

        def swap(j: Job) -> None:
            self._copier.cancel_all()
            self._stop_settling()
            try:
                self._work.swap_draft(request, j, measure_later)
            finally:  # also of the draft that stays; after a rest, as drafts are swapped to be judged one by one too
                self._settle()
                self._improve_draft(REST)

        return self._submit(self._loader, job, swap)

    def reply(self, request: ReplyRequest, job: str | None) -> Job:
        """One reply; emits ReplyEvent.

        Raises:
            EngineError: ``busy`` when too many requests wait already.
        """
        self._refuse_if_busy()
        return self._making_way(self._submit(self._engine, job, lambda j: self._work.reply(request, j)))

    def compare(self, request: ReplyRequest, job: str | None) -> Job:
        """Both ways; emits (side, ReplyEvent) and at the end a Comparison. Raises as :meth:`reply`."""
        self._refuse_if_busy()
        return self._making_way(self._submit(self._engine, job, lambda j: self._work.compare(request, j)))

    def judge(
        self, messages: tuple[Message, ...], ids: tuple[int, ...], template_kwargs: dict[str, Any], job: str | None
    ) -> Job:
        """What the draft would have guessed of a reply; emits one Judged. Raises as :meth:`reply`."""
        self._refuse_if_busy()
        return self._making_way(
            self._submit(self._engine, job, lambda j: self._work.judge(messages, ids, template_kwargs, j))
        )

    def count(self, messages: tuple[Message, ...], template_kwargs: dict[str, Any]) -> Job:
        """Prompt tokens; emits one (tokens, n_ctx)."""
        return self._submit(self._counter, None, lambda j: self._work.count(messages, template_kwargs, j))

    def pieces(self, ids: tuple[int, ...]) -> Job:
        """What tokens stand for; emits one (the vocabulary's digest, texts)."""
        return self._submit(self._counter, None, lambda j: self._work.pieces(ids, j))

    def cancel(self, job_id: str) -> None:
        """Stop a job. An id that is not known yet is remembered: its request may be on its way.

        One that has just ended is not: a client may use the id again, and means the old job here.
        """
        with self._register:
            job = self._jobs.get(job_id)
            if job is None:
                if job_id not in self._ended:
                    self._early_cancels.append(job_id)
                return
        job.flag.set()
        any(thread.discard(job) for thread in self._threads)

    def release(self, job: Job) -> None:
        """The client is gone or has had everything: nothing of the job need go on."""
        if self._jobs.get(job.id) is job:
            self.cancel(job.id)

    # -- state

    @property
    def model_id(self) -> str | None:
        """The loaded target's id."""
        pair = self._work.pair
        return pair.target.info.id if pair is not None else None

    def state(self) -> State:
        """Everything the window shows about the worker."""
        return self._work.state(self._engine.waiting, copying=not self._copier.idle)

    def set_speculation(self, speculation: Speculation) -> None:
        """From the next round on, also of a running reply."""
        self._work.set_speculation(speculation)

    def notice(self, text: str) -> None:
        """Put a line into the state that stays."""
        self._work.standing.notice(text)

    # -- inside

    def _begin(self) -> None:
        self._work.start()
        self._loop.call_soon_threadsafe(self._ready.set)
        self.events.touch()

    def _cancel_draft_loads(self) -> None:
        self._loader.cancel_all()
        self._copier.cancel_all()

    def _improve_draft(self, rest: float) -> None:
        if self._work.wants_cheaper_draft:
            with suppress(EngineError):  # the worker is ending
                self._submit(self._copier, None, lambda job: self._work.improve_draft(rest, job))

    def _settle(self) -> None:
        job = f"settle-{uuid4().hex}"
        self._stop_settling(job)  # known before it is queued: who comes between can stop it
        with suppress(EngineError):  # the worker is ending
            self._submit(self._engine, job, self._work.settle)

    def _stop_settling(self, instead: str = "") -> None:
        """There is one at most, so that none is left that nobody can stop."""
        with self._register:
            job, self._settling = self._settling, instead
        if job:
            self.cancel(job)

    def _making_way(self, job: Job) -> Job:
        """A request of a person comes first: what is made or tried of a draft's copy ends, and begins anew after it.

        What is looked for in the target's passes ends for good: from now on its memory is of use. Called once the
        request is queued, so that nothing can slip in before it.
        """
        self._stop_settling()
        if not self._copier.idle:
            self._copier.cancel_all()
            self._improve_draft(REST)
        return job

    def _refuse_if_busy(self) -> None:
        if self._engine.waiting >= MAX_QUEUED:
            raise EngineError(
                ErrorCode.BUSY,
                f"{MAX_QUEUED} requests are waiting already; try again when one has finished.",
                {"queued": MAX_QUEUED},
            )

    def _submit(self, thread: JobThread, job_id: str | None, work: Callable[[Job], None]) -> Job:
        job_id = job_id or f"chatcmpl-{uuid4().hex}"
        job = Job(job_id, work, self._rig.flag(), Outbox(self._loop))
        cancelled = self._enter(job)
        try:
            thread.submit(job)
        except EngineError:
            self._done(job)
            raise
        if cancelled:
            self.cancel(job_id)
        self.events.touch()
        return job

    def _enter(self, job: Job) -> bool:
        """Register a job; True if it was cancelled before it came."""
        with self._register:
            if job.id in self._jobs:
                raise EngineError(ErrorCode.BAD_REQUEST, "This x_job belongs to a running request.", {"job": job.id})
            self._jobs[job.id] = job
            if job.id in self._ended:
                self._ended.remove(job.id)
            early = job.id in self._early_cancels
            if early:
                self._early_cancels.remove(job.id)
            return early

    def _done(self, job: Job) -> None:
        with self._register:
            self._jobs.pop(job.id, None)
            self._ended.append(job.id)
        self.events.touch()
