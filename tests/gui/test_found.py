"""The program starts whatever state its chats are in: damaged, on a full disk, in a folder that cannot be written."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.store import Store, damage
from desktop.store.damage import UnwantedError
from desktop.store.salvage import Saved
from desktop.views import salvaging
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine
from tests.long.many_chats import fill

ROOT = Path(__file__).resolve().parents[2]
START = """
import ctypes
import os
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPushButton
from desktop import start
from tests.gui.scripted import ScriptedEngine

start.own_engine = lambda: ScriptedEngine("An answer.")
begin = start.Desktop.begin
what, home = sys.argv[1], Path(os.environ["TANDEM_HOME"])

def say(*words):
    print(*words, flush=True)

def begin_and_say(self):
    begin(self)
    notice = self.window.page.notice
    say(notice.text)
    say(len(self.store.chats()), "chats")
    if what != "later":
        QTimer.singleShot(0, self.window.close)
        return
    (home / "junk").unlink()
    next(button for button in notice.findChildren(QPushButton) if button.text() == "Try again").click()
    say(notice.isVisible())
    self.conversation.went_out.connect(lambda *_: QTimer.singleShot(0, self.window.close))
    self.timer = QTimer(interval=20)
    self.timer.timeout.connect(lambda: self.engine.mode == "up" and (self.timer.stop(), send(self)))
    self.timer.start()

def send(desktop):
    assert desktop.conversation.send("Written now")  # without a model it waits for one

start.Desktop.begin = begin_and_say
from desktop.app import main
if what == "powerless":  # permissions count for root too
    version, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(version, none) == 0
sys.exit(main(["tandem-desktop"]))
"""


def started(home: Path, what: str = "") -> tuple[str, str]:
    """What its window says, and how many chats it lists."""
    env = os.environ | {"TANDEM_HOME": str(home), "PYTHONPATH": str(ROOT), "HOME": str(home), "HF_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", START, what], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    said, chats, *_ = done.stdout.splitlines()
    return said, chats


def test_damaged_chats_are_saved_and_said_once(tandem_home: Path) -> None:
    tandem_home.mkdir()
    path = tandem_home / "chats.sqlite"
    fill(path, 20, 500)
    with path.open("r+b") as file:
        file.write(bytes(100))
    before = path.read_bytes()
    said, chats = started(tandem_home)
    assert said.startswith("The chats on the disk were damaged 20 of 20 chats and ")
    assert chats == "20 chats"
    (kept,) = tandem_home.glob("chats.damaged-*")
    assert kept.read_bytes() == before
    assert f"The damaged file is kept as {kept.name}." in said
    assert "damaged" not in started(tandem_home)[0]


def test_damage_that_was_found_while_it_ran_is_seen_to_at_the_next_start(tandem_home: Path) -> None:
    tandem_home.mkdir()
    path = tandem_home / "chats.sqlite"
    fill(path, 20, 500)
    damage.note(path)
    assert started(tandem_home)[0].startswith("The chats on the disk were damaged 20 of 20 chats")
    assert not damage.noted(path)


def test_what_is_no_database_gives_an_empty_list(tandem_home: Path) -> None:
    tandem_home.mkdir()
    (tandem_home / "chats.sqlite").write_bytes(b"something else " * 1000)
    said, chats = started(tandem_home)
    assert "No chat could be read" in said
    assert chats == "0 chats"


def test_saving_that_takes_long_is_shown_and_can_be_given_up(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(salvaging, "_UNSEEN_S", 0.0)
    said: list[str] = []

    def endless(_path: Path, _title: object, unwanted: Callable[[], bool]) -> Saved:
        while not unwanted():
            time.sleep(0.01)
        raise UnwantedError

    def leave() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, salvaging.Salvaging):
            said.append(dialog.accessibleDescription())
            dialog.reject()
        else:
            QTimer.singleShot(10, leave)

    with monkeypatch.context() as patch:
        patch.setattr(salvaging, "salvage", endless)
        QTimer.singleShot(0, leave)
        with pytest.raises(UnwantedError):
            salvaging.save(tmp_path / "chats.sqlite")
    assert "damaged" in said[0]
    fill(tmp_path / "chats.sqlite", 20, 500)
    assert salvaging.save(tmp_path / "chats.sqlite").chats == 20


def test_after_a_run_that_did_not_end_damage_is_looked_for(
    make_desktop: MakeDesktop, qtbot: QtBot, tandem_home: Path
) -> None:
    tandem_home.mkdir()
    path = tandem_home / "chats.sqlite"
    fill(path, 20, 500)
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'messages_by_parent'").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
    desktop = make_desktop(ScriptedEngine())
    desktop.settings.change(clean_exit=False)
    desktop.begin()
    qtbot.waitUntil(lambda: "The chats on the disk are damaged" in desktop.window.page.notice.text)
    assert damage.noted(path)


@pytest.mark.skipif(sys.platform != "linux", reason="how root goes without its powers differs")
def test_in_a_folder_that_cannot_be_written_chats_can_be_read(tandem_home: Path) -> None:
    tandem_home.mkdir()
    fill(tandem_home / "chats.sqlite", 5, 500)
    tandem_home.chmod(0o555)
    try:
        said, chats = started(tandem_home, "powerless")
    finally:
        tandem_home.chmod(0o755)
    assert said.startswith("Chats can be read, but not saved Chats cannot be saved in")
    assert chats == "5 chats"


@pytest.mark.skipif(sys.platform != "linux", reason="uses a small tmpfs")
def test_on_a_full_disk_chats_can_be_read_and_are_written_when_there_is_room(tandem_home: Path) -> None:
    tandem_home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(tandem_home)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small disk needs root")
    try:
        fill(tandem_home / "chats.sqlite", 5, 500)
        with contextlib.suppress(OSError), (tandem_home / "junk").open("wb", buffering=0) as junk:
            while junk.write(bytes(4096)):
                pass
        said, chats = started(tandem_home, "later")
        assert not (tandem_home / "junk").exists()
        assert said.startswith("Chats can be read, but not saved There is no room to save chats")
        assert chats == "5 chats"
        with closing(Store(tandem_home / "chats.sqlite")) as store:
            assert [m.content for m in store.branch(store.chats()[0].id)] == ["Written now", ""]
    finally:
        subprocess.run(["umount", str(tandem_home)], check=True)
