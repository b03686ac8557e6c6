"""Running ``tandem`` as a person does: a process, its output, its exit code; or in a terminal."""

from __future__ import annotations

import codecs
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "backend.cli"]
PATIENCE = 120
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and terminals")


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line on stderr, and nothing like a traceback anywhere."""
        (line,) = self.err.strip().splitlines()
        assert "Traceback" not in self.err
        return line


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"} | more


def tandem(
    *args: str | bytes | Path, stdin: bytes | None = None, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Done:
    """Run a command; without ``stdin`` there is none (an empty pipe)."""
    done = subprocess.run(
        [*COMMAND, *args],
        input=stdin or b"",
        env=environment(**(env or {})),
        cwd=cwd or ROOT,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def start(*args: str | bytes | Path) -> subprocess.Popen[bytes]:
    """A command that runs on, with nothing on stdin and both outputs as pipes."""
    return subprocess.Popen(
        [*COMMAND, *args],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    )


class Terminal:
    """A command in a pseudo-terminal."""

    def __init__(self, *args: str | Path) -> None:
        import pty

        pid, self._fd = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execvpe(sys.executable, [*COMMAND, *map(str, args)], environment(TERM="dumb"))
        self._pid = pid
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end inside a character
        self.seen = ""

    def send(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def expect(self, pattern: str) -> str:
        """Wait for ``pattern``; what came up to its end is taken away and returned."""
        until = time.monotonic() + PATIENCE
        while (match := re.search(pattern, self.seen)) is None:
            assert time.monotonic() < until, f"{pattern!r} did not come in:\n{self.seen}"
            if select.select([self._fd], [], [], 0.2)[0]:
                try:
                    self.seen += self._decoder.decode(os.read(self._fd, 65536))
                except OSError:
                    pytest.fail(f"ended before {pattern!r} came:\n{self.seen}")
        text, self.seen = self.seen[: match.end()], self.seen[match.end() :]
        return text

    def end(self, again: str = "") -> int:
        """Wait for the end; the exit code. ``again`` is pressed every five seconds, as a person would."""
        until = time.monotonic() + PATIENCE
        press = time.monotonic() + 5
        while time.monotonic() < until:
            if again and time.monotonic() > press:
                self.send(again)
                press += 5
            done, status = os.waitpid(self._pid, os.WNOHANG)
            if done:
                os.close(self._fd)
                return os.waitstatus_to_exitcode(status)
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    os.read(self._fd, 65536)
                except OSError:
                    time.sleep(0.05)
        os.kill(self._pid, signal.SIGKILL)
        pytest.fail("the program does not end")
