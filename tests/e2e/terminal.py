"""Running ``tandem`` as a person does: a process, its output, its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "backend.cli"]
PATIENCE = 120


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
