"""A long reply that ends where nobody looks is told by the desktop, and a click on that leads to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.theme.icons import icon
from desktop.views import unseen
from desktop.views.unseen import Unseen
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Short answer.")


@pytest.fixture
def alerts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Of the window; every reply counts as long."""
    found: list[object] = []
    monkeypatch.setattr(QApplication, "alert", lambda window, *_: found.append(window))
    monkeypatch.setattr(unseen, "LONG_MS", 0)
    return found


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """By a desktop that has a tray: there is none without a screen."""
    found: list[str] = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", lambda: True)
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda _tray, title, *_: found.append(title))
    return found


@pytest.mark.parametrize("looking", [True, False])
def test_without_a_tray_the_window_asks_for_a_look(
    desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, alerts: list[object], looking: bool
) -> None:
    monkeypatch.setattr(desktop.window, "isActiveWindow", lambda: looking)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert alerts == ([] if looking else [desktop.window])


@pytest.mark.qt_log_ignore("systemTrayWindowChanged", "This plugin does not support")
@pytest.mark.usefixtures("in_front")
def test_a_reply_in_another_chat_is_told_and_found(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, alerts: list[object], told: list[str]
) -> None:
    desktop.window.setWindowIcon(icon("bolt", QColor("black"), QColor("black"), 16))
    engine.held = True
    send(desktop, qtbot)
    chat = desktop.conversation.chat
    assert chat is not None
    desktop.window.new_chat()
    engine.held = False
    finished(desktop, qtbot)
    assert told == ["A reply has ended"]
    assert alerts == []
    (tray,) = desktop.window.findChildren(QSystemTrayIcon)
    assert tray.isVisible()
    tray.messageClicked.emit()
    assert desktop.conversation.chat is not None
    assert desktop.conversation.chat.id == chat.id
    assert not tray.isVisible()


def stop(desktop: Desktop) -> None:
    desktop.window.stop()


def delete(desktop: Desktop) -> None:
    desktop.window.sidebar.delete_current()


def close(desktop: Desktop) -> None:
    desktop.window.close()


@pytest.mark.parametrize("end", [stop, delete, close])
def test_who_ended_it_is_not_told(
    desktop: Desktop,
    engine: ScriptedEngine,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    alerts: list[object],
    told: list[str],
    end: Callable[[Desktop], None],
) -> None:
    monkeypatch.setattr(desktop.window, "isActiveWindow", lambda: False)
    engine.held = True
    send(desktop, qtbot)
    end(desktop)
    engine.held = False
    finished(desktop, qtbot)
    assert (alerts, told) == ([], [])


@pytest.mark.usefixtures("in_front", "alerts")
def test_what_is_seen_is_not_told(desktop: Desktop, qtbot: QtBot, told: list[str]) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert told == []
    assert desktop.window.findChildren(QSystemTrayIcon) == []


def test_what_ends_with_the_program_is_not_told(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, alerts: list[object], told: list[str]
) -> None:
    engine.held = True
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.conversation.running)
    desktop.window.close()
    desktop.close()
    assert not desktop.conversation.running
    assert (alerts, told) == ([], [])


def test_a_short_reply_is_not_told(
    desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, alerts: list[object], told: list[str]
) -> None:
    monkeypatch.setattr(unseen, "LONG_MS", 60_000)
    monkeypatch.setattr(desktop.window, "isActiveWindow", lambda: False)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert (alerts, told) == ([], [])
    assert len(desktop.window.findChildren(Unseen)) == 1
