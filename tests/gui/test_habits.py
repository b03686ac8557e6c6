"""The window stands where it stood, and says that a reply has ended while nobody looked."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.views import habits
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine


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


@pytest.mark.parametrize("looking", [True, False])
def test_a_reply_that_ends_unseen_is_told(
    desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, looking: bool
) -> None:
    told: list[object] = []
    monkeypatch.setattr(QApplication, "alert", lambda window, *_: told.append(window))
    monkeypatch.setattr(desktop.window, "isActiveWindow", lambda: looking)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert told == ([] if looking else [desktop.window])


def test_a_reply_is_read_out_once_and_only_where_it_is_shown(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def hear(event: object) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append(event.message())

    monkeypatch.setattr(habits.QAccessible, "updateAccessibility", hear)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert said == [engine.script[:1_000]]
    engine.held = True
    send(desktop, qtbot)
    desktop.window.new_chat()
    engine.held = False
    finished(desktop, qtbot)
    assert len(said) == 1
