"""A benchmark that ends before its time keeps what it has measured."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.terminal import tandem
from tests.tiny import tiny_llama

ROOT = Path(__file__).resolve().parents[2]
ANSWER = (
    'data: {"choices": [{"index": 0, "delta": {"content": "yes"}, "finish_reason": null}]}\n\n'
    'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
)


class Answers(BaseHTTPRequestHandler):
    """Another server: warms up and answers twice; after that it fails, or does not answer at all."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send(200, "application/json", '{"data": [{"id": "theirs"}]}')

    def do_POST(self) -> None:
        server: Any = self.server
        self.rfile.read(int(self.headers["Content-Length"]))
        server.asked += 1
        if server.asked <= 3:
            self._send(200, "text/event-stream", ANSWER)
        elif server.hangs:
            server.hanging.set()
            server.leave.wait(60)
        else:
            self._send(500, "application/json", '{"error": {"message": "the server is ill"}}')

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as http:
        found: Any = http
        found.daemon_threads, found.asked, found.hangs = True, 0, False
        found.hanging, found.leave = threading.Event(), threading.Event()
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield found
        found.leave.set()
        http.shutdown()
        thread.join()


def bench(server: Any, folder: Path) -> subprocess.Popen[str]:
    target, prompts = tiny_llama(folder / "good.gguf"), folder / "p.jsonl"
    prompts.write_text("".join(f'{{"id": "p{i}", "prompt": "hello"}}\n' for i in range(9)))
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "backend.cli", "bench", "--target", target, "--prompts", prompts),
            *("--modes", "plain", "--max-tokens", "4", "--json", folder / "out.json"),
            *("--peer", f"theirs=http://127.0.0.1:{server.server_port}"),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_what_an_earlier_run_left_stays_where_nothing_is_measured(tmp_path: Path) -> None:
    target, kept, prompts = tiny_llama(tmp_path / "good.gguf"), tmp_path / "kept.json", tmp_path / "p.jsonl"
    kept.write_text('{"runs": "of an hour"}')
    prompts.write_text('{"id": "p", "prompt": "hello"}\n')
    own = ("bench", "--target", target, "--prompts", prompts, "--max-tokens", "4", "--modes", "plain")
    gone = tandem(*own, "--peer", "x=http://127.0.0.1:1", "--json", kept, "--html", tmp_path / "new.html")
    assert gone.code == 1
    assert "does not answer" in gone.err
    assert kept.read_text() == '{"runs": "of an hour"}'
    assert not (tmp_path / "new.html").exists(), "an empty file tells nothing"
    for clash in (("--json", prompts), ("--json", kept, "--html", kept)):
        refused = tandem(*own, *clash)
        assert refused.code == 1
        assert "the same file" in refused.err
    assert prompts.read_text() == '{"id": "p", "prompt": "hello"}\n'


def check_kept(folder: Path, shown: str) -> None:
    report = json.loads((folder / "out.json").read_text("utf-8"))
    modes = [run["mode"] for run in report["runs"]]
    assert modes.count("theirs") == 2
    assert modes.count("plain") >= 2
    assert report["meta"]["target"]["id"] == "good"
    assert "theirs" in shown


def test_a_server_that_fails_midway(server: Any, tmp_path: Path) -> None:
    process = bench(server, tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "the server is ill" in err
    assert "Traceback" not in err
    check_kept(tmp_path, out)


@pytest.mark.skipif(os.name != "posix", reason="sends signals to one process")
@pytest.mark.parametrize("names", ["SIGINT", "SIGINT SIGINT", "SIGTERM", "SIGHUP"])
def test_asked_to_end_midway(server: Any, tmp_path: Path, names: str) -> None:
    """By Ctrl-C once or twice, by whoever limits the time, or by a terminal that closes."""
    server.hangs = True
    process = bench(server, tmp_path)
    assert server.hanging.wait(60)
    for name in names.split():
        process.send_signal(getattr(signal, name))
        time.sleep(0.05)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    check_kept(tmp_path, out)


@pytest.mark.skipif(os.name != "posix", reason="sends signals to one process")
def test_asked_to_end_with_an_engine_that_is_frozen(server: Any, tmp_path: Path) -> None:
    server.hangs = True
    process = bench(server, tmp_path)
    assert server.hanging.wait(60)
    (worker,) = psutil.Process(process.pid).children()
    worker.suspend()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    check_kept(tmp_path, out)
    assert not worker.is_running()
