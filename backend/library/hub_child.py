"""The fetching process as its parent sees it: what it says, and its end."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from backend.library.progress import Flag, stop_if

_POLL = 0.05


class NoAnswerError(Exception):
    """The hub does not answer; a mirror may."""


class Child:
    """Runs :mod:`backend.library.hub_fetch`. Leaving the block ends it, wherever it is.

    Args:
        request: what it is to fetch.
        flag: stops it.
    """

    def __init__(self, request: dict[str, Any], flag: Flag) -> None:
        self._flag = flag
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        root = str(Path(__file__).resolve().parents[2])
        search = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        env = os.environ | {"HF_HUB_DISABLE_TELEMETRY": "1", "PYTHONUTF8": "1", "PYTHONPATH": search}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "backend.library.hub_fetch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._write(json.dumps(request))

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def message(self, seconds: float | None = None) -> dict[str, Any]:
        """The next message.

        Raises:
            EngineError: ``CANCELLED`` once the flag is set.
            NoAnswerError: nothing came for so many seconds.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while True:
            stop_if(self._flag)
            try:
                message = self._messages.get(timeout=_POLL)
            except queue.Empty:
                if deadline is not None and time.monotonic() > deadline:
                    raise NoAnswerError("no answer in time") from None
                continue
            return message or {"error": "other", "message": "the download process ended unexpectedly"}

    def go_on(self) -> None:
        """Let it download."""
        self._write("")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
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
            if isinstance(message, dict) and message:
                self._messages.put(message)
        self._messages.put(None)


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
