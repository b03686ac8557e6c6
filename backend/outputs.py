"""The files that a command writes: known to be writable before minutes of work, whole or not there at all."""

from __future__ import annotations

import contextlib
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

    A device or a pipe is written as it is, and what a link leads to: a new file would do away with them.
    """
    path = path.resolve()
    part = path.with_name(f".{path.name}.part") if path.is_file() or not path.exists() else path
    try:
        yield part
        if part != path:
            part.replace(path)
    except BaseException:
        if part != path:
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


def _check_writable(path: Path) -> None:
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise _not_writable(path, error) from error


def _not_writable(path: Path, error: OSError) -> EngineError:
    return EngineError(
        ErrorCode.NOT_WRITABLE,
        f"The file {path} cannot be written ({error.strerror}); choose another place.",
        {"path": str(path)},
    )
