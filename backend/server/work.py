"""What the worker's threads do with its one pair of models: load, unload, swap the draft, reply, compare, count.

Loading a target is a job of the engine thread, so a request that arrives meanwhile waits its turn. Drafts load on the
loader thread while the target goes on generating, and are handed over between rounds. Tokens are counted on the
counter thread, so that the window's token meter does not stand still while a reply runs.

Locks: ``_target_use`` is held while a draft loads against the target and while the target is exchanged; ``_counting``
while tokens are counted and while a pair is freed, and may be taken under the first; ``_setting`` for the moment in
which the pair is given its settings.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import psutil

from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    Delta,
    DraftRequest,
    LoadOptions,
    LoadRequest,
    Message,
    ReplyEvent,
    ReplyRequest,
    Speculation,
    State,
)
from backend.server.cheaper import Cheaper
from backend.server.events import Events
from backend.server.jobs import Job
from backend.server.loading import Loading, check_file
from backend.server.rig import Rig
from backend.server.standing import Standing

if TYPE_CHECKING:
    from backend.engine.pair import Pair

log = logging.getLogger(__name__)

_POLL = 0.02


class Work:
    """The pair and its state.

    Args:
        rig: the engine.
        events: told of every change and every round.
        cancel_draft_loads: called before the target is exchanged.
        cheaper: copies of drafts.
    """

    def __init__(self, rig: Rig, events: Events, cancel_draft_loads: Callable[[], None], cheaper: Cheaper) -> None:
        self.pair: Pair | None = None
        self.start_error: EngineError | None = None
        self._rig = rig
        self._events = events
        self._cancel_draft_loads = cancel_draft_loads
        self._cheaper = cheaper
        self.standing = Standing(events)
        self._loading = Loading(rig, cheaper, self.standing)
        self._options = LoadOptions()
        self._speculation = Speculation()
        self._target_use = threading.Lock()
        self._counting = threading.Lock()
        self._setting = threading.Lock()
        self._version = _version()

    # -- any thread

    def state(self, queue: int, copying: bool = False) -> State:
        """Everything the window shows about the worker."""
        fields: dict[str, Any] = {
            "phase": self.standing.phase,
            "detail": self.standing.line,
            "speculation": self._speculation,
            "memory_total": psutil.virtual_memory().total,
            "devices": self._rig.devices,
            "engine": self._rig.engine,
            "version": self._version,
            "queue": queue,
        }
        if (pair := self.pair) is not None:
            fields |= pair.state_fields()
        if fields.get("draft") is not None:
            fields |= {"draft_copy": self._cheaper.note, "draft_copy_busy": copying}
        fields["draft_note"] = fields.get("draft_note") or self.standing.draft_note
        return State(**fields)

    @property
    def wants_cheaper_draft(self) -> bool:
        """Whether a cheaper copy of the draft was asked for, and there is a draft."""
        return self._options.cheaper_draft and self.pair is not None and self.pair.draft is not None

    def set_speculation(self, speculation: Speculation) -> None:
        """From the next round on, also of a running reply."""
        with self._setting:
            self._speculation = speculation
            if (pair := self.pair) is not None:
                pair.speculation = speculation
        self._events.touch()

    # -- engine thread

    def start(self) -> None:
        """Import the engine's library."""
        try:
            self._rig.start()
        except Exception as error:  # the worker must live on to say what is wrong
            log.error("the engine's library does not load", exc_info=error)
            self.start_error = EngineError(
                ErrorCode.LOAD_FAILED,
                f"llama.cpp could not be loaded ({error}); run the set-up again.",
                {"exception": repr(error)},
            )
            self.standing.enter("failed", self.start_error.message)

    def load(self, request: LoadRequest, job: Job) -> None:
        """Exchange target and draft. A file that is no model leaves the old pair in place."""
        if self.start_error is not None:
            raise self.start_error
        path = self._rig.resolve(request.target)
        check_file(path)
        self._rig.check(path, request.draft, request.options, job.flag, anyway=request.anyway)
        self._cancel_draft_loads()
        with self._holding_target(job):
            self.close_pair()
            self.standing.draft_note, self._options = "", request.options
            self.standing.enter("loading")
            try:
                options = self._rig.place(path, request.draft, request.options, job.flag, anyway=request.anyway)
                request, self._options = request.model_copy(update={"options": options}), options
                target = self._rig.load_target(path, request.target, options, self.standing.progress(job), job.flag)
                pair = self._loading.pair(target, request, job)
                self._put_to_use(pair)
            except EngineError as error:
                cancelled = error.code is ErrorCode.CANCELLED
                self.standing.enter("idle" if cancelled else "failed", "" if cancelled else error.message)
                raise
            except BaseException:
                self.standing.enter("failed", "The model could not be loaded.")
                raise
            finally:
                self._rig.look()
        log.info("loaded %s, draft %s", request.target, pair.draft.info.id if pair.draft else "none")
        self.standing.enter("ready")

    def unload(self, job: Job) -> None:
        """Free the models."""
        self._cancel_draft_loads()
        with self._holding_target(job):
            self.close_pair()
        self.standing.draft_note = ""
        if self.start_error is None:
            self._rig.look()
            self.standing.enter("idle")

    def reply(self, request: ReplyRequest, job: Job) -> None:
        """One reply; emits ReplyEvent."""
        self._run(job, lambda pair: pair.reply(request, job.flag))

    def compare(self, request: ReplyRequest, job: Job) -> None:
        """Both ways; emits (side, ReplyEvent) and at the end a Comparison."""
        self._run(job, lambda pair: pair.compare(request, job.flag))

    def judge(self, messages: tuple[Message, ...], ids: tuple[int, ...], kwargs: dict[str, Any], job: Job) -> None:
        """What the draft would have guessed of a reply; emits one Judged."""
        job.emit(self._need_pair().judge(messages, ids, kwargs, job.flag))

    def measure(self, job: Job) -> None:
        """After a swap: take the new draft over if no reply has done so, and time its passes."""
        if (pair := self.pair) is not None:
            pair.measure(lambda _phase, _fraction: None, job.flag)

    def settle(self, job: Job) -> None:
        """While nobody asks for anything: find out whether exact texts cost little."""
        if (pair := self.pair) is not None:
            pair.settle(lambda _phase, _fraction: None, job.flag)

    def close_pair(self) -> None:
        """Free the models, if any are loaded."""
        with self._counting:
            pair, self.pair = self.pair, None
            if pair is not None:
                pair.close()

    # -- loader thread

    def swap_draft(self, request: DraftRequest, job: Job, queue_measuring: Callable[[], None]) -> None:
        """Load a draft (or none) and hand it over; the target is never touched, also when this fails.

        Ends when the engine thread has taken the draft over: between two rounds, or after what it does now.
        """
        with self._holding_target(job):
            pair = self._need_pair()
            draft = self._loading.draft(request.draft, pair.target, self._options, job) if request.draft else None
            self.standing.draft_note = ""
            pair.offer_draft(draft)
        queue_measuring()
        while pair.draft is not draft:
            if job.flag.is_set() and pair.withdraw_offers():
                raise EngineError(ErrorCode.CANCELLED, "Stopped; the draft is as it was.")
            time.sleep(_POLL)
        self._rig.look()
        self._events.touch()

    # -- copying thread

    def improve_draft(self, rest: float, job: Job) -> None:
        """Make and try a cheaper copy of the draft once the engine has been idle for so long."""
        if (pair := self.pair) is not None:
            self._cheaper.improve(pair, self._options, lambda: self._holding_target(job), rest, job)

    # -- counter thread

    def count(self, messages: tuple[Message, ...], template_kwargs: dict[str, Any], job: Job) -> None:
        """Prompt tokens; emits one (tokens, n_ctx)."""
        with self._counting:
            pair = self._need_pair()
            job.emit((pair.count(messages, template_kwargs), pair.target.info.n_ctx))

    def pieces(self, ids: tuple[int, ...], job: Job) -> None:
        """What tokens stand for; emits one (the vocabulary's digest, texts)."""
        with self._counting:
            job.emit(self._need_pair().pieces(ids))

    # -- inside

    def _put_to_use(self, pair: Pair) -> None:
        with self._setting:  # they may have changed while it was loaded
            pair.speculation = self._speculation
            self.pair = pair

    def _run(self, job: Job, events: Callable[[Pair], Iterator[Any]]) -> None:
        pair = self._need_pair()
        self.standing.enter("reading")
        try:
            for event in events(pair):
                job.emit(event)
                self._observe(job, event)
        finally:
            self.standing.enter("ready")

    def _observe(self, job: Job, event: ReplyEvent | tuple[str, ReplyEvent] | Comparison) -> None:
        inner = event[1] if isinstance(event, tuple) else event
        if isinstance(inner, Delta):
            self.standing.phase = "generating"
            self._events.rounds(job.id, inner.rounds)
        self._events.touch()

    def _need_pair(self) -> Pair:
        if self.start_error is not None:
            raise self.start_error
        if self.pair is None:
            raise EngineError(ErrorCode.NO_MODEL, "No model is loaded; choose one first.")
        return self.pair

    @contextmanager
    def _holding_target(self, job: Job) -> Iterator[None]:
        while not self._target_use.acquire(timeout=_POLL):
            if job.flag.is_set():
                raise EngineError(ErrorCode.CANCELLED, "Stopped.")
        try:
            yield
        finally:
            self._target_use.release()


def _version() -> str:
    try:
        return version("tandem-chat")
    except PackageNotFoundError:  # run from a checkout
        return "0"
