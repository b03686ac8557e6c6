"""A lock on a file that the system lets go of when its process ends, in whatever way."""

from __future__ import annotations

import errno
import logging
import sys
from pathlib import Path
from typing import IO

log = logging.getLogger(__name__)
_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}


class FolderLock:
    """Held by at most one process.

    Args:
        path: the lock's file; it is made if need be and stays, empty.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def take(self) -> bool:
        """Try to take it; False = another one holds it. Where there can be no lock, nobody is kept out."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("ab")
        except OSError as error:
            log.warning("%s cannot be opened: %s", self._path, error)
            return True
        try:
            _lock(file)
        except OSError as error:
            if error.errno in _HELD:
                file.close()
                return False
            log.warning("%s cannot be locked: %s", self._path, error)
        self._file = file
        return True

    def release(self) -> None:
        """Let go."""
        if self._file is not None:
            self._file.close()
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
