"""The program killed (SIGKILL) in the middle of replies, again and again: what is on disk, what the next start shows.

usage: python -m tests.long.killed [KILLS] [SEED]   (``make soak ARGS=killed``; default 20 kills)

The program is the real one, its worker has a script and writes down what it has sent, and when. After each kill the
database is whole, every message is there and unchanged, the reply lacks nothing that was sent more than two seconds
before, and no worker is left; the next start shows the reply as interrupted, and goes on with it or beside it.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from tests.long import driven
from tests.long.scripted_worker import Script, said

if TYPE_CHECKING:
    from desktop.start import Desktop

KILLS = 20
LOST_BAR_S = 2.0
LONGEST_S = 6.0
"""From a reply's first word to the kill."""
PATIENCE_S = 120.0
ORPHAN_S = 10.0
INTERRUPTED = "Tandem ended while this was written"
IMPROPER = "Tandem did not end properly last time"


class Killing:
    """Starts, asks, kills and looks, in one data folder.

    Args:
        home: the folder.
        seed: of the moments.
        most_lost: seconds.
    """

    def __init__(self, home: Path, seed: int = 1, most_lost: float = LOST_BAR_S) -> None:
        self.home, self.log = home, home / "sent.log"
        home.mkdir(parents=True, exist_ok=True)
        self.script = Script(tokens=4000, rate=80.0, log=str(self.log))
        self.random, self.most_lost = random.Random(seed), most_lost
        self.faults: list[str] = []
        self.lost: list[float] = []
        """Seconds before each kill from which on what was sent is not on disk."""
        self.kept: dict[str, str] = {}
        """Questions, and what is on disk of the answers."""

    def run(self, kills: int) -> None:
        """So many kills, and a last start."""
        for number in range(kills):
            self.kill_once(f"Question {number}: tell me more.")
        process = self.start("")
        self.check_shown(process)
        process.communicate(timeout=PATIENCE_S)
        if process.returncode != 0:
            self.faults.append("the last start did not end properly")

    def kill_once(self, question: str) -> None:
        """From a start to what a kill has left."""
        process = self.start(question)
        try:
            self.check_shown(process)
            self.line(process)  # the first word is there
            self.wait(question)
            others = psutil.Process(process.pid).children(recursive=True)
        finally:
            process.kill()
            killed = time.time()
            process.communicate()
        if not others:
            self.faults.append("no worker ran")
        _, alive = psutil.wait_procs(others, timeout=ORPHAN_S)
        self.faults += [f"{orphan} was left" for orphan in alive]
        self.check_disk(question, killed)

    def wait(self, question: str) -> None:
        """Until the moment of the kill."""
        time.sleep(self.random.uniform(0, LONGEST_S))

    def start(self, question: str) -> subprocess.Popen[str]:
        """The program, in a process of its own."""
        command = [sys.executable, "-m", "tests.long.killed", "start", question]
        env = driven.surroundings(self.home, self.script)
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)

    def line(self, process: subprocess.Popen[str]) -> Any:
        """The next thing that it says."""
        assert process.stdout is not None
        watch = threading.Timer(PATIENCE_S, process.kill)
        watch.start()
        text = process.stdout.readline()
        watch.cancel()
        if not text:
            raise RuntimeError("the program ended, or hung, before it was to be killed")
        return json.loads(text)

    def check_shown(self, process: subprocess.Popen[str]) -> None:
        """What a start shows of the last reply."""
        shown = self.line(process)
        if not self.kept:
            return
        question, answer = list(self.kept.items())[-1]
        if shown["texts"] != [question, answer]:
            self.faults.append(f"{question!r}: the next start shows another text than what is on disk")
        if INTERRUPTED not in shown["footer"]:
            self.faults.append(f"{question!r}: the next start does not show it as interrupted: {shown['footer']!r}")
        if IMPROPER not in shown["notice"]:
            self.faults.append(f"{question!r}: the next start does not say that the last one ended badly")

    def check_disk(self, question: str, killed: float) -> None:
        """On a copy: the next start finds what the kill has left."""
        stored, faults = self.read()
        self.faults += faults
        for asked, answer in self.kept.items():
            if stored.get(asked) != answer:
                self.faults.append(f"{asked!r}: the answer has changed")
        left = stored.get(question)
        if left is None or not said(question, self.script.tokens).startswith(left):
            self.faults.append(f"{question!r}: what is on disk is not what was sent: {left!r}")
            return
        self.kept[question] = left
        self.lost.append(self.seconds_lost(question, left, killed))
        if self.lost[-1] > self.most_lost:
            self.faults.append(f"{question!r}: the last {self.lost[-1]:.2f} s are lost")

    def read(self) -> tuple[dict[str, str], list[str]]:
        """Questions with their answers, and what is wrong with the database."""
        with tempfile.TemporaryDirectory() as folder:
            for file in self.home.glob("chats.sqlite*"):
                if not file.name.endswith("-shm"):
                    shutil.copy(file, folder)
            db = sqlite3.connect(Path(folder) / "chats.sqlite")
            try:
                faults = [f"integrity: {text}" for (text,) in db.execute("PRAGMA integrity_check") if text != "ok"]
                faults += [f"foreign key: {row}" for row in db.execute("PRAGMA foreign_key_check")]
                asked = "SELECT q.content, a.content FROM messages a JOIN messages q ON a.parent = q.id"
                return dict(db.execute(f"{asked} WHERE a.role = 'assistant' ORDER BY a.id").fetchall()), faults
            finally:
                db.close()

    def seconds_lost(self, question: str, answer: str, killed: float) -> float:
        """How long before the kill the first letter was sent that is not on disk."""
        length = 0
        for line in self.log.read_text("utf-8").splitlines():
            sent, asked, part = json.loads(line)
            length += len(part) if asked == question else 0
            if asked == question and length > len(answer):
                return max(0.0, killed - sent)
        return 0.0


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["start"]:
        return driven.run(lambda desktop: be_asked(desktop, arguments[1]))
    kills, seed = int(arguments[0]) if arguments else KILLS, int(arguments[1]) if len(arguments) > 1 else 1
    with tempfile.TemporaryDirectory() as folder:
        killing = Killing(Path(folder), seed)
        killing.run(kills)
    for fault in killing.faults:
        print("FAULT:", fault)
    print(
        f"{kills} kills, seed {seed}: {len(killing.faults)} faults; lost of the streamed text: "
        f"{statistics.median(killing.lost):.2f} s in the median, at most {max(killing.lost):.2f} s "
        f"(bar {LOST_BAR_S:.1f} s); replies of {min(map(len, killing.kept.values()))} to "
        f"{max(map(len, killing.kept.values()))} letters kept"
    )
    return 1 if killing.faults else 0


def be_asked(desktop: Desktop, question: str) -> None:
    """In the program: open the latest chat and say what is on screen, then send the question and go on until killed."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    window, conversation = desktop.window, desktop.conversation
    if (chats := window.sidebar.model).rowCount():
        window.sidebar.list.clicked.emit(chats.index(1))
    driven.rest(0.2)
    last = window.page.messages.widgets[-2:]
    footer = last[-1].footer_text if last else ""
    shown = {"texts": [w.message.content for w in last], "footer": footer, "notice": window.page.notice.text}
    print(json.dumps(shown), flush=True)
    if not question:
        return
    if conversation.chat is None or conversation.chat.id % 3:  # every third chat gets further turns
        window.new_chat()
    driven.load(desktop)
    QTest.keyClicks(window.page.composer.edit, question)
    QTest.keyClick(window.page.composer.edit, Qt.Key.Key_Return)
    driven.until(lambda: bool(conversation.messages[-1].content))
    print(json.dumps("streaming"), flush=True)
    driven.rest(PATIENCE_S)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
