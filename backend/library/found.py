"""Models that a person has chosen on the hub: catalogue entries of their own, written by Tandem, beside the catalogue.

An entry is made from the hub's own figures (size, SHA-256, licence) when its download begins, so that one that was
stopped can be gone on with, and what is here keeps its name and licence without the network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend.library.catalogue import Catalogue, CatalogueModel
from backend.library.jsonfile import read_json, set_aside_if_damaged, write_json
from backend.library.paths import data_path


class Found:
    """``found.json`` in the data folder; entries that cannot be read are left out."""

    def __init__(self) -> None:
        self._path: Path = data_path() / "found.json"

    def models(self) -> list[CatalogueModel]:
        """Every entry."""
        stored = read_json(self._path).get("models")
        return [entry for raw in (stored if isinstance(stored, list) else []) if (entry := _entry(raw)) is not None]

    def add(self, entry: CatalogueModel) -> None:
        """Keep an entry, in place of one with its id. Raises as :func:`write_json`."""
        self._write([*(known for known in self.models() if known.id != entry.id), entry])

    def remove(self, model_id: str) -> None:
        """Drop an entry. Raises as :func:`write_json`."""
        if any(known.id == model_id for known in self.models()):
            self._write([known for known in self.models() if known.id != model_id])

    def _write(self, models: list[CatalogueModel]) -> None:
        set_aside_if_damaged(self._path)
        write_json(self._path, {"version": 1, "models": [model.model_dump(mode="json") for model in models]})


def with_found(catalogue: Catalogue) -> Catalogue:
    """The catalogue and behind it what was found; what the catalogue has is the catalogue's."""
    known = {model.id for model in catalogue.models}
    added = tuple({model.id: model for model in Found().models() if model.id not in known}.values())
    return catalogue.model_copy(update={"models": (*catalogue.models, *added)}) if added else catalogue


def _entry(raw: Any) -> CatalogueModel | None:
    try:
        return CatalogueModel.model_validate(raw)
    except ValidationError:
        return None
