"""The worker process: ``python -m backend.worker``, started by ``backend.supervisor``.

It binds its own port, says so in one line on stdout, and ends when its stdin closes: the one signal that also comes
when the parent is killed, on every system. Nothing else is ever written to stdout; what libraries print goes to stderr.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import json
import logging
import os
import signal
import socket
import sys
import threading
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from backend.errors import EngineError
from backend.library.paths import log_dir
from backend.protocol import PROTOCOL, SECRET_VARIABLE

PUBLIC_PORT_VARIABLE = "TANDEM_PUBLIC_PORT"
PUBLIC_KEY_VARIABLE = "TANDEM_PUBLIC_KEY"

_SWITCH_INTERVAL = 0.0005
"""Seconds; at Python's default of 5 ms a busy server thread costs the engine thread 5 ms a pass."""
_LAST_SECONDS = 5.0
"""From stdin's end to the end of the process, whatever still runs."""
_KEEP_CRASH_FILES = 5

log = logging.getLogger(__name__)


def main() -> int:
    """Run the worker until its stdin closes."""
    secret = os.environ.pop(SECRET_VARIABLE, "")
    public = os.environ.pop(PUBLIC_PORT_VARIABLE, ""), os.environ.pop(PUBLIC_KEY_VARIABLE, "")
    if not secret:
        sys.stderr.write(f"{SECRET_VARIABLE} is not set: the worker is started by Tandem, not by hand.\n")
        return 2
    stdout = _take_stdout()
    os.environ["GGML_NO_BACKTRACE"] = "1"  # its backtrace starts a debugger; the crash file says more
    sys.setswitchinterval(_SWITCH_INTERVAL)
    os.chdir(
        Path(__file__).resolve().parent
    )  # ggml looks for back ends in the current folder: none can be planted here
    crash_file = _prepare_logs()
    leash = _Leash()
    private = _listen(0)
    hello = {"port": private.getsockname()[1], "pid": os.getpid(), "protocol": PROTOCOL}
    os.write(stdout, json.dumps(hello).encode() + b"\n")
    os.close(stdout)
    asyncio.run(_serve(private, secret, public, crash_file, leash))
    _remove_if_empty(crash_file)
    return 0


def _take_stdout() -> int:
    """A private copy of stdout; from here on file descriptor 1 is stderr, also for C code."""
    copy = os.dup(1)
    os.dup2(2, 1)
    return copy


def _listen(port: int) -> socket.socket:
    # Named TCP, or asyncio leaves Nagle's algorithm on, and each answer waits 40 ms for the reader's acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":  # the port of a worker that has just ended; on Windows it would share one that is in use
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


async def _serve(
    private: socket.socket, secret: str, public: tuple[str, str], crash_file: Path | None, leash: _Leash
) -> None:
    from backend.server.app import private_app, public_app
    from backend.server.auth import Guard, loopback_hosts
    from backend.server.host import Host
    from backend.server.rig import Rig

    host = Host(Rig(crash_file))
    host.start()
    guarded = Guard(private_app(host), secret, loopback_hosts(private.getsockname()[1]))
    servers = [_server(guarded, private)]
    if public[0]:
        try:
            listener = _public_listener(*public)
            own = Guard(public_app(host), public[1], loopback_hosts(listener.getsockname()[1]))
            servers.append(_server(own, listener))
        except (OSError, ValueError) as error:  # the window must not pay for it
            log.warning("the local API does not start: %s", error)
            host.notice(f"The local API could not start: {error}.")
    running = [asyncio.ensure_future(serve) for serve, _ in servers]
    await leash.broken()
    await asyncio.to_thread(host.close)
    for _, server in servers:
        server.should_exit = True
    await asyncio.gather(*running)


def _server(app: Any, listener: socket.socket) -> tuple[Any, Any]:
    import uvicorn

    from backend.server.connections import ACCEPTED, MOST_STRANGERS, TURNS, Connection

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Any:
            yield  # signals are the process's business: stdin decides when it ends

    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=ACCEPTED,
        limit_concurrency=256 + MOST_STRANGERS + TURNS * ACCEPTED,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
    server = Server(config)
    return server.serve(sockets=[listener]), server


def _public_listener(port: str, key: str) -> socket.socket:
    if not port.isdigit() or not 1024 <= int(port) <= 65535:
        raise ValueError(f"{port} is not a port between 1024 and 65535")
    if len(key) < 16:
        raise ValueError("its key must have at least 16 characters")
    try:
        return _listen(int(port))
    except OSError as error:
        raise OSError(f"port {port} is not free ({error.strerror})") from error


class _Leash:
    """Stdin, and the signals that mean the same: when it breaks, the worker ends."""

    def __init__(self) -> None:
        self._broken = threading.Event()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal stops a reply, not the engine
        signal.signal(signal.SIGTERM, lambda _number, _frame: self._broken.set())
        threading.Thread(target=self._watch, name="stdin", daemon=True).start()

    async def broken(self) -> None:
        """Wait for it."""
        await asyncio.to_thread(self._broken.wait)

    def _watch(self) -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        self._broken.set()
        threading.Event().wait(_LAST_SECONDS)
        os._exit(0)  # something hangs in a driver: the parent is gone or waiting


# ---------------------------------------------------------------------------------------------------------------------
# logs


class QuietFormatter(logging.Formatter):
    """Tracebacks without the exception's message, which may quote a prompt: the frames and the type are enough."""

    def formatException(
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        """Frames, then the exception's type."""
        kind, _, frames = ei
        return "".join(traceback.format_tb(frames)) + (kind.__name__ if kind else "")


def _prepare_logs() -> Path | None:
    """engine.log (rotating) and this process's crash file; without a writable folder both go to stderr."""
    formatter = QuietFormatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s")
    errors = _handler(logging.StreamHandler(sys.stderr), formatter)
    errors.addFilter(lambda record: record.name == "llama" and record.levelno >= logging.ERROR)
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    root.addHandler(errors)  # the supervisor reads stderr to tell why a worker died
    sys.excepthook = lambda kind, error, frames: log.critical("ended", exc_info=(kind, error, frames))
    threading.excepthook = lambda args: log.critical(
        "a thread ended", exc_info=(args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback)
    )
    try:
        folder = log_dir()
        handler = RotatingFileHandler(folder / "engine.log", maxBytes=2_000_000, backupCount=3, encoding="utf-8")
        crash_file = folder / f"crash-{os.getpid()}.log"
        faulthandler.enable(_open_crash_file(folder, crash_file), all_threads=True)
    except (OSError, EngineError) as error:
        faulthandler.enable(sys.stderr)
        root.addHandler(_handler(logging.StreamHandler(sys.stderr), formatter))
        log.warning("no log folder: %s", error)
        return None
    root.addHandler(_handler(handler, formatter))
    log.info("worker %d begins", os.getpid())
    return crash_file


def _handler(handler: logging.Handler, formatter: logging.Formatter) -> logging.Handler:
    handler.setFormatter(formatter)
    return handler


def _open_crash_file(folder: Path, crash_file: Path) -> TextIO:
    old = sorted(folder.glob("crash-*.log"), key=lambda path: path.stat().st_mtime)
    for path in old[: -_KEEP_CRASH_FILES or None]:
        path.unlink(missing_ok=True)
    crash_file.unlink(missing_ok=True)  # of an earlier process with this number
    # appended to, as ggml's last words go into it by another way; faulthandler needs it open until the end
    return crash_file.open("a", encoding="utf-8")


def _remove_if_empty(crash_file: Path | None) -> None:
    with contextlib.suppress(OSError):
        if crash_file is not None and crash_file.stat().st_size == 0:
            crash_file.unlink()


if __name__ == "__main__":
    sys.exit(main())
