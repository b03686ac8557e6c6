"""The one thread that writes: it owns the writing connection, so writes are ordered and hold nobody up for long.

A task is a function of the connection; it runs in its own transaction and its result comes back in a future.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from desktop.language import marked, tr
from desktop.store import damage
from desktop.store.schema import StoreError

T = TypeVar("T")
_Task = tuple[Callable[[sqlite3.Connection], Any], "Future[Any]"]


def connect(path: Path, *, timeout: float = 5.0, unchanging: bool = False) -> sqlite3.Connection:
    """A connection with the settings that every one of ours has; transactions are explicit.

    Args:
        path: the database.
        timeout: seconds to wait for another program's lock.
        unchanging: to read the file as it is, without a log and without anything that has to be written for reading.
    """
    address = f"{damage.read_only(path)}&immutable=1" if unchanging else path
    db = sqlite3.connect(address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=unchanging)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA secure_delete = ON")  # what a person deletes is gone from the file too
    return db


def explain(error: sqlite3.Error | OSError, path: Path, *, reading: bool = False) -> StoreError:
    """The sentence for a fault of the surroundings."""
    # where a file is says nothing of why: its folder may be called "full"
    text = str((isinstance(error, OSError) and error.strerror) or error).lower()
    if reading and "malformed" not in text:
        why = tr(
            "The chats in {path} could not be read ({error}). Try again; if it stays so, look at the disk.",
            path=path,
            error=error,
        )
        return StoreError("unread", why, reading=True)
    if "locked" in text or "busy" in text:
        why = tr("The chats in {path} are in use by another program. Close it and try again.", path=path)
        return StoreError("locked", why)
    if "full" in text or "disk i/o" in text or "no space" in text:
        said = marked("There is no room to save chats in {folder}. Free some space; what is on screen is kept.")
        why = tr(said, folder=path.parent)
        return StoreError("full", why)
    if "readonly" in text or "read-only" in text or "unable to open" in text or "permission" in text:
        why = tr(
            "Chats cannot be saved in {folder}: the folder cannot be written. Change its permissions, or set "
            "TANDEM_HOME to another folder.",
            folder=path.parent,
        )
        return StoreError("readonly", why)
    if "malformed" in text or "not a database" in text:
        why = tr(
            "The chats in {path} are damaged. When Tandem starts next, what can be read of them is saved in a new "
            "file; the damaged one is kept.",
            path=path,
        )
        return StoreError("damaged", why, reading=reading)
    why = tr("Chats could not be saved in {path}: {error}. Try again; the log has the details.", path=path, error=error)
    return StoreError("failed", why)


class Writer:
    """Runs tasks one after the other on its own thread until closed; what is queued is still written.

    Args:
        path: the database.
        opening: gives the connection. While it cannot, each task fails for that reason and the next one tries again.
    """

    def __init__(self, path: Path, opening: Callable[[], sqlite3.Connection]) -> None:
        self._db: sqlite3.Connection | None = None
        self._opening = opening
        self._path = path
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether the database could be opened for writing."""
        return self._db is not None

    def submit(self, task: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Queue ``task``; its future raises :class:`StoreError` when it cannot be done, for whatever reason."""
        future: Future[T] = Future()
        if self._closed:
            future.set_exception(StoreError("closed", tr("Tandem is ending: the chats are closed already.")))
        else:
            self._tasks.put((task, future))
        return future

    def close(self) -> None:
        """Write what is queued, then close the connection."""
        if not self._closed:
            self._closed = True
            self._tasks.put(None)
            self._thread.join()
            if self._db is not None:
                self._db.close()

    def _run(self) -> None:
        while (item := self._tasks.get()) is not None:
            task, future = item
            try:
                future.set_result(self._transact(task))
            except (sqlite3.Error, OSError) as error:
                known = explain(error, self._path)
                if known.kind == "damaged":
                    damage.note(self._path)
                future.set_exception(known)
            except Exception as error:  # noqa: BLE001 - a thread's top: the caller gets it
                future.set_exception(error)

    def _transact(self, task: Callable[[sqlite3.Connection], T]) -> T:
        if self._db is None:
            self._db = self._opening()
        db = self._db
        db.execute("BEGIN IMMEDIATE")
        try:
            result = task(db)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        return result
