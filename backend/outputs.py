"""The files that a command writes: known to be writable before minutes of work, whole or not there at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.errors import EngineError, ErrorCode


@contextlib.contextmanager
def checked(outputs: Sequence[Path], inputs: Sequence[Path]) -> Iterator[None]:
    """While the work runs; a new file that stays empty is not left behind.

    Args:
        outputs: files to be written.
        inputs: files that are read, so that none is written over.

    Raises:
        EngineError: NOT_WRITABLE; BAD_REQUEST where two of them are one file.
    """
    new = [path.resolve() for path in outputs if not path.exists()]
    try:
        for path in outputs:
            _check_writable(path)
        places = [path.resolve() for path in [*inputs, *outputs] if path.is_file()]
        if len(set(places)) < len(places):
            names = ", ".join(str(path) for path in [*inputs, *outputs])
            raise EngineError(
                ErrorCode.BAD_REQUEST, f"Two of {names} are the same file, and one would be lost; name another."
            )
        yield
    finally:
        for path in new:
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_size == 0:
                    path.unlink()


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """The file to write in place of ``path`` within a block: whole or not at all.

    A device or a pipe is written as it is, and what a link leads to: a new file would do away with them. Who may read
    the old file may read the new one.
    """
    if _special(path):
        yield path
        return
    path = path.resolve()
    part = _part(path)
    try:
        if path.is_file():
            part.touch(0o600)
        yield part
        if path.is_file():
            shutil.copymode(path, part)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Write ``data`` as :func:`whole` does.

    Raises:
        EngineError: NOT_WRITABLE.
    """
    try:
        with whole(path) as part:
            part.write_bytes(data)
    except OSError as error:
        raise _not_writable(path, error) from error


def _special(path: Path) -> bool:
    """A device or a pipe; its own name may be all there is of it (``/dev/stdout`` before ``|``)."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def _check_writable(path: Path) -> None:
    """As :func:`whole` will write it. A pipe is not opened: who reads it would find its end."""
    if _special(path):
        if not os.access(path, os.W_OK):
            raise _not_writable(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        return
    part = _part(path.resolve())
    try:
        new = not part.exists()
        for each in (path, part):
            with each.open("a", encoding="utf-8"):
                pass
        if new:
            part.unlink()
    except OSError as error:
        raise _not_writable(path, error) from error


def _not_writable(path: Path, error: OSError) -> EngineError:
    return EngineError(
        ErrorCode.NOT_WRITABLE,
        f"The file {path} cannot be written ({error.strerror}); choose another place.",
        {"path": str(path)},
    )
