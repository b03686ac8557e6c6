"""Model files on this machine: added from disk, put in place by Tandem, or found in the hub's cache.

Parts of a split file (``x-00001-of-00003.gguf``) are one model. Facts are read once and kept, keyed by each part's size
and modification time, so a list of many models costs no reading and a changed file is read again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, read_facts, read_model, split_name, split_parts
from backend.library.jsonfile import read_json, set_aside_if_damaged, write_json
from backend.library.paths import data_path, expanded

Source = Literal[
    "catalogue", "own", "folder", "models_dir", "hub_cache", "lm_studio", "jan", "gpt4all", "ollama", "given"
]

_FACTS_FORMAT = 2
"""Raised when facts are read otherwise: those kept by an older version are then read again."""
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model by its files; ``missing`` names the parts that are not there."""

    id: str
    files: tuple[Path, ...]
    missing: tuple[str, ...]
    source: Source
    name: str = ""
    """As its program calls it; empty = by its file."""


def find_gguf(folder: Path, depth: int = _DEPTH, above: frozenset[tuple[int, int]] = frozenset()) -> Iterator[Path]:
    """GGUF files under ``folder``, hidden folders left out, sorted; nothing when it cannot be read.

    A link back to a folder that is being looked through (``above``) is not followed: its files are listed already.
    """
    try:
        here = folder.stat()
        entries = sorted(folder.iterdir())
    except OSError:
        return
    if here.st_ino and (here.st_dev, here.st_ino) in above:  # some network drives number nothing
        return
    above |= {(here.st_dev, here.st_ino)}
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.suffix.lower() == ".gguf" and entry.is_file():
            yield entry
        elif depth > 0 and entry.is_dir():
            yield from find_gguf(entry, depth - 1, above)


def hub_cache_files(cache: Path) -> Iterator[tuple[str, str, Path]]:
    """``(repository, name in it, path)`` of the GGUF files in a hub cache.

    Of several revisions of a file the one that ``main`` points to wins, then the newest.
    """
    for repo_dir in sorted(cache.glob("models--*--*")):
        repo = repo_dir.name.removeprefix("models--").replace("--", "/", 1)
        seen: set[str] = set()
        for snapshot in _snapshots(repo_dir):
            for path in find_gguf(snapshot):
                name = path.relative_to(snapshot).as_posix()
                if name not in seen:
                    seen.add(name)
                    yield repo, name, path


def _snapshots(repo_dir: Path) -> list[Path]:
    try:
        main = (repo_dir / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        main = ""
    found = [p for p in (repo_dir / "snapshots").glob("*") if p.is_dir()]
    return sorted(found, key=lambda p: (p.name != main, -p.stat().st_mtime))


def group(named: Iterable[tuple[Path, str]], source: Source, taken: Iterable[str] = ()) -> list[LocalModel]:
    """Files with their names as models, the parts of a split one together; ids are slugs, unlike those ``taken``."""
    used = set(taken)
    models: dict[tuple[Path, ...], LocalModel] = {}
    for path, name in named:
        parts = tuple(split_parts(path))
        if parts not in models:
            own = "" if name == path.stem else name
            models[parts] = _local(free_id(slug_of(own) if own else slug(path), used), parts, source, own)
    return list(models.values())


def slug(path: Path) -> str:
    """An id made from a file name; letters of every script stay."""
    split = split_name(path.name)
    return slug_of(split[0] if split else path.stem)


def slug_of(name: str) -> str:
    """The same from a name that is no file's."""
    return re.sub(r"[^\w.-]+", "-", name.lower()).strip("-.") or "model"


def free_id(wanted: str, used: set[str]) -> str:
    """``wanted``, or with a number behind it where that is ``used``; it is used from now on."""
    candidate, number = wanted, 1
    while candidate in used:
        number += 1
        candidate = f"{wanted}-{number}"
    used.add(candidate)
    return candidate


def _local(model_id: str, parts: tuple[Path, ...], source: Source, name: str = "") -> LocalModel:
    missing = tuple(p.name for p in parts if not p.is_file())
    return LocalModel(model_id, parts, missing, source, name)


class OwnFiles:
    """What a person added, in ``library.json``: files (id -> path of the first part), and folders to look into."""

    def __init__(self) -> None:
        self._path = data_path() / "library.json"

    def models(self) -> list[LocalModel]:
        """Every added file, also one that has gone since."""
        return [_local(i, tuple(split_parts(Path(p))), "own") for i, p in sorted(self._files().items())]

    def folders(self) -> list[Path]:
        """Every added folder, also one that has gone since."""
        folders = read_json(self._path).get("folders", [])
        return [Path(each) for each in folders if isinstance(each, str)] if isinstance(folders, list) else []

    def add(self, path: Path, taken: Iterable[str] = ()) -> LocalModel:
        """Remember ``path`` (any part of a split model); adding it again gives the same id.

        Raises:
            EngineError: what :func:`facts_of` raises, ``NOT_WRITABLE``.
        """
        path = expanded(path).absolute()
        parts = tuple(split_parts(path))
        facts_of(LocalModel("", parts, tuple(p.name for p in parts if not p.is_file()), "own"))
        files = self._files()
        for model_id, known in files.items():
            if Path(known) == parts[0]:
                return _local(model_id, parts, "own")
        model_id = free_id(slug(path), {*files, *taken})
        self._write(files=files | {model_id: str(parts[0])})
        return _local(model_id, parts, "own")

    def add_folder(self, folder: Path) -> Path:
        """Look into this folder too, from now on; gives it back as an absolute path.

        Raises:
            EngineError: ``FILE_MISSING`` when it is no folder, ``NOT_WRITABLE``.
        """
        folder = expanded(folder).absolute()
        if not folder.is_dir():
            raise EngineError(ErrorCode.FILE_MISSING, f"{folder} is not a folder; choose one.", {"path": str(folder)})
        if folder not in (folders := self.folders()):
            self._write(folders=[str(each) for each in (*folders, folder)])
        return folder

    def remove(self, model_id: str) -> bool:
        """Forget a file; the file itself stays. False when it was not there."""
        files = self._files()
        if files.pop(model_id, None) is None:
            return False
        self._write(files=files)
        return True

    def remove_folder(self, folder: Path) -> None:
        """Forget a folder; what lies in it stays."""
        self._write(folders=[str(each) for each in self.folders() if each != folder])

    def _files(self) -> dict[str, str]:
        files = read_json(self._path).get("files", {})
        pairs = files.items() if isinstance(files, dict) else ()
        return {k: v for k, v in pairs if isinstance(k, str) and isinstance(v, str)}

    def _write(self, **changed: Any) -> None:
        set_aside_if_damaged(self._path)
        kept = {"files": self._files(), "folders": [str(each) for each in self.folders()]}
        write_json(self._path, {"version": 1} | kept | changed)


def facts_of(model: LocalModel) -> GgufFacts:
    """Read a model's facts from its files.

    Raises:
        EngineError: what :func:`backend.library.gguf.read_facts` raises; ``FILE_MISSING`` naming absent parts.
    """
    if model.missing and len(model.files) > 1:
        names = ", ".join(model.missing)
        raise EngineError(
            ErrorCode.FILE_MISSING,
            f"The model is split into {len(model.files)} files and lacks {names}; put them beside the others.",
            {"missing": list(model.missing), "folder": str(model.files[0].parent)},
        )
    return read_facts(model.files[0]) if len(model.files) == 1 else read_model(model.files)


class FactsIndex:
    """Facts already read, in ``facts.json``; a damaged index is simply built again."""

    def __init__(self) -> None:
        self._path = data_path() / "facts.json"
        stored = read_json(self._path)
        entries = stored.get("entries") if stored.get("format") == _FACTS_FORMAT else None
        self._entries: dict[str, Any] = entries if isinstance(entries, dict) else {}
        self._changed = False

    def facts(self, model: LocalModel) -> GgufFacts:
        """As :func:`facts_of`, from the index where no part has changed."""
        if (stamp := _stamp(model)) is None:
            return facts_of(model)
        if (known := self._known(model, stamp)) is not None:
            return known
        facts = facts_of(model)
        self._entries[str(model.files[0])] = {"stamp": stamp, "facts": _freeze(facts)}
        self._changed = True
        return facts

    def knows(self, model: LocalModel) -> bool:
        """Whether its facts are in the index."""
        return (stamp := _stamp(model)) is not None and self._known(model, stamp) is not None

    def _known(self, model: LocalModel, stamp: list[list[int]]) -> GgufFacts | None:
        entry = self._entries.get(str(model.files[0]))
        if isinstance(entry, dict) and entry.get("stamp") == stamp:
            return _thaw(entry.get("facts"), model.files)
        return None

    def save(self) -> None:
        """Write what is new; files that have gone are dropped. On a full disk the files are read again next time."""
        if self._changed:
            self._entries = {k: v for k, v in self._entries.items() if Path(k).is_file()}
            with contextlib.suppress(EngineError):
                write_json(self._path, {"format": _FACTS_FORMAT, "entries": self._entries})
            self._changed = False


def _stamp(model: LocalModel) -> list[list[int]] | None:
    try:
        return [[s.st_size, s.st_mtime_ns] for s in (p.stat() for p in model.files)]
    except OSError:
        return None


def _freeze(facts: GgufFacts) -> dict[str, Any]:
    return {f.name: getattr(facts, f.name) for f in dataclasses.fields(facts) if f.name != "files"}


def _thaw(stored: Any, files: tuple[Path, ...]) -> GgufFacts | None:
    names = {f.name for f in dataclasses.fields(GgufFacts)} - {"files"}
    return GgufFacts(files=files, **stored) if isinstance(stored, dict) and set(stored) == names else None
