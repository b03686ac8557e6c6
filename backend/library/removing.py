"""Removing what Tandem itself has downloaded. Nobody else's file is ever touched."""

from __future__ import annotations

from pathlib import Path

from backend.library.found import Found
from backend.library.library import LibraryModel
from backend.library.partial import Partial
from backend.library.paths import models_dir, not_writable
from backend.library.places import prune


def own_download(model: LibraryModel) -> tuple[Path, ...]:
    """The files of a model that were downloaded by Tandem; nothing where they are another's."""
    if model.entry is None or model.where != "catalogue":  # another program's folder may lie in Tandem's
        return ()
    return tuple(path for path in model.files if path.is_file() and path.is_relative_to(models_dir()))


def delete(model: LibraryModel) -> int:
    """Delete a download; gives the bytes that are free now.

    Raises:
        EngineError: ``BUSY`` while it is being downloaded, ``NOT_WRITABLE`` when the system keeps a file, as some do
            while it is in use.
    """
    freed = 0
    for path in own_download(model):
        with Partial(path).alone():
            Partial(path).discard()
            size = path.stat().st_size
            try:
                path.unlink()
            except OSError as error:
                raise not_writable(path.parent, error) from error
        freed += size
        prune(path.parent)
    if model.entry is not None:
        Found().remove(model.entry.id)
    return freed
