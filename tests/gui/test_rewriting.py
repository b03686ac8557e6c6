"""A sent message can be written anew: another branch, and nothing of the old one is lost."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.store import Draft
from desktop.widgets import message_view
from desktop.widgets.message import MessageWidget
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine


def button(within: QWidget, name: str) -> QAbstractButton:
    (found,) = [b for b in within.findChildren(QAbstractButton) if b.accessibleName() == name or b.text() == name]
    return found


def own(desktop: Desktop, n: int) -> MessageWidget:
    return [w for w in desktop.window.page.messages.widgets if w.message.role == "user"][n]


def shown(desktop: Desktop) -> list[str]:
    return [m.content for m in desktop.conversation.messages if m.role == "user"]


def asked(engine: ScriptedEngine) -> list[Any]:
    return [m.content for m in engine.requests[-1].messages if m.role == "user"]


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Short answer.")


@pytest.fixture
def chat(desktop: Desktop, qtbot: QtBot) -> Desktop:
    for text in ("one", "two"):
        send(desktop, qtbot, text)
        finished(desktop, qtbot)
    return desktop


def rewrite(desktop: Desktop, qtbot: QtBot, n: int, more: str) -> None:
    """With mouse and keyboard."""
    widget = own(desktop, n)
    qtbot.mouseClick(button(widget, "Edit message"), Qt.MouseButton.LeftButton)
    assert widget._rewrite is not None
    qtbot.keyClicks(widget._rewrite.edit, more)
    qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Return)


def test_another_version_is_another_branch(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    rewrite(chat, qtbot, 0, " and a half")
    finished(chat, qtbot)
    assert asked(engine) == shown(chat) == ["one and a half"]
    assert chat.conversation.messages[-1].state == "complete"
    chat.store.flush()
    assert chat.store.unsent(chat.conversation.messages[0].chat) == {}, "it was sent"
    first = own(chat, 0)
    qtbot.mouseClick(button(first, "Earlier version"), Qt.MouseButton.LeftButton)
    assert shown(chat) == ["one", "two"]
    assert len(chat.conversation.messages) == 4
    qtbot.mouseClick(button(own(chat, 0), "Later version"), Qt.MouseButton.LeftButton)
    assert shown(chat) == ["one and a half"]


def test_a_later_message_keeps_what_comes_before_it(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    rewrite(chat, qtbot, 1, "!")
    finished(chat, qtbot)
    assert asked(engine) == shown(chat) == ["one", "two!"]
    assert engine.requests[-1].messages[1].x_ids, "replies keep their tokens: nothing is read anew"
    assert chat.conversation.chat is not None
    assert len(chat.store.messages(chat.conversation.chat.id)) == 6


@pytest.mark.parametrize("how", ["Esc", "Cancel"])
def test_leaving_changes_nothing(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot, how: str) -> None:
    widget = own(chat, 1)
    requests = len(engine.requests)
    chat.window.actions_.by_id["edit"].trigger()
    assert widget._rewrite is not None
    qtbot.waitUntil(lambda: widget._rewrite is not None and widget._rewrite.edit.hasFocus())
    qtbot.keyClicks(widget._rewrite.edit, "never sent")
    if how == "Esc":
        qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(button(widget._rewrite, "Cancel"), Qt.MouseButton.LeftButton)
    assert widget._rewrite is None
    assert widget.blocks.isVisible()
    assert widget.hasFocus()
    assert shown(chat) == ["one", "two"]
    assert len(engine.requests) == requests


def test_esc_there_does_not_stop_the_reply(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.script, engine.pause = "More words follow here. " * 60, 0.01
    send(chat, qtbot, "three")
    qtbot.waitUntil(lambda: bool(chat.conversation.messages[-1].content))
    widget = own(chat, 0)
    widget.rewrite()
    assert widget._rewrite is not None
    qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Escape)
    assert chat.conversation.running
    widget.rewrite()
    assert widget._rewrite is not None
    qtbot.keyClick(button(widget._rewrite, "Cancel"), Qt.Key.Key_Escape)
    assert widget._rewrite is None
    assert chat.conversation.running
    widget.rewrite()
    assert widget._rewrite is not None
    qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Return)
    assert "reply is being written" in chat.window.page.notice.text
    assert widget._rewrite is not None, "what was written stays"
    chat.conversation.stop()
    finished(chat, qtbot)


def test_a_version_that_is_not_sent_yet_is_kept(chat: Desktop, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    """Over another chat and over the end of the program; nothing of it stays once it was left."""
    widget = own(chat, 0)
    widget.rewrite()
    assert widget._rewrite is not None
    qtbot.keyClicks(widget._rewrite.edit, ", said anew")
    here = chat.conversation.chat
    assert here is not None
    qtbot.waitUntil(lambda: list(chat.store.unsent(here.id).values()) == [Draft("one, said anew")])
    qtbot.keyClicks(widget._rewrite.edit, "?")  # and away, before the writing pauses
    chat.window.new_chat()
    chat.window.open_chat(here.id)
    assert own(chat, 0)._rewrite is not None
    qtbot.keyClicks(own(chat, 0)._rewrite.edit, "!")  # type: ignore[union-attr]
    chat.window.close()
    chat.close()
    again = make_desktop(ScriptedEngine("Short answer."))
    again.window.open_chat(here.id)
    rewrite = own(again, 0)._rewrite
    assert rewrite is not None
    assert sorted(rewrite.edit.toPlainText()) == sorted("one, said anew?!")
    own(again, 0).leave()
    again.store.flush()
    assert again.store.unsent(here.id) == {}


def test_a_version_waits_until_its_message_is_laid_out(
    chat: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(chat, 0).rewrite()
    qtbot.keyClicks(own(chat, 0)._rewrite.edit, ", said anew")  # type: ignore[union-attr]
    here = chat.conversation.chat
    assert here is not None
    chat.window.new_chat()
    monkeypatch.setattr(message_view, "FIRST_SHOWN", 1)
    chat.window.open_chat(here.id)
    view = chat.window.page.messages
    assert [w.message.content for w in view.widgets] == ["Short answer."]
    while view._earlier:
        view._more.click()
    assert own(chat, 0).draft == Draft("one, said anew")
    assert own(chat, 1).draft is None


def test_sending_it_later_goes_back_to_its_chat(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    first = chat.conversation.messages[0]
    chat.window.new_chat()
    chat.conversation.rewrite(first, "one, again")
    finished(chat, qtbot)
    assert shown(chat) == ["one, again"]


def test_nothing_is_not_sent(chat: Desktop, qtbot: QtBot) -> None:
    widget = own(chat, 0)
    widget.rewrite()
    assert widget._rewrite is not None
    widget._rewrite.edit.setPlainText("  ")
    assert not widget._rewrite.send.isEnabled()
    qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Return)
    assert shown(chat) == ["one", "two"]


def test_a_persons_message_is_copied(chat: Desktop, qtbot: QtBot) -> None:
    qtbot.mouseClick(button(own(chat, 1), "Copy message"), Qt.MouseButton.LeftButton)
    from PySide6.QtGui import QGuiApplication

    assert QGuiApplication.clipboard().text() == "two"
