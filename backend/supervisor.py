"""Starts, watches and stops the worker process, and says in one sentence why one died.

The parent's side of ``backend.worker``: the secret travels in the environment, the port comes back in one line on
stdout, and the pipe to the worker's stdin is the leash: it breaks when this process ends in whatever way, and then the
worker ends too.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from backend import crash
from backend.errors import EngineError, ErrorCode
from backend.protocol import MODELS_VARIABLE, PROTOCOL, SECRET_VARIABLE
from backend.worker_env import worker_environment

log = logging.getLogger(__name__)

START_SECONDS = 30.0
_CLOSE_SECONDS, _TERMINATE_SECONDS = 8.0, 3.0
_EXIT_SECONDS = 5.0
"""From the end of a worker's output to its own end."""
_STDERR_LINES = 200


def worker_command() -> list[str]:
    """The argv that starts a worker, from a checkout or an installation and from a frozen application."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--engine-worker"]
    return [sys.executable, "-m", "backend.worker"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a worker listens. The secret is kept out of ``repr``."""

    url: str
    secret: str = field(repr=False)
    pid: int


class Supervisor:
    """One worker at a time. Methods block for as long as the step takes; call them off the event loop.

    Args:
        models: files named on a command line, id -> path.
        env: further environment variables for the worker.
        command: argv of the worker; None = :func:`worker_command`.
    """

    def __init__(
        self,
        models: Mapping[str, Path] | None = None,
        env: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        self._models = {name: str(path.absolute()) for name, path in (models or {}).items()}
        self._env = dict(env or {})
        self._command = list(command) if command is not None else worker_command()
        self._lock = threading.RLock()
        self._run: _Run | None = None

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the worker listens; None when none is running."""
        run = self._run
        return run.endpoint if run is not None and run.process.poll() is None else None

    def start(self) -> Endpoint:
        """Start a worker unless one is running.

        Raises:
            EngineError: ``worker_start_failed``, ``protocol_mismatch``.
        """
        with self._lock:
            if (running := self.endpoint) is not None:
                return running
            self.stop()
            secret = secrets.token_urlsafe(32)
            self._run = _Run(self._spawn(secret))
            try:
                self._run.endpoint = _greet(self._run, secret)
            except BaseException:
                self._run.end(graceful=False)
                raise
            return self._run.endpoint

    def stop(self) -> None:
        """End the worker: close its stdin, then terminate, then kill. Does nothing when none is running."""
        with self._lock:
            if self._run is not None:
                self._run.end(graceful=True)

    def restart(self) -> Endpoint:
        """A fresh worker in place of the old one, dead or alive."""
        with self._lock:
            self.stop()
            self._run = None
            return self.start()

    def death(self, wait: float = 0.0) -> EngineError | None:
        """Why the worker is dead, or None while it lives (waiting up to ``wait`` seconds for its end)."""
        run = self._run
        if run is None:
            return EngineError(ErrorCode.WORKER_GONE, "The engine is not running; start it.", {"kind": "stopped"})
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.process.wait(wait)
        return run.obituary() if run.process.returncode is not None else None

    def _spawn(self, secret: str) -> subprocess.Popen[bytes]:
        env = worker_environment(self._env) | {SECRET_VARIABLE: secret}
        if self._models:
            env[MODELS_VARIABLE] = json.dumps(self._models)
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                cwd=Path(__file__).resolve().parent.parent,  # `-m backend.worker` must be found from a checkout
                **_platform_options(),
            )
        except OSError as error:
            raise EngineError(
                ErrorCode.WORKER_START_FAILED,
                f"The engine's process could not be started ({error.strerror}); run the set-up again.",
                {"command": self._command},
            ) from error
        return process


class _Run:
    """One worker process and what it said."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._leash = _tie_to_this_process(process)
        self.endpoint: Endpoint | None = None
        self.stderr: deque[str] = deque(maxlen=_STDERR_LINES)
        self.first_line: queue.Queue[bytes] = queue.Queue()
        self._ended_by_us = False
        self._readers = [_reader(self._read_stdout), _reader(self._read_stderr)]

    def end(self, *, graceful: bool) -> None:
        """Make sure that the process is gone and its pipes are closed."""
        if self.process.poll() is None:
            self._ended_by_us = True
            self._close_stdin()
            if not (graceful and self.gone(_CLOSE_SECONDS)):
                self.process.terminate()
                if not self.gone(_TERMINATE_SECONDS):
                    _kill_group(self.process)
                    self.process.wait()
        self._close_stdin()
        for reader in self._readers:
            reader.join(2)

    def obituary(self) -> EngineError:
        """Why the process, which has ended, ended."""
        self._close_stdin()
        for reader in self._readers:
            reader.join(1)
        pid = self.endpoint.pid if self.endpoint else self.process.pid
        return crash.obituary(self.process.returncode, pid, list(self.stderr), stopped=self._ended_by_us)

    def gone(self, seconds: float) -> bool:
        """Wait for the process's end; False if it runs on after so many seconds."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _close_stdin(self) -> None:
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            self.first_line.put(pipe.readline())
            for _ in pipe:  # nothing comes; a full pipe would block the worker
                pass

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as pipe:
            for line in _lines(pipe):
                self.stderr.append(line)
                log.info("worker: %s", line)


def _greet(run: _Run, secret: str) -> Endpoint:
    """The worker's first line as an endpoint."""
    try:
        line = run.first_line.get(timeout=START_SECONDS)
    except queue.Empty:
        raise EngineError(
            ErrorCode.WORKER_START_FAILED,
            f"The engine did not answer within {START_SECONDS:.0f} seconds; try again, or see its log.",
        ) from None
    if not line:
        if not run.gone(_EXIT_SECONDS):
            raise EngineError(
                ErrorCode.WORKER_START_FAILED,
                "The engine closed its output without saying where it listens; run the set-up again.",
            )
        reason = run.obituary()
        said = run.stderr[-1] if run.stderr else reason.message
        raise EngineError(ErrorCode.WORKER_START_FAILED, f"The engine did not start: {said}", reason.details)
    try:
        hello = json.loads(line)
        port, pid, protocol = int(hello["port"]), int(hello["pid"]), hello["protocol"]
    except (ValueError, KeyError, TypeError):
        raise EngineError(
            ErrorCode.WORKER_START_FAILED, "The engine's first line was not understood; run the set-up again."
        ) from None
    if protocol != PROTOCOL:
        raise EngineError(
            ErrorCode.PROTOCOL_MISMATCH,
            f"The engine speaks protocol {protocol}, this program {PROTOCOL}; run the set-up again.",
            {"engine": protocol, "program": PROTOCOL},
        )
    return Endpoint(f"http://127.0.0.1:{port}", secret, pid)


def _reader(target: Any) -> threading.Thread:
    thread = threading.Thread(target=target, name="worker-pipe", daemon=True)
    thread.start()
    return thread


def _lines(pipe: IO[bytes]) -> Any:
    # with a limit: a library that prints without line ends must not fill memory
    while chunk := pipe.readline(4096):
        if text := chunk.decode("utf-8", "replace").rstrip():
            yield text


def _platform_options() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}  # its own group: Ctrl-C in the terminal is not for the worker


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _tie_to_this_process(process: subprocess.Popen[bytes]) -> Any:
    """Windows: a job object kills the worker, and whatever it started, with this process; returns its handle.

    Elsewhere stdin's end is enough, and it is the rule on Windows too; the job is for a worker that hangs in a driver.
    """
    if sys.platform == "win32":
        from backend.winjob import kill_with_parent

        return kill_with_parent(process)
    return None
