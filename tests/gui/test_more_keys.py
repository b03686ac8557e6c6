"""Keys that go somewhere: versions of a message, the first chats, the parts of the window; and the day that changes."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.models import chats
from desktop.start import Desktop
from desktop.views.about import About, libraries
from desktop.widgets import midnight
from tests.gui.person import finished, send

pytestmark = pytest.mark.usefixtures("in_front")
CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


def press(
    desktop: Desktop, qtbot: QtBot, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    qtbot.keyClick(desktop.window.focusWidget() or desktop.window, key, held)


def test_the_versions_of_a_reply(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    first = desktop.conversation.messages[-1].id
    desktop.conversation.regenerate()
    finished(desktop, qtbot)
    second = desktop.conversation.messages[-1].id
    desktop.window.page.messages.widgets[-1].setFocus()
    press(desktop, qtbot, Qt.Key.Key_Left, ALT)
    assert desktop.conversation.messages[-1].id == first
    press(desktop, qtbot, Qt.Key.Key_Left, ALT)
    assert desktop.conversation.messages[-1].id == first, "there is none before it"
    press(desktop, qtbot, Qt.Key.Key_Right, ALT)
    assert desktop.conversation.messages[-1].id == second


def test_the_first_nine_chats(desktop: Desktop, qtbot: QtBot) -> None:
    for text in ("one", "two", "three"):
        desktop.window.new_chat()
        send(desktop, qtbot, text)
        finished(desktop, qtbot)
    for key, title in ((Qt.Key.Key_1, "three"), (Qt.Key.Key_3, "one"), (Qt.Key.Key_9, "one")):
        press(desktop, qtbot, key, CTRL)
        assert desktop.conversation.chat is not None
        assert desktop.conversation.chat.title == title


def test_f6_goes_round(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    window = desktop.window
    window.page.composer.edit.setFocus()
    order = (window.sidebar.list, window.top.target, window.page.messages.widgets[-1], window.page.composer.edit)
    for holder in order:
        press(desktop, qtbot, Qt.Key.Key_F6)
        assert QApplication.focusWidget() is holder
    window.actions_.by_id["panel"].trigger()
    press(desktop, qtbot, Qt.Key.Key_F6)
    assert window.panel is not None
    assert QApplication.focusWidget() is window.panel.what_if.alpha


def test_ctrl_k_with_the_search_open_selects_its_text(desktop: Desktop, qtbot: QtBot) -> None:
    search = desktop.window.sidebar.search
    press(desktop, qtbot, Qt.Key.Key_K, CTRL)
    qtbot.keyClicks(search, "lighthouse")
    desktop.window.page.composer.edit.setFocus()
    press(desktop, qtbot, Qt.Key.Key_K, CTRL)
    assert search.isVisible()
    assert search.hasFocus()
    assert search.selectedText() == "lighthouse"
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert not search.isVisible()
    assert search.text() == ""


def test_today_ends_at_midnight(desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    bar = desktop.window.sidebar
    assert bar.model.index(0).data() == "Today"
    wait = (datetime.combine(datetime.now().date() + timedelta(days=1), datetime.min.time()) - datetime.now()).seconds
    assert 0 < bar.midnight.remainingTime() <= 1060 * min(3600, wait + 2)

    class Tomorrow(date):
        @classmethod
        def today(cls) -> Tomorrow:
            return cls.fromordinal(datetime.now().date().toordinal() + 1)

    monkeypatch.setattr(midnight, "date", Tomorrow)
    monkeypatch.setattr(chats, "date", Tomorrow)
    bar.midnight.timeout.emit()
    assert bar.model.index(0).data() == "Yesterday"
    assert bar.midnight.isActive()


def test_about(desktop: Desktop, qtbot: QtBot) -> None:
    desktop.window.actions_.by_id["about"].trigger()
    shown = desktop.window.findChild(About)
    assert shown is not None
    assert shown.table.rowCount() == len(libraries())
    shown.reject()
    told = {name.lower().replace("_", "-"): (version, licence) for name, version, licence in libraries()}
    assert {"pyside6-essentials", "numpy", "pydantic", "jinja2"} <= set(told)
    for name, (version, licence) in told.items():
        assert version, name
        assert licence, name
        assert "\n" not in licence
