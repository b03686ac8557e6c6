"""Downloads for the window: one runs, others wait for it; each can be paused, gone on with, and given up.

The work runs on a thread of its own. What a paused download has fetched stays on the disk, also when Tandem ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError, ErrorCode
from desktop.language import tr

log = logging.getLogger(__name__)
Use = Literal["target", "draft", ""]


@dataclass(slots=True)
class Fetch:
    """One model on its way. ``group`` are the ids that were asked for together; the first is then used as ``use``."""

    id: str
    name: str
    group: tuple[str, ...]
    use: Use
    state: Literal["waiting", "running", "paused", "failed"] = "waiting"
    done: int = 0
    total: int = 0
    speed: float = 0.0
    checking: bool = False
    """What is here is being read, not fetched."""
    error: EngineError | None = None
    unwanted: bool = False
    """It is to leave nothing behind."""
    flag: threading.Event = field(default_factory=threading.Event)


class Fetching(QObject):
    """The downloads by id, in the order asked for. All signals arrive on the window's thread."""

    changed = Signal()
    """Something in ``items``."""
    got = Signal(object, str)
    """ids that are all here now, what the first is for"""
    failed = Signal(object)
    """Fetch: its ``error`` says why; it stays among the items."""
    ended = Signal()
    """A download is over, in whatever way: the disk has changed."""
    said = Signal(str)
    _told = Signal(str, int, int, float, bool)
    _done = Signal(str, object)
    """id, None or the error"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: dict[str, Fetch] = {}
        self.token: str | None = None
        """For this run, where the system has no keyring that keeps it."""
        self._closed = False
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="download")
        self._remover = ThreadPoolExecutor(1, thread_name_prefix="given-up")
        self._removals: dict[str, Future[None]] = {}
        """By id: a download of it waits for them."""
        self._told.connect(self._on_told)
        self._done.connect(self._on_done)

    @property
    def running(self) -> Fetch | None:
        """The one that runs."""
        return next((fetch for fetch in self.items.values() if fetch.state == "running"), None)

    @property
    def busy(self) -> bool:
        """Whether any runs or waits for its turn."""
        return any(fetch.state in ("running", "waiting") for fetch in self.items.values())

    def close(self) -> None:
        """Pause all and wait for the threads."""
        self._closed = True
        for fetch in self.items.values():
            fetch.flag.set()
        self._remover.shutdown(wait=True)  # what was given up before is removed now
        self._pool.shutdown(wait=True)

    def start(self, models: Sequence[tuple[str, str]], use: Use = "") -> None:
        """Fetch models, given as (id, name); those that are paused or failed go on."""
        group = tuple(model_id for model_id, _ in models)
        for model_id, name in models:
            known = self.items.get(model_id)
            if known is None or known.state in ("paused", "failed"):
                self.items.pop(model_id, None)  # its turn comes after the others'
                self.items[model_id] = Fetch(model_id, name, group, use)
            else:
                known.group, known.use = group, use
        self._next()

    def pause(self, model_id: str) -> None:
        """Stop it; what has come stays."""
        if (fetch := self.items.get(model_id)) is None:
            return
        if fetch.state == "running":
            fetch.flag.set()
        elif fetch.state == "waiting":
            fetch.state = "paused"
            self.changed.emit()

    def resume(self, model_id: str) -> None:
        """Go on with one that is paused or failed."""
        if (fetch := self.items.get(model_id)) is not None and fetch.state in ("paused", "failed"):
            fetch.state, fetch.error, fetch.flag = "waiting", None, threading.Event()
            self._next()

    def cancel(self, model_id: str) -> None:
        """Give it up; what has come is removed. Also of a download of an earlier run."""
        fetch = self.items.get(model_id)
        if fetch is not None and fetch.state == "running":
            fetch.unwanted = True
            fetch.flag.set()
            return
        self._forget(model_id)
        self._removals[model_id] = self._remover.submit(self._throw_away, model_id)
        self.changed.emit()

    def _forget(self, model_id: str) -> None:
        """Those that were asked for with it go on without it."""
        self.items.pop(model_id, None)
        for fetch in self.items.values():
            if fetch.group[:1] == (model_id,):
                fetch.use = ""  # that was for the one that is given up
            fetch.group = tuple(each for each in fetch.group if each != model_id)

    def _next(self) -> None:
        if self.running is None and not self._closed:
            waiting = next((fetch for fetch in self.items.values() if fetch.state == "waiting"), None)
            if waiting is not None:
                waiting.state = "running"
                self._pool.submit(self._run, waiting, self.token, self._removals.pop(waiting.id, None))
        self.changed.emit()

    # -- what comes back ------------------------------------------------------------------------------------------

    def _on_told(self, model_id: str, done: int, total: int, speed: float, checking: bool) -> None:
        if (fetch := self.items.get(model_id)) is not None:
            fetch.done, fetch.total, fetch.speed, fetch.checking = done, total, speed, checking
            self.changed.emit()

    def _on_done(self, model_id: str, error: EngineError | None) -> None:
        fetch = self.items[model_id]
        if fetch.unwanted:
            self._forget(model_id)
            if error is None:  # it was whole when the word came
                self._removals[model_id] = self._remover.submit(self._delete, model_id)
        elif error is None:
            del self.items[model_id]
            if not any(each in self.items for each in fetch.group):
                self.got.emit(list(fetch.group), fetch.use)
        elif error.code is ErrorCode.CANCELLED:
            fetch.state, fetch.speed = "paused", 0.0
        else:
            fetch.state, fetch.error, fetch.speed = "failed", error, 0.0
            self.failed.emit(fetch)
        self.ended.emit()
        self._next()

    # -- the thread -----------------------------------------------------------------------------------------------

    def _run(self, fetch: Fetch, token: str | None, removal: Future[None] | None) -> None:
        if removal is not None:
            wait([removal])
        failure: EngineError | None = None
        try:
            self._fetch(fetch.id, fetch.flag, token)
        except EngineError as error:
            failure = error
        except Exception as error:  # a thread's top
            log.exception("download")
            failure = EngineError(ErrorCode.BUG, tr("The download failed: {error!r}.", error=error))
        if failure is not None and fetch.unwanted:
            self._discard(fetch.id)
        self._done.emit(fetch.id, failure)

    def _throw_away(self, model_id: str) -> None:
        self._discard(model_id)
        self.ended.emit()

    def _fetch(self, model_id: str, flag: threading.Event, token: str | None) -> None:
        from backend.library.hub import download
        from backend.library.library import Library

        library = Library()
        found = library.catalogue.find(model_id)
        if found is None:
            library.resolve(model_id)  # says what is wrong with the name
            return

        def tell(done: int, total: int, speed: float) -> None:
            self._told.emit(model_id, done, total, speed, False)

        def check(done: int, total: int, speed: float) -> None:
            self._told.emit(model_id, done, total, speed, True)

        download(*found, tell, flag, self.said.emit, check, token)

    def _delete(self, model_id: str) -> None:
        from backend.library.library import Library
        from backend.library.removing import delete

        try:
            delete(Library().find(model_id))
        except EngineError as error:
            log.warning("what was fetched of %s is not removed: %s", model_id, error)
            self.said.emit(error.message)
        self.ended.emit()

    def _discard(self, model_id: str) -> None:
        from backend.library.hub import discard
        from backend.library.library import Library

        try:
            if (found := Library().catalogue.find(model_id)) is not None:
                discard(*found)
        except EngineError as error:
            log.warning("what was fetched of %s is not removed: %s", model_id, error)
            self.said.emit(error.message)
