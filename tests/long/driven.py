"""The program itself, as a person starts it, with a script in the person's place and one in the model's.

All of ``desktop.app.main`` runs in this process: the lock, the log, the crash file, the window, the event loop. Only
the worker's command is another (``tests.long.scripted_worker``), and when the window is painted a function is called.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QTimer

from backend import supervisor
from tests.long.scripted_worker import Script
from tests.tiny import tiny_llama

if TYPE_CHECKING:
    from desktop.start import Desktop

TARGET = "target"
"""A real file of a model, which the library finds and nobody reads."""
LIMIT_S = 120.0


def surroundings(home: Path, script: Script) -> dict[str, str]:
    """Environment variables for a program of its own in ``home``."""
    models = home / "models"
    models.mkdir(parents=True, exist_ok=True)
    if not (file := models / f"{TARGET}.gguf").exists():
        tiny_llama(file)
    own = {"TANDEM_HOME": str(home), "TANDEM_MODELS_DIR": str(models), "HF_HUB_CACHE": str(home / "hub")}
    return {"QT_QPA_PLATFORM": "offscreen"} | os.environ | own | script.variable()


def run(drive: Callable[[Desktop], None]) -> int:
    """Run the program; ``drive`` is called once the window is painted, and the program ends after it."""
    from desktop import app, start  # here, as a person's start imports it: that time counts

    supervisor.worker_command = lambda: [sys.executable, "-m", "tests.long.scripted_worker"]
    begin = start.Desktop.begin

    def begin_and_drive(self: Desktop) -> None:
        begin(self)
        QTimer.singleShot(0, self.window, lambda: _drive(self, drive))

    start.Desktop.begin = begin_and_drive  # type: ignore[method-assign]
    return app.main(["tandem-desktop"])


def load(desktop: Desktop) -> None:
    """Choose the model, and wait until it is there."""
    engine = desktop.engine
    until(lambda: engine.mode == "up")
    engine.choose_target(TARGET)
    until(lambda: engine.state.target is not None and not engine.busy)


def until(true: Callable[[], bool], limit: float = LIMIT_S) -> None:
    """Let the program run until something is true.

    Raises:
        TimeoutError: it was not within ``limit`` seconds.
    """
    loop, timer, end = QEventLoop(), QTimer(interval=5), time.monotonic() + limit
    timer.timeout.connect(lambda: loop.quit() if true() or time.monotonic() > end else None)
    timer.start()
    if not true():
        loop.exec()
    timer.stop()
    if not true():
        raise TimeoutError("what was waited for did not happen")


def rest(seconds: float) -> None:
    """Let the program run for so long."""
    loop = QEventLoop()
    QTimer.singleShot(round(1e3 * seconds), loop, loop.quit)
    loop.exec()


def _drive(desktop: Desktop, drive: Callable[[Desktop], None]) -> None:
    handle = desktop.window.windowHandle()
    until(handle.isExposed)
    try:
        drive(desktop)
    except Exception:  # noqa: BLE001 - a slot's top
        traceback.print_exc()
    finally:
        desktop.window.close()
