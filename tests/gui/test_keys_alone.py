"""Everything in the window by keys alone: Tab comes to every control, and the person's path needs no mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from desktop.settings import LOOKUP
from desktop.start import Desktop
from desktop.widgets.chips import Chip
from desktop.widgets.origins import OriginsView
from desktop.widgets.picker import VALUE, Picker
from tests.gui.attaching import keeper, names, settled
from tests.gui.person import finished
from tests.gui.scripted import ScriptedEngine
from tests.gui.test_named import interactive
from tests.gui.windows import every_dialog
from tests.unit.library.server import Hub

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier
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
        if at in found[:-1]:
            break
        if at not in found:  # within a text Tab goes from link to link
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


def test_tab_comes_to_every_control_of_every_dialog(hub: Hub, desktop: Desktop, qtbot: QtBot) -> None:
    for dialog in every_dialog(desktop, qtbot):
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        if QApplication.focusWidget() is None:
            dialog.focusNextPrevChild(True)
        assert unreached(dialog, walked(qtbot) if QApplication.focusWidget() is not None else []) == []


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


def to(name: str, qtbot: QtBot) -> QWidget:
    """With Tab."""
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None)
    for _ in range(120):
        at = QApplication.focusWidget()
        assert at is not None
        if at.accessibleName() == name or (isinstance(at, QAbstractButton) and at.text() == name):
            return at
        press(qtbot, Qt.Key.Key_Tab)
    raise AssertionError(f"Tab does not come to {name}")


def pick_by_keys(name: str, value: str, qtbot: QtBot) -> None:
    """Open the drop-down, go down to the row, and take it."""
    picker = to(name, qtbot)
    assert isinstance(picker, Picker)
    press(qtbot, Qt.Key.Key_Space)
    view = picker.view()
    qtbot.waitUntil(view.isVisible)
    qtbot.keyClick(view, Qt.Key.Key_Home)
    for _ in range(picker.count()):
        if view.currentIndex().data(VALUE) == value:
            break
        qtbot.keyClick(view, Qt.Key.Key_Down)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: picker.value == value)
    picker.window().activateWindow()


def test_a_pair_is_chosen_by_keys(tiny_models: Path, desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    desktop.shelf.refresh()
    qtbot.waitUntil(lambda: any(row.value == "target" for row in desktop.window.top.target.rows), timeout=20_000)
    pick_by_keys("Target model", "target", qtbot)
    qtbot.waitUntil(lambda: engine.loads[-1].target == "target" and desktop.engine.mode == "up")
    pick_by_keys("Draft", LOOKUP, qtbot)
    qtbot.waitUntil(lambda: desktop.engine.state.speculation.source == "lookup")


def test_files_editing_tokens_and_panel_by_keys(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = desktop.window
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(keeper(tmp_path))], ""))
    for _ in range(2):
        press(qtbot, Qt.Key.Key_O, CONTROL)
        settled(desktop, qtbot)
        assert names(desktop) == ["keeper.py"]
        window.page.composer.setFocus()
        press(qtbot, Qt.Key.Key_Backtab, SHIFT)
        assert isinstance(QApplication.focusWidget(), Chip)
        press(qtbot, Qt.Key.Key_Delete)
        assert names(desktop) == []

    press(qtbot, Qt.Key.Key_L, CONTROL)
    qtbot.keyClicks(QApplication.focusWidget(), "Write it")
    press(qtbot, Qt.Key.Key_Return)
    finished(desktop, qtbot)
    press(qtbot, Qt.Key.Key_M, CONTROL | SHIFT)
    qtbot.keyClicks(QApplication.focusWidget(), " again")
    press(qtbot, Qt.Key.Key_Return)
    finished(desktop, qtbot)
    assert [m.content for m in engine.requests[-1].messages if m.role == "user"] == ["Write it again"]

    press(qtbot, Qt.Key.Key_T, CONTROL | SHIFT)
    to("Text of the message, token by token", qtbot)
    press(qtbot, Qt.Key.Key_Return)
    origins = window.page.messages.widgets[-1].findChild(OriginsView)
    assert origins is not None
    assert origins.round.isVisible()

    to("Show or hide the speculation panel", qtbot)
    press(qtbot, Qt.Key.Key_Space)
    assert window.panel is not None
    assert window.panel.isVisible()
    press(qtbot, Qt.Key.Key_F9)
    assert not window.panel.isVisible()


def in_dialog(window: QWidget, qtbot: QtBot) -> None:
    """The keys go to the one that has opened."""
    (dialog,) = [d for d in window.findChildren(QDialog) if d.isVisible()]
    dialog.activateWindow()
    qtbot.waitUntil(lambda: dialog.isActiveWindow() and QApplication.focusWidget() is not None)


def test_settings_by_keys(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    window = desktop.window
    press(qtbot, Qt.Key.Key_O, CONTROL | SHIFT)
    in_dialog(window, qtbot)
    to("Temperature", qtbot)
    qtbot.keyClicks(QApplication.focusWidget(), "0")
    to("OK", qtbot)
    press(qtbot, Qt.Key.Key_Space)
    assert desktop.conversation.chat_settings.sampling.temperature == 0

    for key, held in ((Qt.Key.Key_Comma, CONTROL), (Qt.Key.Key_F1, NONE), (Qt.Key.Key_B, CONTROL | SHIFT)):
        window.activateWindow()
        window.page.composer.setFocus()
        qtbot.waitUntil(window.isActiveWindow)
        press(qtbot, key, held)
        in_dialog(window, qtbot)
        press(qtbot, Qt.Key.Key_Escape)
        assert not [d for d in window.findChildren(QDialog) if d.isVisible()]
