"""What a person does in the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from tests.gui.scripted import ScriptedEngine

MakeDesktop = Callable[[ScriptedEngine], Desktop]


def send(desktop: Desktop, qtbot: QtBot, text: str = "Write it") -> None:
    composer = desktop.window.page.composer
    composer.edit.setFocus()
    qtbot.keyClicks(composer.edit, text)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)


def finished(desktop: Desktop, qtbot: QtBot, timeout: int = 10_000) -> None:
    """Wait until the reply is over and what can be written of it is on disk."""
    conversation = desktop.conversation
    qtbot.waitUntil(lambda: not conversation.running and not conversation.unsaved.writing, timeout=timeout)
