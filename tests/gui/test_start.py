"""Starting the program: as a process of its own, as a second one, and where it cannot start."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from backend.library.lock import FolderLock
from desktop.single import SingleInstance
from desktop.start import Desktop
from tests.gui.scripted import ScriptedEngine

GB = 10**9
ROOT = Path(__file__).resolve().parents[2]
CLOSE_SOON = """
import sys
from PySide6.QtCore import QTimer
from desktop import start
from desktop.views.refusal import Refusal
show = Refusal.show
Refusal.show = lambda self: (show(self), QTimer.singleShot(100, self.accept))
from desktop.app import main
sys.exit(main(["tandem-desktop"]))
"""
FIRST_PAINT = """
import time
began = time.perf_counter()
import sys
from pathlib import Path
from desktop.early import prepare
logs, problem = prepare()
from desktop.start import Desktop, make_app
app = make_app(["tandem-desktop"])
desktop = Desktop(app, logs)
desktop.window.show()
app.processEvents()
desktop.window.grab()
sys.stdout.write(f"{time.perf_counter() - began:.3f}")
sys.stdout.write(" llama_cpp" if "llama_cpp" in sys.modules else " light")
sys.stdout.flush()
desktop.close()
"""


SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
app = QCoreApplication([])
from desktop.single import SingleInstance
single = SingleInstance(Path(sys.argv[1]))
sys.stdout.write("first" if single.first else "answered" if single.answered else "neither")
"""


def second_start(folder: Path) -> subprocess.Popen[str]:
    """Another process that wants the folder."""
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", SECOND, str(folder)], env=variables, stdout=subprocess.PIPE, text=True
    )


def python(code: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"TANDEM_HOME": str(home), "PYTHONPATH": str(ROOT)} | env
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_newer_database_is_refused_in_words_and_left_alone(tandem_home: Path) -> None:
    tandem_home.mkdir(parents=True)
    path = tandem_home / "chats.sqlite"
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    done = python(CLOSE_SOON, tandem_home)
    assert done.returncode == 1, done.stderr
    assert "newer version of Tandem" in done.stderr
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = python(CLOSE_SOON, tmp_path / "file" / "home")
    assert done.returncode == 1, done.stderr
    assert "cannot be written" in done.stderr
    assert "TANDEM_HOME" in done.stderr


@pytest.mark.alone
def test_the_first_paint_is_quick_and_loads_no_engine(tandem_home: Path) -> None:
    seconds, weight = min(
        (python(FIRST_PAINT, tandem_home).stdout.split() for _ in range(3)), key=lambda s: float(s[0])
    )
    assert weight == "light"
    assert float(seconds) < 1.5


def test_a_second_start_raises_the_first(qtbot: QtBot, tmp_path: Path) -> None:
    first = SingleInstance(tmp_path)
    assert first.first
    with qtbot.waitSignal(first.raised, timeout=10_000):
        second = second_start(tmp_path)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=10_000)
    assert second.communicate()[0].split() == ["answered"]
    (tmp_path / "other").mkdir()
    other = SingleInstance(tmp_path / "other")
    assert other.first
    for instance in (first, other):
        instance.close()
    third = SingleInstance(tmp_path)
    assert third.first
    third.close()


def test_a_start_while_the_first_is_closing_takes_over(qtbot: QtBot, tmp_path: Path) -> None:
    first = SingleInstance(tmp_path)
    first.stop_listening()  # its window is closed; engine and store are not yet
    second = second_start(tmp_path)
    qtbot.wait(1500)
    assert second.poll() is None
    first.close()
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=10_000)
    assert second.communicate()[0].split() == ["first"]


def test_a_connection_that_is_never_answered_is_no_answer(qtbot: QtBot, tmp_path: Path) -> None:
    """The system takes a connection for a program that has left its event loop."""
    first = SingleInstance(tmp_path)
    second = SingleInstance(tmp_path, patience=0.5)
    assert not second.first
    assert not second.answered
    first.close()


def test_the_folder_of_a_killed_process_is_free(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom backend.library.lock import FolderLock\n"
        "lock = FolderLock(Path(sys.argv[1]))\nprint(lock.take(), flush=True)\ntime.sleep(60)"
    )
    path = tmp_path / "tandem.lock"
    command, variables = [sys.executable, "-c", code, str(path)], os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "True\n"
        assert not FolderLock(path).take()
        owner.kill()
    lock = FolderLock(path)
    assert lock.take()
    lock.release()


def test_the_worker_argument_never_imports_qt(tandem_home: Path) -> None:
    """A frozen program is its own worker; without a secret it says so and ends."""
    code = (
        "import sys\nfrom desktop.app import main\ncode = main(['tandem', '--engine-worker'])\n"
        "assert 'PySide6' not in sys.modules\nsys.exit(code)"
    )
    done = python(code, tandem_home)
    assert done.returncode == 2, done.stderr
    assert "not by hand" in done.stderr


def test_without_models_a_pair_for_this_machine_and_the_starter_are_offered(
    qtbot: QtBot, tandem_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    from desktop.models import forecast, outlooks

    free = [16 * GB]
    monkeypatch.setattr(forecast, "free_main_memory", lambda: free[0])
    monkeypatch.setattr(outlooks, "measured_memory_rate", lambda *_: 40e6)
    monkeypatch.setattr(outlooks, "free_space", lambda _: 100 * GB)

    monkeypatch.setenv("TANDEM_MODELS_DIR", str(tmp_path / "none"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "empty"))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    engine = ScriptedEngine()
    engine.now = engine.now.model_copy(update={"memory": 0})
    desktop = Desktop(app, tandem_home / "logs", make_client=lambda: engine)
    qtbot.addWidget(desktop.window)
    desktop.window.show()
    desktop.begin()
    welcome = desktop.window.page.welcome
    try:
        qtbot.waitUntil(lambda: welcome.start.isVisible(), timeout=20_000)
        assert "9.6 GB" in welcome.start.text()
        assert "They take about 12.1 GB of memory and write ≈ 8 tok/s here, estimated." in welcome._line.text()
        assert "1.6 GB" in welcome.small.text()
        assert "They take about 2.5 GB of memory" in welcome._small_line.text()
        row = next(r.detail for r in desktop.window.top.target.rows if r.value.endswith("qwen3-14b"))
        assert "8 tok/s with its draft" in row, "by the same speed of memory"
        free[0] = GB
        desktop.shelf.refresh()
        qtbot.waitUntil(lambda: not welcome.start.isVisible(), timeout=20_000)
        assert "takes about 1.1 GB, and 1.0 GB are free" in welcome._line.text()
        assert welcome.others.isVisible()
        free[0] = 4 * GB
        desktop.shelf.refresh()
        qtbot.waitUntil(lambda: welcome.start.isVisible(), timeout=20_000)
        assert "1.6 GB" in welcome.start.text()
        assert not welcome.small.isVisible()
        fetching = desktop.shelf.fetching
        monkeypatch.setattr(fetching._pool, "submit", lambda *_: None)  # nothing is fetched
        welcome.start.click()
        assert list(fetching.items) == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"]
        fetching._told.emit("qwen2.5-coder-1.5b", 500_000_000, 1_117_000_000, 20e6, False)
        assert "0.5 GB of 1.1 GB, 20.0 MB/s, 31 s left" in welcome._progress.text()
    finally:
        desktop.window.close()
        desktop.close()


def test_after_a_crash_no_model_is_loaded_by_itself(qtbot: QtBot, tandem_home: Path) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    engine = ScriptedEngine()
    desktop = Desktop(app, tandem_home / "logs", make_client=lambda: engine)
    qtbot.addWidget(desktop.window)
    desktop.settings.change(target="big", clean_exit=False)
    desktop.window.show()
    desktop.begin()
    try:
        qtbot.waitUntil(lambda: desktop.engine.mode == "up")
        time.sleep(0.05)
        assert engine.loads == []
        assert "did not end properly" in desktop.window.page.notice.text
    finally:
        desktop.window.close()
        desktop.close()
    assert desktop.settings.now.clean_exit


def test_thousands_of_signals_do_not_hurt_the_interpreter() -> None:
    """PySide6 6.12.0 loses a reference to True with each emit on Python 3.11 and aborts."""
    code = (
        "from PySide6.QtCore import QObject, Signal\n"
        "class A(QObject):\n    s = Signal(bool)\n"
        "a = A()\na.s.connect(lambda v: None)\n"
        "for _ in range(5000):\n    a.s.emit(True)\n"
    )
    assert python(code, Path()).returncode == 0


def test_a_second_start_says_where_the_window_is(qtbot: QtBot, tandem_home: Path) -> None:
    tandem_home.mkdir(parents=True)
    first = SingleInstance(tandem_home)
    variables = os.environ | {"TANDEM_HOME": str(tandem_home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "desktop.app"]
    second = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=30_000)
    assert (second.returncode, second.communicate()[0][:23]) == (0, "Tandem is open already;")
    first.close()
