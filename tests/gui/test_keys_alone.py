"""Everything in the window by keys alone: Tab comes to every control, and the person's path needs no mouse."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from tests.gui.person import finished
from tests.gui.scripted import ScriptedEngine
from tests.gui.test_named import interactive

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
SCRIPT = "Words.\n\n```python\nx = 1\n```\n\nMore words."

pytestmark = pytest.mark.usefixtures("in_front")


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(SCRIPT)


def press(qtbot: QtBot, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Where the focus is."""
    at = QApplication.focusWidget()
    assert at is not None
    qtbot.keyClick(at, key, held)


def walked(qtbot: QtBot, most: int = 120) -> list[QWidget]:
    """What Tab comes to, until it is where it began."""
    found: list[QWidget] = []
    for _ in range(most):
        at = QApplication.focusWidget()
        assert at is not None
        if at in found:
            break
        found.append(at)
        press(qtbot, Qt.Key.Key_Tab)
    return found


def unreached(root: QWidget, found: list[QWidget]) -> list[str]:
    """Controls that are seen and could be used, but are not on Tab's way."""
    return [
        f"{type(w).__name__} {w.accessibleName()!r}"
        for w in interactive(root)
        if w.isVisibleTo(root) and w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus
        if w not in found and w.focusProxy() not in found and not any(w.isAncestorOf(f) for f in found)
    ]


def test_tab_comes_to_every_control(desktop: Desktop, qtbot: QtBot) -> None:
    window = desktop.window
    window.page.composer.setFocus()
    found = walked(qtbot)
    assert len(found) > 10
    assert unreached(window, found) == []
    window.page.composer.setFocus()
    qtbot.keyClicks(window.page.composer.edit, "Write it")
    press(qtbot, Qt.Key.Key_Return)
    finished(desktop, qtbot)
    assert unreached(window, walked(qtbot)) == []


def test_the_persons_path_by_keys(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    window = desktop.window
    press(qtbot, Qt.Key.Key_L, CONTROL)
    qtbot.keyClicks(QApplication.focusWidget(), "Write it")
    press(qtbot, Qt.Key.Key_Return)
    finished(desktop, qtbot)
    assert desktop.conversation.messages[-1].content == SCRIPT

    speculating = desktop.engine.state.speculation.enabled
    press(qtbot, Qt.Key.Key_S, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: desktop.engine.state.speculation.enabled != speculating)

    press(qtbot, Qt.Key.Key_R, CONTROL)
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    finished(desktop, qtbot)
    assert desktop.conversation.place(desktop.conversation.messages[-1]) == (2, 2)

    press(qtbot, Qt.Key.Key_E, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: bool(engine.compared) and not desktop.comparing.running)
    press(qtbot, Qt.Key.Key_Escape)
    assert window.stack.currentWidget() is window.page

    press(qtbot, Qt.Key.Key_N, CONTROL)
    assert desktop.conversation.messages == []
    press(qtbot, Qt.Key.Key_K, CONTROL)
    qtbot.keyClicks(QApplication.focusWidget(), "Write")
    qtbot.waitUntil(lambda: window.sidebar.list.model().rowCount() > 0)
    press(qtbot, Qt.Key.Key_Return)
    qtbot.waitUntil(window.sidebar.list.hasFocus)
    press(qtbot, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(desktop.conversation.messages))
