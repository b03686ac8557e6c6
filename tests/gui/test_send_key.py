"""The key that sends: as chosen, also where a message is written anew, and never from under an input method."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.widgets.rewrite import Rewrite
from tests.gui.person import finished, send

ENTER, CTRL, SHIFT = Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NONE = Qt.KeyboardModifier.NoModifier


@pytest.mark.parametrize(
    ("send_with", "line", "sends"), [("enter", SHIFT, NONE), ("enter", SHIFT, CTRL), ("ctrl_enter", NONE, CTRL)]
)
def test_an_input_method_ends_its_word_first(
    desktop: Desktop, qtbot: QtBot, send_with: str, line: Qt.KeyboardModifier, sends: Qt.KeyboardModifier
) -> None:
    desktop.settings.change(send_with=send_with)
    edit = desktop.window.page.composer.edit
    edit.setPlainText("に")
    QApplication.sendEvent(edit, QInputMethodEvent("ほん", []))
    for held in (NONE, CTRL):
        qtbot.keyClick(edit, ENTER, held)
        assert not desktop.conversation.running
    ended = QInputMethodEvent("", [])
    ended.setCommitString("本")
    QApplication.sendEvent(edit, ended)
    qtbot.keyClick(edit, ENTER, line)
    assert not desktop.conversation.running
    assert "\n" in edit.toPlainText()
    qtbot.keyClick(edit, ENTER, sends)
    assert desktop.conversation.running
    finished(desktop, qtbot)
    assert "本" in desktop.conversation.messages[0].content


def test_the_choice_holds_at_once_in_every_box_and_says_so(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot, "One")
    finished(desktop, qtbot)
    composer, messages = desktop.window.page.composer, desktop.window.page.messages
    assert "Ctrl" not in composer.button.toolTip()
    desktop.settings.change(send_with="ctrl_enter")
    assert "Ctrl" in composer.button.toolTip()
    messages.rewrite(desktop.conversation.messages[0].id)
    rewrite = messages.findChild(Rewrite)
    assert rewrite is not None
    qtbot.keyClick(rewrite.edit, ENTER)
    assert not desktop.conversation.running
    assert "\n" in rewrite.edit.toPlainText()
    qtbot.keyClick(rewrite.edit, ENTER, CTRL)
    assert desktop.conversation.running
    finished(desktop, qtbot)
    desktop.window.actions_.by_id["shortcuts"].trigger()
    from desktop.views.cheat_sheet import CheatSheet

    sheet = desktop.window.findChild(CheatSheet)
    assert sheet is not None
    sheet.search.setText("ctrl+enter")
    assert sheet.shown == ["Send the message", "Save an edited reply"]
    sheet.reject()
