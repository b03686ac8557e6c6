"""The last words of a crash can still be read after the next starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PREPARE = "from desktop.early import keep_last_crash, prepare\nlogs, problem = prepare()\nassert logs, problem\n"


def start(home: Path, then: str) -> int:
    env = os.environ | {"TANDEM_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", PREPARE + then], env=env, capture_output=True, check=False).returncode


def test_a_crash_is_kept_through_the_next_starts(tandem_home: Path) -> None:
    crash, old = tandem_home / "logs" / "desktop-crash.log", tandem_home / "logs" / "desktop-crash.old.log"
    assert start(tandem_home, "keep_last_crash(logs)\nimport os\nos.abort()") != 0
    assert "Aborted" in crash.read_text()
    assert start(tandem_home, "") == 0  # a second start, which only raises the window
    assert "Aborted" in crash.read_text()
    assert start(tandem_home, "keep_last_crash(logs)") == 0
    assert crash.read_text() == ""
    assert start(tandem_home, "keep_last_crash(logs)\nimport os\nos.abort()") != 0  # the new file is written to
    assert "Aborted" in crash.read_text()
    assert "Aborted" in old.read_text()


def test_a_crash_file_that_cannot_be_used_stops_nothing(tandem_home: Path) -> None:
    (tandem_home / "logs" / "desktop-crash.log").mkdir(parents=True)
    assert start(tandem_home, "keep_last_crash(logs)") == 0
