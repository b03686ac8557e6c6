"""Reads files beside the window: a folder that sleeps or a PDF that takes its time holds nothing up."""

from __future__ import annotations

import itertools
import logging
import threading
import weakref
from functools import partial
from pathlib import Path
from time import monotonic

from PySide6.QtCore import QObject, Signal

from backend.documents import DocumentError, read
from desktop.language import marked, tr

log = logging.getLogger(__name__)
_AT_ONCE = 2
_LAST_SECONDS = 1.0


class Attaching(QObject):
    """Every reading has a ticket, and ends in ``done`` or ``refused`` unless it was cancelled."""

    done = Signal(int, object)
    """Attachment."""
    refused = Signal(int, str)
    """Why, for people."""
    progress = Signal(int, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._turn = threading.BoundedSemaphore(_AT_ONCE)
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        self._tickets = itertools.count(1)
        self._running: dict[int, threading.Event] = {}
        self._taken: set[int] = set()
        """Readings whose turn it is."""
        self._giving = threading.Lock()

    def begin(self, path: Path) -> int:
        """Read a file; its ticket."""
        ticket = next(self._tickets)
        self._running[ticket] = cancelled = threading.Event()
        # the program's end does not wait for a daemon: an executor's thread that hangs would keep it
        thread = threading.Thread(target=self._read, args=(ticket, path, cancelled), name="attaching", daemon=True)
        self._threads.add(thread)
        thread.start()
        return ticket

    def cancel(self, ticket: int) -> None:
        """Give it up, and its turn with it, whether its disk answers or not."""
        if (cancelled := self._running.pop(ticket, None)) is not None:
            cancelled.set()
            self._give_turn(ticket)

    def close(self) -> None:
        """Give everything up. A disk that does not answer is not waited for."""
        for ticket in list(self._running):
            self.cancel(ticket)
        end = monotonic() + _LAST_SECONDS  # a process that reads a PDF is ended meanwhile
        for thread in list(self._threads):
            thread.join(max(0, end - monotonic()))

    def _read(self, ticket: int, path: Path, cancelled: threading.Event) -> None:
        self._turn.acquire()
        self._taken.add(ticket)
        try:
            if not cancelled.is_set():
                self._try(ticket, path, cancelled)
        finally:
            self._running.pop(ticket, None)
            self._give_turn(ticket)

    def _give_turn(self, ticket: int) -> None:
        with self._giving:
            if ticket in self._taken:
                self._taken.remove(ticket)
                self._turn.release()

    def _try(self, ticket: int, path: Path, cancelled: threading.Event) -> None:
        try:
            attachment = read(path, cancelled, partial(self._tell, ticket))
        except DocumentError as error:
            if not cancelled.is_set():
                self.refused.emit(ticket, error.message)
        except Exception as error:  # a thread's top: nothing may end without a word
            log.exception("a file was not read")
            said = marked("“{name}” could not be read: Tandem hit a fault of its own ({error!r}).")
            self.refused.emit(ticket, tr(said, name=path.name, error=error))
        else:
            if not cancelled.is_set():
                self.done.emit(ticket, attachment)

    def _tell(self, ticket: int, done: int, of: int) -> None:
        if done % 10 == 0:
            self.progress.emit(ticket, tr("page {done:,} of {of:,}", done=done, of=of))
