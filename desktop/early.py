"""Before Qt is imported: folders, log files, and a file for the last words of a crash."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from backend.errors import EngineError
from backend.library.paths import chats_file, config_dir, data_dir, log_dir, log_path

log = logging.getLogger(__name__)
_crashes: TextIO | None = None
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def prepare() -> tuple[Path | None, EngineError | None]:
    """The log folder, and what is wrong with the folders, if anything (the window says it).

    Where nothing can be written but there are chats to be read, nothing is wrong: that is the chats' affair.
    """
    try:
        data_dir()
        config_dir()
        folder = log_dir()
    except EngineError as error:
        logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=_FORMAT)
        if not _readable(chats_file()):
            return None, error
        _catch_everything()
        return log_path(), None
    handler = RotatingFileHandler(folder / "app.log", maxBytes=2_000_000, backupCount=3, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter(_FORMAT))
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for every request
    _record_crashes(folder)
    _catch_everything()
    return folder, None


def _readable(path: Path) -> bool:
    try:
        with path.open("rb"):
            return True
    except OSError:
        return False


def keep_last_crash(folder: Path) -> None:
    """Put aside what an earlier run left in the crash file. Only for the one program that owns the data folder."""
    global _crashes
    path = folder / "desktop-crash.log"
    try:
        if path.stat().st_size == 0:
            return
        if _crashes is not None:  # Windows renames no open file
            faulthandler.disable()
            _crashes.close()
            _crashes = None
        path.replace(folder / "desktop-crash.old.log")
    except OSError as error:
        log.warning("the last crash was not put aside: %s", error)
    _record_crashes(folder)


def _record_crashes(folder: Path) -> None:
    global _crashes
    try:
        _crashes = (folder / "desktop-crash.log").open("a", encoding="utf-8")
        faulthandler.enable(_crashes)
    except OSError as error:
        log.warning("crashes will not be recorded: %s", error)


def _catch_everything() -> None:
    def uncaught(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, value, trace)
            return
        log.critical("uncaught", exc_info=(kind, value, trace))

    def in_thread(info: threading.ExceptHookArgs) -> None:
        if info.exc_value is not None:
            uncaught(info.exc_type, info.exc_value, info.exc_traceback)

    def unraisable(info: Any) -> None:
        log.error("unraisable: %s", info.err_msg or info.object, exc_info=info.exc_value)

    sys.excepthook = uncaught
    threading.excepthook = in_thread
    sys.unraisablehook = unraisable
