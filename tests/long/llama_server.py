"""llama.cpp's own server as a peer: started with some flags, asked over HTTP, ended with the block."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from backend.errors import EngineError, ErrorCode

ALWAYS = ("-cram", "0", "-np", "1", "--no-webui")
"""No prompt cache beside the context, one conversation at a time."""
_PATIENCE = 300.0
"""Seconds until it has loaded, perhaps from a slow disk."""
_END = 20.0


def end_in_order() -> None:
    """Have a request to terminate (``timeout``, ``kill``) leave through all blocks, so that nothing started stays."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


@contextmanager
def llama_server(binary: Path, flags: Sequence[str], prefix: Sequence[str] = ()) -> Iterator[tuple[str, int]]:
    """A server that answers by now: its URL and process id.

    Args:
        binary: of llama-server.
        flags: beside those that every one has.
        prefix: a command that becomes the server by executing its arguments.

    Raises:
        EngineError: it ended, or did not answer in time; with the last thing that it said.
    """
    port = _free_port()
    argv = [*prefix, str(binary), "--host", "127.0.0.1", "--port", str(port), *ALWAYS, *flags]
    with tempfile.TemporaryFile() as log:
        # a group of its own: Ctrl-C in the terminal is for the benchmark, which ends it afterwards
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True)
        try:
            url = f"http://127.0.0.1:{port}"
            if not _answers(process, f"{url}/health"):
                raise EngineError(ErrorCode.WORKER_GONE, f"llama-server does not answer: {_last_words(log.fileno())}")
            yield url, process.pid
        finally:
            process.terminate()
            try:
                process.wait(_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _answers(process: subprocess.Popen[bytes], url: str) -> bool:
    until = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return True
        except OSError:
            time.sleep(0.2)
    return False


def _last_words(log: int) -> str:
    size = os.fstat(log).st_size
    said = os.pread(log, 4096, max(0, size - 4096)).decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(said) if line.strip()), "it said nothing")
