"""Long commands: all they print goes to a log file, one live line of progress to the person."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TTY_REFRESH_S = 0.25
LOG_REFRESH_S = 15.0
LINE_WIDTH = 78

NINJA = re.compile(r"^\s*\[(\d+)/(\d+)\]")
MAKE = re.compile(r"^\s*\[\s*(\d+)%\]")
_TELLING = 0.05
"""Of a build, after which its speed says how long the rest takes; and no less than so many seconds:"""
_SURE_S = 5.0
ERROR = re.compile(r"(^|[\s:])(fatal |CMake )?error( at |:|\s*$)", re.IGNORECASE)
_ERROR_LINES, LINE_MAX = 10, 200
PIP = re.compile(r"^\s*(Collecting|Downloading|Using cached|Building wheel for|Installing collected)\s+(\S+)")


class SetupError(Exception):
    """The set-up cannot go on; the message says what, why and what to do."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def say(text: str) -> None:
    """Print a line now, also into a pipe."""
    print(text, flush=True)


def built(line: str) -> tuple[int, int] | None:
    """How many parts of how many are done, from a line of ninja's or make's output."""
    if found := NINJA.match(line):
        return int(found[1]), int(found[2])
    return (int(found[1]), 100) if (found := MAKE.match(line)) else None


def build_step(line: str) -> str | None:
    """``[12/345]`` or ``[3 %]`` for the progress line."""
    parts = built(line)
    if parts is None:
        return None
    return f"[{parts[0]}/{parts[1]}]" if NINJA.match(line) else f"[{parts[0]} %]"


class Building:
    """The same, and about how long the rest takes once that can be known: by the parts built since it began.

    Args:
        now: monotonic seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._first: tuple[float, int, int] | None = None
        """When the first part was told, which it was, and of how many."""
        self._last = 0

    def __call__(self, line: str) -> str | None:
        """For ``run_logged``."""
        parts = built(line)
        if parts is None:
            return None
        done, total = parts
        if self._first is None or total != self._first[2] or done < self._last:  # or another build within this one
            self._first = self._now(), done, total
        self._last = done
        return f"{build_step(line)} {self._left(*self._first, done)}".rstrip()

    def _left(self, began: float, first: int, total: int, done: int) -> str:
        took, new = self._now() - began, done - first
        if done >= total or took < _SURE_S or new < _TELLING * total:
            return ""
        seconds = took / new * (total - done)
        if seconds < 55:
            return f"about {max(10, 10 * round(seconds / 10))} s left"
        return f"about {max(1, round(seconds / 60))} min left"


def pip_step(line: str) -> str | None:
    """What pip is busy with, in a few words; the build of a package from source counts too."""
    found = PIP.match(line)
    return f"{found[1].lower()} {Path(found[2]).name}" if found else build_step(line)


def clock(seconds: float) -> str:
    """A duration as people say it: ``3 min 08 s``."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


class LiveLine:
    """One line that is redrawn on a terminal, and printed now and then into a log."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.step = ""
        self.started = time.monotonic()
        self.tty = sys.stdout.isatty()
        self._printed = self.started

    def text(self, now: float) -> str:
        """The line as it should read at ``now`` (monotonic seconds)."""
        return f"{self.title}: {clock(now - self.started)} {self.step}".rstrip()

    def draw(self) -> None:
        """Show the line again if it is time."""
        now = time.monotonic()
        if self.tty:
            print("\r" + self.text(now)[:LINE_WIDTH].ljust(LINE_WIDTH), end="", flush=True)
        elif now - self._printed >= LOG_REFRESH_S:
            self._printed = now
            say(self.text(now))

    def finish(self, outcome: str) -> None:
        """Leave a last line with the outcome and the time it took."""
        line = f"{self.title}: {outcome} in {clock(time.monotonic() - self.started)}"
        say("\r" + line.ljust(LINE_WIDTH) if self.tty else line)


def run_logged(
    command: Sequence[str | Path],
    title: str,
    log: Path,
    step: Callable[[str], str | None] = pip_step,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run a command to its end.

    Raises:
        SetupError: it failed; the message ends with the last lines of its output and names the log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    live = LiveLine(title)
    with log.open("a", encoding="utf-8", errors="replace") as sink:
        sink.write(f"\n$ {' '.join(map(str, command))}\n")
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=None if env is None else dict(env),
            cwd=cwd,
        )
        last: list[str] = []
        errors: list[str] = []

        def read() -> None:
            assert process.stdout is not None
            with process.stdout:
                for line in process.stdout:
                    sink.write(line)
                    last.append(line.rstrip())
                    del last[:-25]
                    _keep_error(errors, line.rstrip())
                    live.step = step(line) or live.step

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            while reader.is_alive():
                reader.join(TTY_REFRESH_S)
                live.draw()
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    live.finish("done" if code == 0 else "failed")
    if code != 0:
        first = "\n".join(line for line in errors if line not in last)
        head = f"\n\nIts first errors:\n{first}" if first else ""
        tail = "\n".join(last)
        raise SetupError(f"{tail}{head}\n\n{title} failed (exit {code}). The whole output is in {log}")


def _keep_error(errors: list[str], line: str) -> None:
    """The first lines that name an error, and what follows each: its reason often stands on the next line."""
    if line.strip() and len(errors) < _ERROR_LINES and (errors or ERROR.search(line)):
        errors.append(line[:LINE_MAX])
