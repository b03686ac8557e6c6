"""Where the files of a catalogue entry lie, or will: among Tandem's models, by publisher; or in the hub's own cache."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from huggingface_hub import constants

from backend.library.catalogue import CatalogueModel, ModelFile, Variant
from backend.library.local import hub_cache_files
from backend.library.partial import Partial
from backend.library.paths import expanded, models_dir


def hub_cache_dir() -> Path:
    """The hub's own cache, by its own environment variables. Tandem reads it and writes nothing there."""
    if cache := os.environ.get("HF_HUB_CACHE"):
        return expanded(cache)
    if home := os.environ.get("HF_HOME"):
        return expanded(home) / "hub"
    return Path(constants.HF_HUB_CACHE)


def place(entry: CatalogueModel, file: ModelFile) -> Path:
    """Where a download of the file goes: two publishers may give files the same name."""
    return models_dir() / (entry.repo or "") / Path(file.name).name


def placed_file(entry: CatalogueModel, file: ModelFile) -> Path | None:
    """The file among Tandem's models, if it is there; downloads of older versions lie beside each other."""
    older = models_dir() / Path(file.name).name
    return next((path for path in (place(entry, file), older) if path.is_file()), None)


def installed_file(entry: CatalogueModel, file: ModelFile) -> Path | None:
    """Where a catalogue file lies, if it does: among Tandem's models or in the hub's cache."""
    if (placed := placed_file(entry, file)) is not None:
        return placed
    found = hub_cache_files(hub_cache_dir())
    return next((p for repo, name, p in found if (repo, name) == (entry.repo, file.name)), None)


def prune(folder: Path) -> None:
    """Remove the publisher's folders where nothing is left in them."""
    with contextlib.suppress(OSError):
        while folder != models_dir() and folder.is_relative_to(models_dir()):
            folder.rmdir()
            folder = folder.parent


def fetched(entry: CatalogueModel, variant: Variant) -> int:
    """Bytes of a download that was begun and is not whole."""
    places = [place(entry, file) for file in variant.files]
    begun = sum(Partial(path).size for path in places)
    whole = sum(path.stat().st_size for path in places if path.is_file())
    return begun + whole if begun or 0 < sum(path.is_file() for path in places) < len(places) else 0
