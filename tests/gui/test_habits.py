"""The window stands where it stood, and a reply is read out at its end."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QAccessibleAnnouncementEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QSplitterHandle
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.views import habits
from desktop.widgets.spoken import spoken
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine

SCRIPT = (
    "<think>\nThe person **wants** a list.\n</think>\n\n## Two things\n\nSome **bold** words, `code` and "
    "[a link](https://example.org) with $x_1 + y_1$.\n\n- one\n- two\n\n```python\nx = 1\n```\n"
)
READ_OUT = "Two things\nSome bold words, code and a link with $x_1 + y_1$.\none\ntwo\nx = 1"


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(SCRIPT)


def end(desktop: Desktop) -> None:
    desktop.window.close()
    desktop.close()


def test_the_window_has_the_size_it_had(desktop: Desktop, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    desktop.window.resize(640, 480)
    qtbot.wait(50)
    end(desktop)
    again = make_desktop(ScriptedEngine())
    assert (again.window.width(), again.window.height()) == (640, 480)
    again.settings.change(place="no such thing ☂")
    end(again)
    again.settings.change(place="no such thing ☂")
    third = make_desktop(ScriptedEngine())
    assert third.window.width() >= 480


def drag(handle: QSplitterHandle, by: int, qtbot: QtBot) -> None:
    middle = handle.rect().center()
    qtbot.mousePress(handle, Qt.MouseButton.LeftButton, pos=middle)
    for step in (by // 2, by - by // 2):  # it moves under the pointer
        QApplication.sendEvent(
            handle,
            QMouseEvent(
                QEvent.Type.MouseMove,
                QPointF(middle.x() + step, middle.y()),
                QPointF(handle.mapToGlobal(middle)) + QPointF(step, 0),
                Qt.MouseButton.NoButton,
                Qt.MouseButton.LeftButton,
                Qt.KeyboardModifier.NoModifier,
            ),
        )
    qtbot.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=middle)


def test_its_parts_are_as_wide_as_they_were(desktop: Desktop, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    window, split = desktop.window, desktop.window.beside.split
    window.actions_.by_id["panel"].trigger()
    assert window.panel is not None
    qtbot.waitUntil(lambda: split.sizes()[2] > 100)
    drag(split.handle(2), -20, qtbot)
    panel = window.panel.width()
    assert split.shares[2] == panel != 320
    window.actions_.by_id["panel"].trigger()
    window.resize(790, 480)
    qtbot.waitUntil(lambda: split.width() == 790)
    usual = window.sidebar.width()
    drag(split.handle(1), -20, qtbot)
    narrower = window.sidebar.width()
    assert narrower < usual
    end(desktop)
    again = make_desktop(ScriptedEngine())
    qtbot.waitUntil(lambda: again.window.sidebar.width() == narrower)
    assert again.window.beside.split.shares[2] == panel
    end(again)
    again.settings.change(widths={"chats": [1, 2], "models": []})  # of other parts
    assert make_desktop(ScriptedEngine()).window.beside.split.shares == [230, 870, 320]


def test_chats_that_were_hidden_stay_hidden(desktop: Desktop, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    desktop.window.actions_.by_id["sidebar"].trigger()
    assert not desktop.window.sidebar.isVisible()
    desktop.window.resize(480, 400)
    desktop.window.resize(1100, 700)
    qtbot.waitUntil(lambda: not desktop.window.sidebar.narrow)
    assert not desktop.window.sidebar.isVisible(), "room is no reason"
    end(desktop)
    again = make_desktop(ScriptedEngine())
    qtbot.waitUntil(lambda: again.window.sidebar.narrow is False)
    assert not again.window.sidebar.isVisible()
    again.window.actions_.by_id["sidebar"].trigger()
    assert again.window.sidebar.isVisible()
    again.window.resize(480, 400)
    qtbot.waitUntil(lambda: bool(again.window.sidebar.narrow))
    again.window.actions_.by_id["sidebar"].trigger()
    again.window.actions_.by_id["sidebar"].trigger()
    assert again.settings.now.sidebar, "what is hidden for want of room is not unwanted"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a screen reader is given."""
    heard: list[str] = []

    def hear(event: object) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            heard.append(event.message())

    monkeypatch.setattr(habits.QAccessible, "updateAccessibility", hear)
    return heard


def test_a_reply_is_read_out_once_and_only_where_it_is_shown(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, said: list[str]
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert said == [READ_OUT]
    engine.held = True
    send(desktop, qtbot)
    desktop.window.new_chat()
    engine.held = False
    finished(desktop, qtbot)
    assert len(said) == 1
    assert len(spoken("A word. " * 1_000, 1_000)) == 1_000
    assert spoken("<think>\nOnly *this*.", 1_000) == "Only this."


def test_thinking_that_the_template_opened_is_not_read_out(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, said: list[str]
) -> None:
    engine.thinking, engine.script = True, "First this, then that.</think>\n\nThe answer."
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert said == ["The answer."]
