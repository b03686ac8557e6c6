"""SHA-256 of model files: computed once, remembered by size and modification time, compared with what was published.

A published hash comes from the catalogue; where the catalogue has none, the hub's own (its LFS hash) is kept from the
download on.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from backend.errors import EngineError, ErrorCode
from backend.library.jsonfile import read_json, write_json
from backend.library.paths import data_dir
from backend.library.progress import Flag, Meter, Progress, stop_if

SHA256 = re.compile(r"^[0-9a-f]{64}$")
_CHUNK = 2**20


class Hashes:
    """``hashes.json`` in the data folder: hashes computed here, by path, and hashes learnt from the hub, by file."""

    def __init__(self) -> None:
        self._path = data_dir() / "hashes.json"

    def of(self, path: Path, flag: Flag, progress: Progress) -> str:
        """The file's SHA-256 in hex, from memory when neither size nor modification time have changed.

        Raises:
            EngineError: ``CANCELLED``, ``FILE_MISSING``, ``NOT_WRITABLE``.
        """
        known = self.known(path)
        if known is not None:
            return known
        digest = hash_file(path, flag, progress)
        self.remember(path, digest)
        return digest

    def known(self, path: Path) -> str | None:
        """The remembered hash of a file that has not changed since."""
        entry = self._section("computed").get(str(path))
        if isinstance(entry, dict) and entry.get("stamp") == _stamp(path):
            value = entry.get("sha256")
            return value if isinstance(value, str) else None
        return None

    def remember(self, path: Path, digest: str) -> None:
        """Keep a hash that was just computed over ``path``."""
        self._store("computed", str(path), {"stamp": _stamp(path), "sha256": digest})

    def published(self, repo: str, name: str) -> str | None:
        """The hub's hash of a file, as of its download."""
        value = self._section("hub").get(f"{repo}/{name}")
        return value if isinstance(value, str) else None

    def publish(self, repo: str, name: str, digest: str) -> None:
        """Keep the hub's hash of a file."""
        self._store("hub", f"{repo}/{name}", digest)

    def _section(self, name: str) -> dict[str, Any]:
        section = read_json(self._path).get(name)
        return section if isinstance(section, dict) else {}

    def _store(self, name: str, key: str, value: Any) -> None:
        content = read_json(self._path)
        content[name] = self._section(name) | {key: value}
        write_json(self._path, content)


def hash_file(path: Path, flag: Flag, progress: Progress) -> str:
    """SHA-256 of a file in hex, stopping within a MiB once the flag is set.

    Raises:
        EngineError: ``CANCELLED``, ``FILE_MISSING``.
    """
    digest, done = hashlib.sha256(), 0
    try:
        meter = Meter(path.stat().st_size, progress)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                stop_if(flag)
                digest.update(chunk)
                done += len(chunk)
                meter.at(done)
    except OSError as error:
        raise EngineError(
            ErrorCode.FILE_MISSING,
            f"The model file {path} cannot be read ({error.strerror or error}); get the model again.",
            {"path": str(path)},
        ) from error
    return digest.hexdigest()


def wrong_hash(path: Path, found: str, expected: str) -> EngineError:
    """The one sentence for content that is not what was published; the caller has removed the file."""
    return EngineError(
        ErrorCode.WRONG_HASH,
        f"{path.name} is not the published file (SHA-256 {found[:12]}… instead of {expected[:12]}…) and was removed; "
        "get the model again.",
        {"path": str(path), "found": found, "expected": expected},
    )


def _stamp(path: Path) -> list[int]:
    try:
        stat = path.stat()
    except OSError:
        return []
    return [stat.st_size, stat.st_mtime_ns]
