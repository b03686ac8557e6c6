"""What a person does in the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.widgets.picker import Picker
from tests.gui.scripted import ScriptedEngine

MakeDesktop = Callable[[ScriptedEngine], Desktop]


def send(desktop: Desktop, qtbot: QtBot, text: str = "Write it") -> None:
    composer = desktop.window.page.composer
    composer.edit.setFocus()
    qtbot.keyClicks(composer.edit, text)
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)


def pick(picker: Picker, value: str, qtbot: QtBot) -> None:
    """Open the drop-down and click the row, as a person does."""
    row = next(n for n, row in enumerate(picker.rows) if row.value == value)
    picker.showPopup()
    view = picker.view()
    index = picker.model().index(row, 0)
    view.scrollTo(index)
    qtbot.mouseMove(view.viewport(), view.visualRect(index).center())
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())


def finished(desktop: Desktop, qtbot: QtBot, timeout: int = 10_000) -> None:
    """Wait until the reply is over and what can be written of it is on disk."""
    conversation = desktop.conversation
    qtbot.waitUntil(lambda: not conversation.running and not conversation.unsaved.writing, timeout=timeout)
