"""Getting models: from the hub into its standard cache, or from the mirror where the hub does not answer.

A model counts as got only when each file has its published SHA-256: the catalogue's, or else the hub's own (LFS) hash,
which is kept from then on. What fails leaves nothing half-written.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import CatalogueModel, ModelFile, Variant
from backend.library.hashes import Hashes, remove_file, wrong_hash
from backend.library.library import hub_cache_dir
from backend.library.local import hub_cache_files
from backend.library.mirror import end, fetch_from_mirror
from backend.library.paths import models_dir
from backend.library.progress import Flag, Meter, Progress, check_space, disk_full, stop_if

Notice = Callable[[str], None]

ANSWER_SECONDS = 4.0
"""How long the hub may take to answer before it counts as out of reach (name look-up included, twice that)."""
_POLL = 0.05
_SHA256 = re.compile(r"^[0-9a-f]{64}$")


class _HubUnreachableError(Exception):
    """The hub does not answer; the mirror may."""


@dataclass(frozen=True, slots=True)
class _Job:
    entry: CatalogueModel
    variant: Variant
    progress: Progress
    checking: Progress
    flag: Flag
    notice: Notice
    hashes: Hashes


def download(
    entry: CatalogueModel,
    variant: Variant,
    progress: Progress,
    flag: Flag,
    notice: Notice = lambda _: None,
    checking: Progress | None = None,
) -> tuple[Path, ...]:
    """Have every file of a variant on this machine, verified; gives their paths.

    Files that are there already are only verified (at once, if they have not changed since the last time); one that is
    not what was published is replaced. ``notice`` gets a sentence when something takes another way than expected,
    ``checking`` the progress of reading a file that is here (else ``progress`` has that too).

    Raises:
        EngineError: ``DISK_FULL``, ``NO_NETWORK``, ``GATED``, ``DOWNLOAD_FAILED``, ``WRONG_HASH``, ``CANCELLED``,
            ``NOT_WRITABLE``.
    """
    job = _Job(entry, variant, progress, checking or progress, flag, notice, Hashes())
    return tuple(_have(job, file) for file in variant.files)


def installed_file(entry: CatalogueModel, file: ModelFile) -> Path | None:
    """Where a catalogue file lies, if it does: among Tandem's models or in the hub's cache."""
    placed = models_dir() / Path(file.name).name
    if placed.is_file():
        return placed
    found = hub_cache_files(hub_cache_dir())
    return next((p for repo, name, p in found if (repo, name) == (entry.repo, file.name)), None)


def expected_hash(entry: CatalogueModel, file: ModelFile, hashes: Hashes, path: Path | None = None) -> str | None:
    """The published SHA-256 of a catalogue file: the catalogue's, the one kept at download, or the hub cache's own.

    The hub's cache names a large file's content by its LFS hash.
    """
    known = file.sha256 or (hashes.published(entry.repo, file.name) if entry.repo else None)
    if known is None and path is not None and path.is_symlink() and _SHA256.match(path.resolve().name):
        return path.resolve().name
    return known


def _have(job: _Job, file: ModelFile) -> Path:
    path = installed_file(job.entry, file)
    expected = expected_hash(job.entry, file, job.hashes, path)
    if path is not None and expected is not None:
        if _right_size(path, file) and job.hashes.of(path, job.flag, job.checking) == expected:
            return path
        job.notice(f"{path.name} is not the published file; it is replaced.")
        remove_file(path)
    stop_if(job.flag)
    if job.entry.repo:
        try:
            return _from_hub(job, file)
        except _HubUnreachableError as error:
            if job.variant.mirror is None:
                raise EngineError(
                    ErrorCode.NO_NETWORK,
                    f"The model hub does not answer ({error}); check the network connection and try again.",
                    {"repo": job.entry.repo, "reason": str(error)},
                ) from error
            job.notice("The model hub does not answer; taking the mirror's copy instead.")
    return _from_mirror(job, file)


def _right_size(path: Path, file: ModelFile) -> bool:
    return file.size is None or path.stat().st_size == file.size


def _from_mirror(job: _Job, file: ModelFile) -> Path:
    if job.variant.mirror is None or file.size is None:
        raise EngineError(
            ErrorCode.DOWNLOAD_FAILED,
            f"The catalogue says nowhere to get {job.entry.id} from; add the file itself with 'tandem models add'.",
            {"model": job.entry.id},
        )
    target = models_dir() / Path(file.name).name
    digest = fetch_from_mirror(job.variant, target, Meter(file.size, job.progress), job.flag)
    job.hashes.remember(target, digest)
    return target


# -- the hub ----------------------------------------------------------------------------------------------------------


def _from_hub(job: _Job, file: ModelFile) -> Path:
    repo = job.entry.repo or ""
    with _Child(repo, file.name, job.entry.revision or "main", job.flag) as child:
        meta = child.message(deadline=time.monotonic() + 2 * ANSWER_SECONDS)
        _raise_for(job, file, meta)
        etag, size = str(meta.get("etag") or ""), int(meta.get("size") or file.size or 0)
        child.etag = etag
        check_space(hub_cache_dir(), size)
        child.go_on()
        meter = Meter(size, job.progress)
        while "path" not in (message := child.message()):
            _raise_for(job, file, message)
            meter.at(int(message.get("done") or 0))
    path = Path(str(message["path"]))
    published = etag if _SHA256.match(etag) else None
    if published and job.entry.repo:
        job.hashes.publish(job.entry.repo, file.name, published)
    expected = file.sha256 or published
    found = job.hashes.of(path, job.flag, job.checking)
    if expected is not None and found != expected:
        remove_file(path)
        raise wrong_hash(path, found, expected)
    return path


def _raise_for(job: _Job, file: ModelFile, message: dict[str, Any]) -> None:
    kind = message.get("error")
    if kind is None:
        return
    reason = str(message.get("message") or "no reason given")
    details = {"repo": job.entry.repo, "file": file.name, "reason": reason}
    if kind == "offline" or (kind == "hub" and job.variant.mirror):
        raise _HubUnreachableError(reason)
    if kind == "disk":
        raise disk_full(hub_cache_dir(), file.size or 0)
    if kind == "gated":
        raise EngineError(
            ErrorCode.GATED,
            f"{job.entry.name} is only given to people who accepted its licence; accept it at "
            f"https://huggingface.co/{job.entry.repo}, log in with 'hf auth login', and try again.",
            details,
        )
    raise EngineError(
        ErrorCode.DOWNLOAD_FAILED,
        f"The hub did not deliver {file.name} of {job.entry.repo} ({reason}); try again later.",
        details,
    )


class _Child:
    """The fetching process and its messages."""

    def __init__(self, repo: str, name: str, revision: str, flag: Flag) -> None:
        self.repo = repo
        self.etag = ""
        self._flag = flag
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        command = [sys.executable, "-m", "backend.library.hub_fetch", repo, name, revision, str(ANSWER_SECONDS)]
        root = str(Path(__file__).resolve().parents[2])
        search = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        env = os.environ | {"HF_HUB_DISABLE_TELEMETRY": "1", "PYTHONUTF8": "1", "PYTHONPATH": search}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        killed = self._process.poll() is None
        end(self._process)
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        if killed and self.etag:  # what it could not remove itself
            blobs = hub_cache_dir() / f"models--{self.repo.replace('/', '--')}" / "blobs"
            for partial in blobs.glob(f"{self.etag}.*.incomplete"):
                partial.unlink(missing_ok=True)

    def message(self, deadline: float | None = None) -> dict[str, Any]:
        """The next message; raises ``CANCELLED``, or that the hub does not answer once the deadline has passed."""
        while True:
            stop_if(self._flag)
            try:
                message = self._messages.get(timeout=_POLL)
            except queue.Empty:
                if deadline is not None and time.monotonic() > deadline:
                    raise _HubUnreachableError("no answer in time") from None
                continue
            if message is None:
                return {"error": "other", "message": "the download process ended unexpectedly"}
            return message

    def go_on(self) -> None:
        """Let it download."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # it has ended; its last message says why

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict):
                self._messages.put(message)
        self._messages.put(None)
