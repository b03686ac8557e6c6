"""The unfinished file of a download: beside its place, with a note that says by what it may be continued.

``model.gguf.part`` grows and takes the name ``model.gguf`` only when it is whole and checked. ``model.gguf.part.json``
holds what identifies the content (SHA-256, size, the server's mark), so that no bytes of another file are appended.
Both outlive a crash; one process at a time may write them.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend.errors import EngineError, ErrorCode
from backend.library.jsonfile import read_json, write_json
from backend.library.lock import FolderLock
from backend.library.paths import models_dir, not_writable, writable


class Partial:
    """What is here of the file that is to become ``final``."""

    def __init__(self, final: Path) -> None:
        self.final = final
        self.file = final.with_name(f"{final.name}.part")
        self._note = final.with_name(f"{final.name}.part.json")

    @property
    def size(self) -> int:
        """Bytes that are here; 0 without a file."""
        try:
            return self.file.stat().st_size
        except OSError:
            return 0

    @property
    def note(self) -> dict[str, Any]:
        """What :meth:`keep` was given last; empty when there is nothing."""
        return read_json(self._note)

    def keep(self, **note: Any) -> None:
        """Write down by what the file may be continued. Raises as :func:`write_json`."""
        write_json(self._note, note)

    def discard(self) -> None:
        """Remove both files. Nobody may write them meanwhile.

        Raises:
            EngineError: ``NOT_WRITABLE`` when the system keeps them.
        """
        try:
            self.file.unlink(missing_ok=True)
            self._drop_notes()
        except OSError as error:
            raise not_writable(self.file.parent, error) from error

    def finish(self) -> None:
        """The file is whole and right: it takes its place, durably.

        Raises:
            EngineError: ``NOT_WRITABLE``, ``DISK_FULL``.
        """
        try:
            with self.file.open("r+b") as file:  # some systems sync only what may be written
                os.fsync(file.fileno())
            self.file.replace(self.final)
            self._drop_notes()
            _sync_folder(self.final.parent)
        except OSError as error:
            raise not_writable(self.final.parent, error) from error

    def _drop_notes(self) -> None:
        """The note, and what a process left that was killed while it wrote one."""
        self._note.unlink(missing_ok=True)
        for half in self._note.parent.glob(f".{glob.escape(self._note.name)}.*"):
            half.unlink(missing_ok=True)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else writes meanwhile.

        Raises:
            EngineError: ``BUSY`` when another process does, ``NOT_WRITABLE``.
        """
        writable(self.final.parent)
        name = hashlib.sha256(os.fsencode(self.final.absolute())).hexdigest()[:16]
        lock = FolderLock(models_dir() / ".locks" / f"{name}.lock")
        if not lock.take():
            raise EngineError(
                ErrorCode.BUSY,
                f"{self.final.name} is being downloaded by another Tandem; wait for its end, or stop it there.",
                {"path": str(self.final)},
            )
        try:
            yield
        finally:
            lock.release()


def _sync_folder(folder: Path) -> None:
    """Make the new name durable where the system lets folders be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
