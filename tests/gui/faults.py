"""Faults of the disk that SQLite itself reports, on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.store import Store


@contextmanager
def unwritable(store: Store) -> Iterator[None]:
    """Meanwhile SQLite refuses every write, as on a file system that became read-only."""
    db = store._writer._db
    assert db is not None
    db.execute("PRAGMA query_only = ON")
    try:
        yield
    finally:
        db.execute("PRAGMA query_only = OFF")


@contextmanager
def no_folder(folder: Path) -> Iterator[None]:
    """Meanwhile a file stands where ``folder`` was: nobody can write into that, not even root."""
    aside = folder.with_suffix(".aside")
    folder.rename(aside)
    folder.write_text("")
    try:
        yield
    finally:
        folder.unlink()
        aside.rename(folder)


def buttons(desktop: Desktop) -> dict[str, QPushButton]:
    """What can be done about the notice on screen."""
    notice = desktop.window.page.notice
    return {b.text(): b for b in notice.findChildren(QPushButton) if b.isVisible()}


def try_again(desktop: Desktop, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: "Try again" in buttons(desktop))
    qtbot.mouseClick(buttons(desktop)["Try again"], Qt.MouseButton.LeftButton)
