"""Small JSON files: written whole or not at all, read tolerantly.

They hold what can be made again (indexes, verified hashes) or short lists; a damaged one must never stop the app. File
names stand in them as the system has them, also those that are not UTF-8.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from backend.library.paths import not_writable, writable


def read_json(path: Path) -> dict[str, Any]:
    """The object in ``path``; empty when it is missing, unreadable or not an object."""
    return _read(path) or {}


def set_aside_if_damaged(path: Path) -> None:
    """Rename what cannot be read as an object to ``NAME.damaged``: a person may still want to look into it."""
    if path.is_file() and _read(path) is None:
        with contextlib.suppress(OSError):
            path.replace(path.with_name(f"{path.name}.damaged"))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        if not path.is_file():  # reading a pipe would wait for ever, a device would never end
            return None
        value = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace ``path`` in one step, so that a crash leaves the old file or the new one.

    Raises:
        EngineError: ``NOT_WRITABLE``.
    """
    writable(path.parent)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
                json.dump(value, file, ensure_ascii=False, indent=1)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)  # noqa: PTH105 - the name comes from mkstemp
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)  # noqa: PTH108
            raise
    except OSError as error:
        raise not_writable(path.parent, error) from error
