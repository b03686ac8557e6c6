"""The one thread that writes: it owns the writing connection, so that writes are ordered and never block the window.

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
from desktop.store.schema import StoreError

T = TypeVar("T")
_Task = tuple[Callable[[sqlite3.Connection], Any], "Future[Any]"]


def connect(path: Path, *, timeout: float = 5.0) -> sqlite3.Connection:
    """A connection with the settings that every one of ours has; transactions are explicit."""
    db = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA secure_delete = ON")  # what a person deletes is gone from the file too
    return db


def explain(error: sqlite3.Error | OSError, path: Path, *, reading: bool = False) -> StoreError:
    """The sentence for a fault of the surroundings."""
    text = str(error).lower()
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
        why = tr("The chats in {path} are damaged. Nothing was changed. Move the file away to start afresh.", path=path)
        return StoreError("damaged", why, reading=reading)
    why = tr("Chats could not be saved in {path}: {error}. Try again; the log has the details.", path=path, error=error)
    return StoreError("failed", why)


class Writer:
    """Runs tasks one after the other on its own thread until closed; what is queued is still written."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="store", daemon=True)
        self._thread.start()

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
            self._db.close()

    def _run(self) -> None:
        while (item := self._tasks.get()) is not None:
            task, future = item
            try:
                future.set_result(self._transact(task))
            except (sqlite3.Error, OSError) as error:
                future.set_exception(explain(error, self._path))
            except Exception as error:  # noqa: BLE001 - a thread's top: the caller gets it
                future.set_exception(error)

    def _transact(self, task: Callable[[sqlite3.Connection], T]) -> T:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            result = task(self._db)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        return result
