"""What a person sees in the models window."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from desktop.models.choices import MANAGE
from desktop.start import Desktop
from desktop.views.models_window import ModelsWindow
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine


def started(make_desktop: MakeDesktop, qtbot: QtBot) -> Desktop:
    """A desktop that knows the models of the hub of the test."""
    made = make_desktop(ScriptedEngine())
    made.engine.start(load=False)
    made.shelf.refresh()
    qtbot.waitUntil(lambda: made.shelf.named("one") is not None, timeout=20_000)
    return made


def opened(desktop: Desktop, qtbot: QtBot) -> ModelsWindow:
    """The window, opened from the last entry of the target's list."""
    desktop.window.models.choose_target(MANAGE)
    window = desktop.window.models.managing.window
    assert window is not None
    qtbot.waitUntil(lambda: "one" in values(window) and window.isActiveWindow())
    return window


def values(window: ModelsWindow) -> list[str]:
    return [row.value for row in window.rows.rows]


def row(window: ModelsWindow, value: str) -> str:
    return next(f"{r.text} {r.detail}" for r in window.rows.rows if r.value == value)


def heading(window: ModelsWindow, value: str) -> str:
    at = values(window).index(value)
    return next(r.text for r in reversed(window.rows.rows[:at]) if not r.value)


def pressable(window: QWidget, words: str) -> QAbstractButton:
    (found,) = [b for b in window.findChildren(QAbstractButton) if b.isVisible() and b.text().startswith(words)]
    return found


def shown(window: ModelsWindow) -> set[str]:
    """The buttons of the model that is shown."""
    return {name for name, button in window.detail.buttons.items() if not button.isHidden()}
