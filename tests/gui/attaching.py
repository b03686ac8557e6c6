"""Files, and what a person does with them in the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.widgets.chips import Chips

CODE = "def lamp():\n    return 'lit'\n"


def keeper(folder: Path, text: str = CODE, name: str = "keeper.py") -> Path:
    (folder / name).write_text(text, "utf-8")
    return folder / name


def urls(*files: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in files])
    return data


def drop(widget: QWidget, data: QMimeData) -> None:
    """As the system tells of it."""
    action, button, keys = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(9, 9), action, data, button, keys)
    QApplication.sendEvent(widget, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(widget, QDropEvent(QPointF(9, 9), action, data, button, keys))


def chips(desktop: Desktop) -> Chips:
    return desktop.window.page.composer.writing.chips


def attach(desktop: Desktop, qtbot: QtBot, *files: Path) -> None:
    """By the dialog, whose answer this is."""
    desktop.window.attachments.take(desktop.window.page.composer.writing, list(files))
    settled(desktop, qtbot)


def settled(desktop: Desktop, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not chips(desktop).reading, timeout=20_000)


def names(desktop: Desktop) -> list[str]:
    return [attachment.name for attachment in chips(desktop).attachments]
