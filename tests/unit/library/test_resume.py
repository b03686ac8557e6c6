"""Downloads that were stopped, broke off or were killed are gone on with; nobody else writes meanwhile."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from backend.errors import EngineError, ErrorCode
from backend.library import hub as hub_module
from backend.library.found import Found
from backend.library.hub import discard, download
from backend.library.library import Library
from backend.library.partial import Partial
from backend.library.removing import delete, own_download
from tests.unit.library.files import entry, write_gguf, write_split
from tests.unit.library.server import CONTENT, Hub, serving

SHA256 = hashlib.sha256(CONTENT).hexdigest()
HALF = 1_500_000
MODEL = entry(variants=[{"quant": "F32", "files": [{"name": "m.gguf", "size": len(CONTENT), "sha256": SHA256}]}])
VARIANT = MODEL.variants[0]
DOWNLOAD = """
import sys, threading
from backend.library.catalogue import CatalogueModel
from backend.library.hub import download
model = CatalogueModel.model_validate_json(sys.stdin.readline())
download(model, model.variants[0], lambda *_: None, threading.Event())
"""


@pytest.fixture
def hub(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(hub_module, "PAUSE", 0.001)
    with serving(Hub()) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


@pytest.fixture
def partial(models_folder: Path) -> Partial:
    return Partial(models_folder / "org" / "m-GGUF" / "m.gguf")


def get(progress: Callable[[int, int, float], None] = lambda *_: None) -> Path:
    return download(MODEL, VARIANT, progress, threading.Event())[0]


def broken_off(hub: Hub) -> None:
    hub.breaks = [HALF] + [0] * 9
    with pytest.raises(EngineError) as caught:
        get()
    assert caught.value.code is ErrorCode.NO_NETWORK
    assert "what has come is kept" in caught.value.message
    hub.breaks, hub.requests = [], []


def until(true: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_what_broke_off_goes_on(hub: Hub, partial: Partial) -> None:
    broken_off(hub)
    assert partial.size == HALF
    steps: list[tuple[int, float]] = []
    assert get(lambda done, _, speed: steps.append((done, speed))).read_bytes() == CONTENT
    assert hub.gets[0]["range"] == f"bytes={HALF}-"
    assert steps[-1][0] == len(CONTENT)
    assert not partial.file.exists()


def test_the_library_says_how_far_a_stopped_download_came(hub: Hub, tandem_home: Path) -> None:
    broken_off(hub)
    Found().add(MODEL)
    model = Library().find("m")
    assert (model.state, model.fetched) == ("available", HALF)
    get()
    assert Library().find("m").fetched == 0


def test_a_download_that_is_given_up_leaves_nothing(hub: Hub, partial: Partial, models_folder: Path) -> None:
    broken_off(hub)
    partial.file.with_name(".m.gguf.part.json.x1y2").write_text("{")  # killed while it wrote the note
    discard(MODEL, VARIANT)
    assert [p.name for p in models_folder.iterdir()] == [".locks"]
    get()
    discard(MODEL, VARIANT)  # what is whole is not a download
    assert partial.final.read_bytes() == CONTENT


def test_a_process_killed_between_costs_nothing(hub: Hub, partial: Partial) -> None:
    """kill -9, as by the system when memory runs out; its own child ends with it."""
    hub.stall_after = HALF
    with subprocess.Popen([sys.executable, "-c", DOWNLOAD], stdin=subprocess.PIPE, text=True) as victim:
        assert victim.stdin is not None
        victim.stdin.write(MODEL.model_dump_json() + "\n")
        victim.stdin.flush()
        until(lambda: partial.size == HALF)
        (child,) = psutil.Process(victim.pid).children()
        os.kill(victim.pid, signal.SIGKILL)
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)
    hub.stall_after, hub.requests = None, []
    assert get().read_bytes() == CONTENT
    assert hub.gets[0]["range"] == f"bytes={HALF}-"


def test_stopping_keeps_what_has_come(hub: Hub, partial: Partial) -> None:
    hub.stall_after = HALF
    flag = threading.Event()
    caught: list[EngineError] = []

    def work() -> None:
        with pytest.raises(EngineError) as error:
            download(MODEL, VARIANT, lambda *_: None, flag)
        caught.append(error.value)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: partial.size == HALF)
    with pytest.raises(EngineError) as busy:  # meanwhile nobody else may write, nor remove what has come
        get()
    assert busy.value.code is ErrorCode.BUSY
    with pytest.raises(EngineError):
        discard(MODEL, VARIANT)
    flag.set()
    thread.join()
    assert caught[0].code is ErrorCode.CANCELLED
    assert partial.size == HALF


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs an administrator")
def test_a_disk_that_fills_keeps_what_has_come(
    hub: Hub, partial: Partial, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "check_space", lambda *_: None)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", str(models_folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(EngineError) as caught:
            get()
        assert caught.value.code is ErrorCode.DISK_FULL
        assert "GB free" in caught.value.message
        kept = partial.size
        assert 0 < kept < len(CONTENT)
        subprocess.run(["mount", "-o", "remount,size=5000k", str(models_folder)], check=True)
        hub.requests = []
        assert get().read_bytes() == CONTENT
        assert hub.gets[0]["range"] == f"bytes={kept}-"
    finally:
        subprocess.run(["umount", str(models_folder)], check=True)


def test_only_our_own_downloads_are_deleted(hub: Hub, models_folder: Path, tmp_path: Path) -> None:
    hub.content = write_gguf(tmp_path / "m.gguf").read_bytes()
    Found().add(entry())
    (path,) = download(entry(), entry().variants[0], lambda *_: None, threading.Event())
    put_there = write_gguf(models_folder / "mine.gguf")
    models = {m.id: m for m in Library().models()}
    assert own_download(models["m"]) == (path,)
    assert own_download(models["mine"]) == ()
    assert delete(models["mine"]) == 0
    assert delete(models["m"]) == len(hub.content)
    assert put_there.is_file()
    assert not (models_folder / "org").exists()
    assert Found().models() == []


def test_another_programs_folder_among_the_models_is_not_ours(
    models_folder: Path, monkeypatch: pytest.MonkeyPatch, tandem_home: Path
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(models_folder / "hub"))
    snapshot = models_folder / "hub" / "models--org--m-GGUF" / "snapshots" / "rev"
    snapshot.mkdir(parents=True)
    write_gguf(snapshot / "m.gguf")
    Found().add(entry())
    model = Library().find("m")
    assert model.installed
    assert own_download(model) == ()


def test_giving_up_leaves_a_model_that_is_whole(models_folder: Path, tmp_path: Path) -> None:
    """One of its parts lies in the hub's cache."""
    first, second = write_split(tmp_path, "big", 2)
    model = entry(variants=[{"quant": "F32", "files": [{"name": first.name}, {"name": second.name}]}])
    snapshot = tmp_path / "hub" / "models--org--m-GGUF" / "snapshots" / "rev"
    snapshot.mkdir(parents=True)
    first.rename(snapshot / first.name)
    partial = Partial(models_folder / "org" / "m-GGUF" / second.name)
    partial.final.parent.mkdir(parents=True)
    second.rename(partial.final)
    partial.file.write_bytes(b"GGUF")
    discard(model, model.variants[0])
    assert partial.final.is_file()
    assert not partial.file.exists()
