"""Before Qt is imported: folders, log files, and a file for the last words of a crash."""

from __future__ import annotations

import faulthandler
import logging
import sys
import threading
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import TracebackType
from typing import Any

from backend.errors import EngineError
from backend.library.paths import config_dir, data_dir, log_dir

log = logging.getLogger(__name__)
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def prepare() -> tuple[Path | None, EngineError | None]:
    """The log folder, and what is wrong with the folders, if anything (the window says it)."""
    try:
        data_dir()
        config_dir()
        folder = log_dir()
    except EngineError as error:
        logging.basicConfig(stream=sys.stderr, level=logging.INFO, format=_FORMAT)
        return None, error
    handler = RotatingFileHandler(folder / "app.log", maxBytes=2_000_000, backupCount=3, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter(_FORMAT))
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for every request
    faulthandler.enable((folder / "desktop-crash.log").open("w", encoding="utf-8"))
    _catch_everything()
    return folder, None


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
