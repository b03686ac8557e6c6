"""Cheaper copies of drafts, made once and kept: where they lie, whose they are, and whether that still holds.

A copy's name is made of its source's name and of a digest over path, size and modification time, so a changed source
has another copy. Beside each copy a small JSON file names the source, so that a stale copy is found without guessing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, read_model, split_parts
from backend.library.gguf_header import TensorInfo
from backend.library.jsonfile import read_json, write_json
from backend.library.local import slug
from backend.library.paths import copies_dir, writable

COPY_TYPE = "Q4_0"
"""The cheapest type whose kernels are quick everywhere; smaller ones unpack more slowly and guess worse."""
_BITS = 18 / 32
"""Bytes an element in that type: 32 elements in 18 bytes."""
_CLEARLY_FEWER = 0.9
_LONGEST_NAME = 80
_MINUTE = 60.0
_SPARE = 64 * 2**20
"""Bytes that a copy must leave free."""
_UNFINISHED = re.compile(r"\.(\d{1,9})-.+\.gguf(\.part)?")


@dataclass(frozen=True, slots=True)
class Copy:
    """One finished copy. ``stale``: its source has changed or gone, or is not known."""

    file: Path
    source: Path | None
    size: int
    stale: bool

    @property
    def id(self) -> str:
        """What it is called on the command line."""
        return self.file.stem


def worth_copying(facts: GgufFacts) -> bool:
    """Whether a token would clearly read fewer bytes of the copy than of the file itself."""
    tensors = facts.tensors()
    untied = any(t.name == "output.weight" for t in tensors)  # then a token reads one row of the embedding only
    read = [t for t in tensors if not (untied and t.name == "token_embd.weight")]
    return sum(map(_copied_bytes, read)) <= _CLEARLY_FEWER * sum(t.nbytes for t in read)


def expected_size(facts: GgufFacts) -> int:
    """Bytes of the copy, about."""
    tensors = facts.tensors()
    return round(facts.size - sum(t.nbytes for t in tensors) + sum(_copied_bytes(t) for t in tensors))


def place(source: Path) -> Path:
    """Where the copy of ``source``, as it is now, lies or would lie.

    Raises:
        EngineError: ``FILE_MISSING``.
    """
    source = split_parts(source.absolute())[0]
    if (stamp := _stamp(source)) is None:
        raise EngineError(ErrorCode.FILE_MISSING, f"The model file {source} is not there.", {"path": str(source)})
    digest = hashlib.sha256(repr((os.fsencode(source), stamp, COPY_TYPE)).encode()).hexdigest()[:12]
    return copies_dir() / f"{slug(source)[:_LONGEST_NAME]}-{COPY_TYPE.lower()}-{digest}.gguf"


def find(source: Path) -> Path | None:
    """The copy of ``source`` as it is now, if there is one."""
    copy = place(source)
    return copy if copy.is_file() else None


def make(source: Path, write: Callable[[Path], object]) -> Path:
    """Have ``write`` put a copy of ``source`` into a file of its own, and keep it; nothing half-written stays.

    Raises:
        EngineError: ``DISK_FULL`` before anything is written, ``NOT_WRITABLE``, what is wrong with either file, and
            whatever ``write`` raises.
    """
    copy = place(source)
    writable(copy.parent)
    sweep()
    facts = read_model(split_parts(source.absolute()))
    _check_room(copy.parent, expected_size(facts))
    unfinished = copy.with_name(f".{os.getpid()}-{copy.name}")  # two workers may make the same copy at once
    try:
        write(unfinished)
        if read_model([unfinished]).vocab_hash != facts.vocab_hash or place(source) != copy:
            raise EngineError(
                ErrorCode.FILE_DAMAGED, f"{source.name} changed while it was copied; it is kept as it is."
            )
        write_json(_note(copy), {"source": os.fspath(facts.files[0]), "stamp": _stamp(facts.files[0])})
        unfinished.replace(copy)
    except OSError as error:
        if not copy.is_file():
            remove(copy)  # its note
        raise EngineError(
            ErrorCode.NOT_WRITABLE,
            f"The copy of {source.name} could not be put into {copy.parent} ({error.strerror or error}).",
            {"path": str(copy)},
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return copy


def listed() -> list[Copy]:
    """Every finished copy, by name."""
    try:
        files = sorted(copies_dir().glob("*.gguf"))
    except OSError:
        return []
    return [_copy(file) for file in files if not file.name.startswith(".") and file.is_file()]


def remove(file: Path) -> bool:
    """Remove a copy. False where the system keeps it, as some do while it is in use."""
    try:
        file.unlink(missing_ok=True)
        _note(file).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def sweep() -> int:
    """Remove the copies whose source has changed or gone, and what workers left that were killed. How many files."""
    removed = sum(copy.stale and remove(copy.file) for copy in listed())
    with contextlib.suppress(OSError):
        for file in sorted(copies_dir().iterdir()):
            made_by = _UNFINISHED.fullmatch(file.name)
            killed = made_by is not None and not psutil.pid_exists(int(made_by[1]))
            if killed or _orphaned(file):
                file.unlink(missing_ok=True)
                removed += 1
    return removed


# ---------------------------------------------------------------------------------------------------------------------


def _orphaned(file: Path) -> bool:
    """A note whose copy is gone. A copy follows its note at once, perhaps in another process, so it is given time."""
    alone = file.suffix == ".json" and not file.with_suffix(".gguf").exists()
    return alone and time.time() - file.stat().st_mtime > _MINUTE


def _copy(file: Path) -> Copy:
    noted = read_json(_note(file))
    named = noted.get("source")
    source = Path(named) if isinstance(named, str) else None
    stale = source is None or (stamp := _stamp(source)) is None or noted.get("stamp") != stamp
    return Copy(file, source, file.stat().st_size, stale)


def _note(copy: Path) -> Path:
    return copy.with_suffix(".json")


def _stamp(source: Path) -> list[list[int]] | None:
    """Size and modification time of every part; None when one is not there."""
    try:
        return [[stat.st_size, stat.st_mtime_ns] for stat in (part.stat() for part in split_parts(source))]
    except OSError:
        return None


def _check_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed + _SPARE:
        raise EngineError(
            ErrorCode.DISK_FULL,
            f"A copy of the draft needs {needed / 1e6:,.0f} MB in {folder}, where {free / 1e6:,.0f} MB are free.",
            {"folder": str(folder), "needed": needed, "free": free},
        )


def _copied_bytes(tensor: TensorInfo) -> float:
    """Vectors keep their type, and so does a matrix whose rows are not whole blocks of 32."""
    matrix = len([n for n in tensor.shape if n > 1]) > 1 and tensor.name.endswith("weight")
    return tensor.n_elements * _BITS if matrix and tensor.shape[0] % 32 == 0 else tensor.nbytes
