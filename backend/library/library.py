"""The library: every model that can be named, where it lies, and what it is.

Ids: ``id`` or ``id:QUANT`` of the catalogue, a slug of the file's name for own and found files, and those that a parent
process hands over in the environment (files named on a command line).
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import Catalogue, CatalogueModel, ModelFile, Starter, Variant, load_catalogue
from backend.library.elsewhere import elsewhere, models_in
from backend.library.found import with_found
from backend.library.gguf import GgufFacts, split_parts
from backend.library.local import FactsIndex, LocalModel, OwnFiles, Source, find_gguf, free_id, group, hub_cache_files
from backend.library.missing import check_sizes, files_missing
from backend.library.paths import models_dir
from backend.library.places import fetched, hub_cache_dir, place, placed_file
from backend.protocol import MODELS_VARIABLE
from backend.text import shown_name

FOREIGN: frozenset[Source] = frozenset({"lm_studio", "jan", "gpt4all", "ollama"})
"""Sources that are other programs' folders."""


@dataclass(frozen=True, slots=True)
class LibraryModel:
    """One model, installed or not.

    Sizes in bytes; None where unknown. ``fetched`` is what is here of a download that was stopped; ``problem`` says why
    the model cannot be used. ``where`` is whose folder the files lie in: the catalogue's are Tandem's own downloads.
    """

    id: str
    name: str
    source: Source
    installed: bool
    files: tuple[Path, ...]
    missing: tuple[str, ...]
    size: int | None
    quant: str
    entry: CatalogueModel | None = None
    variant: Variant | None = None
    fetched: int = 0
    facts: GgufFacts | None = None
    problem: EngineError | None = None
    where: Source = "catalogue"

    @property
    def state(self) -> Literal["installed", "incomplete", "available", "broken"]:
        """``broken``: the files are there, but they are not a usable model."""
        if self.problem is not None and self.installed:
            return "broken"
        if self.installed:
            return "installed"
        return "available" if self.source == "catalogue" else "incomplete"

    def as_local(self) -> LocalModel:
        """The files alone."""
        return LocalModel(self.id, self.files, self.missing, self.source)


class Library:
    """A view of the catalogue and of the files on this machine; each call looks at the disk anew.

    ``problem`` is what is wrong with the person's own catalogue, if anything (the built-in one is used then).
    """

    def __init__(self, hub_cache: Path | None = None) -> None:
        self.catalogue: Catalogue
        shipped_and_own, self.problem = load_catalogue()
        self.catalogue = with_found(shipped_and_own)
        self._hub_cache = hub_cache or hub_cache_dir()

    def models(self, *, test_only: bool = False, unread: bool = True) -> list[LibraryModel]:
        """Every model with its facts where its files are there, catalogue first.

        Args:
            test_only: also those for the tests.
            unread: also files of other programs that were never read, which takes a moment for each.

        Raises:
            EngineError: ``NOT_WRITABLE`` (the data folder), ``BAD_REQUEST`` (the environment variable).
        """
        index = FactsIndex()
        found = [m for m in self._entries() if test_only or not (m.entry and m.entry.test_only)]
        if not unread:
            found = [m for m in found if not _never_read(m, index)]
        models = [self._with_facts(m, index) for m in found]
        index.save()
        return models

    def unread(self) -> bool:
        """Whether other programs have files that were never read."""
        index = FactsIndex()
        return any(_never_read(m, index) for m in self._entries())

    def find(self, model_id: str) -> LibraryModel:
        """The model of that id, with facts.

        Raises:
            EngineError: ``MODEL_UNKNOWN`` with near matches.
        """
        index = FactsIndex()
        model = self._with_facts(self._find(model_id), index)
        index.save()
        return model

    def resolve(self, model_id: str) -> Path:
        """The path to load: the file, or the first part of a split one.

        Raises:
            EngineError: ``MODEL_UNKNOWN`` with near matches; ``FILE_MISSING`` when it is not downloaded or parts are
                missing; ``FILE_TRUNCATED`` or ``FILE_DAMAGED`` when a file has not the published size.
        """
        model = self._find(model_id)
        if model.missing:
            raise files_missing(model.id, model.source, model.files, model.missing)
        check_sizes(model.id, model.files, model.variant)
        return model.files[0]

    def starter(self) -> Starter:
        """The pair that is proposed first."""
        if self.catalogue.starter is None:
            raise EngineError(ErrorCode.MODEL_UNKNOWN, "The catalogue names no starter pair; name the models instead.")
        return self.catalogue.starter

    def add(self, path: Path) -> LibraryModel:
        """Add a file from disk (any part of a split model).

        Raises:
            EngineError: what reading it raises, ``NOT_WRITABLE``.
        """
        taken = {m.id for m in self._entries() if m.source != "own"}
        return self.find(OwnFiles().add(path, taken).id)

    def remove(self, model_id: str) -> None:
        """Forget an own file; the file itself stays.

        Raises:
            EngineError: ``MODEL_UNKNOWN`` when no own file has that id.
        """
        if not OwnFiles().remove(model_id):
            raise self._unknown(model_id)

    # -----------------------------------------------------------------------------------------------------------------

    def _find(self, model_id: str) -> LibraryModel:
        known = self._entries()
        match = next((m for m in known if m.id == model_id), None)
        if match:
            return match
        named = self.catalogue.find(model_id)  # id:QUANT of the default variant, or in other letter case
        if named:
            wanted = named[0].variant_id(named[1])
            return next(m for m in known if m.id == wanted)
        raise self._unknown(model_id)

    def _unknown(self, model_id: str) -> EngineError:
        ids = [m.id for m in self._entries() if not (m.entry and m.entry.test_only)]
        near = difflib.get_close_matches(model_id, ids, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "see 'tandem models list'."
        return EngineError(
            ErrorCode.MODEL_UNKNOWN,
            f"No model is called {model_id!r}; {hint}",
            {"model": model_id, "near": near},
        )

    def _entries(self) -> list[LibraryModel]:
        """Every model without facts; the first of an id wins, files of the catalogue are not listed again."""
        hub = list(hub_cache_files(self._hub_cache))
        own, foreign = OwnFiles(), elsewhere()
        models = [_given(i, p) for i, p in _given_files().items()]
        look = _Looking(hub, foreign)
        for entry in self.catalogue.models:
            models += [_catalogue_model(entry, variant, look) for variant in entry.variants]
        models += [_plain(m) for m in own.models()]
        claimed = {p for m in models for p in m.files}
        ids = {m.id for m in models}
        for local in (
            *models_in(own.folders(), "folder"),
            *group(((path, path.stem) for path in find_gguf(models_dir())), "models_dir"),
            *group(((path, path.stem) for _, _, path in hub), "hub_cache"),
            *foreign,
        ):
            if not claimed.intersection(local.files):
                models.append(_plain(replace(local, id=free_id(local.id, ids))))
                claimed.update(local.files)
        return list({m.id: m for m in reversed(models)}.values())[::-1]

    def _with_facts(self, model: LibraryModel, index: FactsIndex) -> LibraryModel:
        if model.missing:
            return (
                model
                if model.source == "catalogue"
                else replace(model, problem=files_missing(model.id, model.source, model.files, model.missing))
            )
        try:
            check_sizes(model.id, model.files, model.variant)
            facts = index.facts(model.as_local())
        except EngineError as error:
            return replace(model, problem=error)
        return replace(model, facts=facts, quant=model.quant or facts.quant)


def _never_read(model: LibraryModel, index: FactsIndex) -> bool:
    return model.source in FOREIGN and not model.missing and not index.knows(model.as_local())


def _given_files() -> dict[str, Path]:
    text = os.environ.get(MODELS_VARIABLE)
    if not text:
        return {}
    try:
        value = json.loads(text)
        return {str(i): Path(p) for i, p in value.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"The environment variable {MODELS_VARIABLE} must hold a JSON object of ids and paths ({error}).",
        ) from error


def _given(model_id: str, path: Path) -> LibraryModel:
    parts = tuple(split_parts(path))
    return _plain(LocalModel(model_id, parts, tuple(p.name for p in parts if not p.is_file()), "given"))


def _plain(local: LocalModel) -> LibraryModel:
    return LibraryModel(
        id=local.id,
        name=local.name or shown_name(local.files[0].stem),
        source=local.source,
        installed=not local.missing,
        files=local.files,
        missing=local.missing,
        size=_size(local.files),
        quant="",
        where=local.source,
    )


class _Looking:
    """Where a catalogue's file may lie, beside its place: in the hub's cache, or under its name and size elsewhere."""

    def __init__(self, hub: Iterable[tuple[str, str, Path]], foreign: Iterable[LocalModel]) -> None:
        self._hub = {(repo, name): path for repo, name, path in hub}
        files = [(path, model.source) for model in foreign for path in model.files if path.is_file()]
        self._named = {(path.name.lower(), path.stat().st_size): path for path, _ in reversed(files)}
        self._sources: dict[Path, Source] = dict(files) | dict.fromkeys(self._hub.values(), "hub_cache")

    def file(self, entry: CatalogueModel, file: ModelFile) -> Path:
        """The file; its place where it is nowhere."""
        elsewhere = self._named.get((Path(file.name).name.lower(), file.size or -1))
        found = placed_file(entry, file) or self._hub.get((entry.repo or "", file.name)) or elsewhere
        return found or place(entry, file)

    def source(self, path: Path) -> Source:
        """Whose folder the file lies in."""
        return self._sources.get(path, "catalogue")


def _catalogue_model(entry: CatalogueModel, variant: Variant, look: _Looking) -> LibraryModel:
    files = tuple(look.file(entry, f) for f in variant.files)
    missing = tuple(p.name for p in files if not p.is_file())
    return LibraryModel(
        id=entry.variant_id(variant),
        name=entry.name,
        source="catalogue",
        installed=not missing,
        files=files,
        missing=missing,
        size=variant.size if missing else _size(files),
        quant=variant.quant,
        entry=entry,
        variant=variant,
        fetched=fetched(entry, variant) if missing else 0,
        where=look.source(files[0]),
    )


def _size(files: tuple[Path, ...]) -> int | None:
    present = [p for p in files if p.is_file()]
    return sum(p.stat().st_size for p in present) if present else None
