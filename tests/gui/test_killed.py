"""The program itself, killed while it writes: nothing that was on disk is lost, and the next start says so."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from tests.long.killed import Killing

ENOUGH = 100
"""Letters on disk before the kill: how quick the machine is decides nothing here, `make soak ARGS=killed` times it."""


class Patient(Killing):
    def wait(self, question: str) -> None:
        of = "SELECT length(a.content) FROM messages a JOIN messages q ON a.parent = q.id WHERE q.content = ?"
        with closing(sqlite3.connect(f"{(self.home / 'chats.sqlite').as_uri()}?mode=ro", uri=True)) as db:
            while db.execute(of, [question]).fetchone()[0] < ENOUGH:
                time.sleep(0.05)


def test_a_killed_program_leaves_everything_and_nobody(tmp_path: Path) -> None:
    killing = Patient(tmp_path / "home", most_lost=float("inf"))
    killing.run(2)
    assert killing.faults == []
    assert [len(answer) >= ENOUGH for answer in killing.kept.values()] == [True, True]
