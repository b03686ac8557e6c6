"""Where Tandem keeps things: one function a folder, each override by one environment variable.

``TANDEM_HOME`` moves data, configuration, logs and copies of drafts (tests, portable installs); ``TANDEM_MODELS_DIR``
moves the models that Tandem itself puts in place, which are large and shared by every home.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import platformdirs

from backend.errors import EngineError, ErrorCode

_APP = "tandem"
FOLDER_VARIABLES = ("TANDEM_HOME", "TANDEM_MODELS_DIR", "HF_HOME", "HF_HUB_CACHE")
"""Environment variables that name a folder, Tandem's own and those of the hub's cache."""


def data_dir() -> Path:
    """Chats, own catalogue and what was learnt; created on first use.

    Raises:
        EngineError: ``NOT_WRITABLE`` when the folder cannot be made or written.
    """
    return writable(data_path())


def data_path() -> Path:
    """The same for those who only read: neither made nor checked here."""
    home = _home()
    return home if home else _system(platformdirs.user_data_path)


def chats_file() -> Path:
    """The window's chats; they are made by the window. Neither made nor checked here."""
    return data_path() / "chats.sqlite"


def learnt_file() -> Path:
    """What the engine learnt about models and machine. Neither made nor checked here."""
    return data_path() / "learnt.json"


def config_dir() -> Path:
    """Settings; created on first use. Raises as :func:`data_dir`."""
    return writable(config_path())


def config_path() -> Path:
    """The same, neither made nor checked here."""
    home = _home()
    return home / "config" if home else _system(platformdirs.user_config_path)


def log_dir() -> Path:
    """Logs and crash reports; created on first use. Raises as :func:`data_dir`."""
    return writable(log_path())


def log_path() -> Path:
    """The same, neither made nor checked here."""
    home = _home()
    return home / "logs" if home else _system(platformdirs.user_log_path)


def expanded(name: str | Path) -> Path:
    """With the home folder in place of ``~``.

    Raises:
        EngineError: ``BAD_REQUEST`` where nobody knows that folder.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise EngineError(
            ErrorCode.BAD_REQUEST, f"{name}: the home folder that ~ stands for is not known; write the path out."
        ) from error


def models_dir() -> Path:
    """Models that Tandem downloaded. Not created here."""
    override = os.environ.get("TANDEM_MODELS_DIR")
    if override:
        return expanded(override)
    return _system(platformdirs.user_cache_path) / "models"


def cache_dir() -> Path:
    """What can be made anew at any time. Not created here."""
    home = _home()
    return home if home else _system(platformdirs.user_cache_path)


def copies_dir() -> Path:
    """Cheaper copies of drafts. Not created here."""
    return cache_dir() / "copies"


def writable(folder: Path) -> Path:
    """Make ``folder`` if need be and give it back, knowing that files can be written in it.

    Raises:
        EngineError: ``NOT_WRITABLE``.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_writable(folder, error) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise not_writable(folder, OSError(errno.EROFS, os.strerror(errno.EROFS)) if _read_only(folder) else None)
    return folder


def not_writable(folder: Path, error: OSError | None) -> EngineError:
    """The one sentence for a folder that cannot be written, or whose disk is full."""
    variable = "TANDEM_MODELS_DIR" if folder.is_relative_to(models_dir()) else "TANDEM_HOME"
    if error is not None and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EngineError(
            ErrorCode.DISK_FULL,
            f"The disk of {folder} is full; free some space, or choose another folder with {variable}.",
            {"folder": str(folder)},
        )
    why = (error.strerror or str(error)) if error else "no permission"
    todo = "give it write permission or choose another one"
    if error is not None and error.errno == errno.EROFS:
        why, todo = "its file system is read-only", "choose another one"
    return EngineError(
        ErrorCode.NOT_WRITABLE,
        f"The folder {folder} cannot be written ({why}); {todo} with {variable}.",
        {"folder": str(folder), "reason": why},
    )


def _read_only(folder: Path) -> bool:
    return hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _system(find: Callable[..., Path]) -> Path:
    """The folder that this system has for it."""
    try:
        return find(_APP, appauthor=False)
    except RuntimeError as error:  # a user without an entry, as in containers
        raise EngineError(
            ErrorCode.NOT_WRITABLE, "The home folder is not known; set HOME to a folder that can be written."
        ) from error


def _home() -> Path | None:
    home = os.environ.get("TANDEM_HOME")
    return expanded(home) if home else None
