"""That a database is damaged is noted beside it when it is found, so that the next start sees to it (``salvage``)."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)


class UnwantedError(Exception):
    """What takes long was given up; everything is as it was."""


def note(path: Path) -> None:
    """Remember that ``path`` is damaged; where nothing can be written it will be found again."""
    with contextlib.suppress(OSError):
        _mark(path).touch()


def obvious(path: Path) -> bool:
    """Whether it is no database at all: SQLite would clear away the log of such a file, with all that is in it."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
        log_file = path.with_name(f"{path.name}-wal")
        return head != b"SQLite format 3\0" and (bool(head) or (log_file.exists() and log_file.stat().st_size > 0))
    except OSError:  # none there, or one that cannot be read
        return False


def noted(path: Path) -> bool:
    """Whether it was found to be damaged."""
    return _mark(path).exists()


def forget(path: Path) -> None:
    """It was seen to."""
    _mark(path).unlink(missing_ok=True)


class Checkup:
    """Reads the whole of a database on a thread of its own, once; what is damaged is noted.

    Args:
        path: the database.
        found: called on that thread where it is damaged.
    """

    def __init__(self, path: Path, found: Callable[[], object]) -> None:
        self._path, self._found = path, found
        self._db: sqlite3.Connection | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="checkup", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Give up what is not read yet; where SQLite does not hear of it at once, it ends with the program."""
        self._closed = True
        if (db := self._db) is not None:
            with contextlib.suppress(sqlite3.ProgrammingError):  # it has just ended
                db.interrupt()
        self._thread.join(timeout=1.0)

    def _run(self) -> None:
        try:
            with contextlib.closing(sqlite3.connect(read_only(self._path), uri=True, check_same_thread=False)) as db:
                self._db = db
                said = "" if self._closed else str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.Error as error:
            said = str(error) if "malformed" in str(error) else ""  # interrupted, or locked: nothing is known
        if said not in ("", "ok"):
            log.warning("%s is damaged: %s", self._path, said)
            note(self._path)
            if not self._closed:
                self._found()


def read_only(path: Path) -> str:
    """The address under which SQLite only reads it."""
    return f"{path.absolute().as_uri()}?mode=ro"


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}-damaged")
