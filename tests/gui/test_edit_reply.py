"""A reply's text is changed by a person: a version beside the old one, from which the chat goes on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.store import Message
from desktop.widgets.message import MessageWidget
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine
from tests.gui.test_rewriting import button

ANSWER = "Short\u00a0answer."
CTRL = Qt.KeyboardModifier.ControlModifier


def reply(desktop: Desktop, n: int) -> MessageWidget:
    return [w for w in desktop.window.page.messages.widgets if w.message.role == "assistant"][n]


def shown(desktop: Desktop) -> list[str]:
    return [m.content for m in desktop.conversation.messages]


def begin(desktop: Desktop, qtbot: QtBot, n: int, more: str) -> MessageWidget:
    """The pencil, and words at the end."""
    widget = reply(desktop, n)
    qtbot.mouseClick(button(widget, "Edit reply"), Qt.MouseButton.LeftButton)
    assert widget._rewrite is not None
    assert widget.blocks.isHidden()
    qtbot.keyClicks(widget._rewrite.edit, more)
    return widget


def save(widget: MessageWidget, qtbot: QtBot) -> None:
    assert widget._rewrite is not None
    qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Return, CTRL)


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(ANSWER)


@pytest.fixture
def chat(desktop: Desktop, qtbot: QtBot) -> Desktop:
    for text in ("one", "two"):
        send(desktop, qtbot, text)
        finished(desktop, qtbot)
    return desktop


def test_a_version_beside_the_old_one(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    requests = len(engine.requests)
    widget = begin(chat, qtbot, 0, "")
    assert widget._rewrite is not None
    qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Return)  # a reply has lines
    qtbot.keyClicks(widget._rewrite.edit, "Mine.")
    save(widget, qtbot)
    mine = ANSWER + "\nMine."
    assert shown(chat) == ["one", mine]
    assert len(engine.requests) == requests, "no reply is made by itself"
    edited = chat.conversation.messages[-1]
    assert (edited.state, edited.timings, edited.ids, edited.seed, edited.target) == (
        "complete",
        None,
        None,
        None,
        "big",
    )
    footer = reply(chat, 0).footer_text
    assert footer == "edited"
    assert not button(reply(chat, 0), "Compare with and without speculation").isVisibleTo(reply(chat, 0))
    chat.window.compare()
    assert "nothing to compare" in chat.window.page.notice.text
    chat.store.flush()
    assert chat.store.branch(edited.chat)[-1] == edited
    assert chat.store.unsent(edited.chat) == {}
    (hit,) = chat.store.search("Mine.")
    assert hit.message == edited.id

    qtbot.mouseClick(button(reply(chat, 0), "Earlier answer"), Qt.MouseButton.LeftButton)
    assert shown(chat) == ["one", ANSWER, "two", ANSWER], "what came after it hangs on the old one"
    qtbot.mouseClick(button(reply(chat, 0), "Later answer"), Qt.MouseButton.LeftButton)
    assert shown(chat) == ["one", mine]
    send(chat, qtbot, "three")
    finished(chat, qtbot)
    asked = engine.requests[-1].messages
    assert [m.content for m in asked] == ["one", mine, "three"]
    assert asked[1].x_ids is None


def test_it_goes_on_from_the_edited_text(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    save(begin(chat, qtbot, 1, " Mine"), qtbot)
    mine = ANSWER + " Mine"
    engine.script = mine + ", and then the model's."
    qtbot.mouseClick(button(reply(chat, 1), "Continue"), Qt.MouseButton.LeftButton)
    finished(chat, qtbot)
    assert shown(chat)[-1] == engine.script
    asked = engine.requests[-1]
    assert asked.continue_final_message
    assert asked.messages[-1].content == mine
    assert asked.sampling.seed is not None, "a fresh one, which the reply keeps"
    widget = reply(chat, 1)
    assert widget.footer_text.startswith("edited, continued · last part: 41.2 tok/s")
    assert button(widget, "Compare with and without speculation").isVisibleTo(widget)
    assert not button(widget, "Continue").isVisibleTo(widget)
    assert chat.conversation.place(widget.message) == (2, 2)
    chat.window.compare()
    qtbot.waitUntil(lambda: not chat.comparing.running)
    again = engine.compared[-1]
    assert again.continue_final_message
    assert again.messages[-1].content == mine


def test_where_its_tokens_came_from(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    """The person's text claims nothing; the model's is as it ever was."""
    save(begin(chat, qtbot, 1, " Mine"), qtbot)
    chat.window.actions_.by_id["origins"].trigger()
    assert reply(chat, 1)._origins is None, "nothing is known of it"
    engine.script = ANSWER + " Mine, and then the model's."
    chat.window.actions_.by_id["continue"].trigger()
    finished(chat, qtbot)
    origins = reply(chat, 1)._origins
    assert origins is not None
    text, n = origins.text, len(ANSWER + " Mine")
    assert text.toPlainText() == engine.script.replace("\u00a0", " ")
    cursor = QTextCursor(text.document())
    for position, by_a_person in ((1, True), (n, True), (n + 1, False), (len(engine.script), False)):
        cursor.setPosition(position)
        form = cursor.charFormat()
        assert form.fontItalic() is by_a_person
        underlined = form.underlineStyle() == form.UnderlineStyle.SingleUnderline
        assert underlined is not by_a_person
    picked: list[int] = []
    text.picked.connect(picked.append)
    for position in (1, n + 1):
        cursor.setPosition(position)
        text.setTextCursor(cursor)
        qtbot.keyClick(text, Qt.Key.Key_Return)
    assert picked == [0]


@pytest.mark.parametrize("how", ["Esc", "Cancel", "unchanged"])
def test_leaving_changes_nothing(chat: Desktop, qtbot: QtBot, how: str) -> None:
    widget = begin(chat, qtbot, 1, "" if how == "unchanged" else "never saved")
    assert widget._rewrite is not None
    if how == "Esc":
        qtbot.keyClick(widget._rewrite.edit, Qt.Key.Key_Escape)
    elif how == "Cancel":
        qtbot.mouseClick(button(widget._rewrite, "Cancel"), Qt.MouseButton.LeftButton)
    else:
        save(widget, qtbot)
    assert widget._rewrite is None
    assert widget.blocks.isVisible()
    assert shown(chat) == ["one", ANSWER, "two", ANSWER]
    assert chat.conversation.place(widget.message) == (1, 1)


def test_nothing_is_no_version_and_a_running_reply_comes_first(
    chat: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    widget = begin(chat, qtbot, 0, "!")
    engine.held = True
    send(chat, qtbot, "three")
    save(widget, qtbot)
    assert "being written" in chat.window.page.notice.text
    assert widget._rewrite is not None, "what was written stays"
    engine.held = False
    finished(chat, qtbot)
    widget._rewrite.edit.setPlainText(" \n ")
    assert not widget._rewrite.send.isEnabled()
    save(widget, qtbot)
    assert shown(chat)[1] == ANSWER


def test_a_version_that_is_not_saved_yet_is_kept(chat: Desktop, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    begin(chat, qtbot, 1, " Half")
    here = chat.conversation.messages[0].chat
    chat.window.close()
    chat.close()
    again = make_desktop(ScriptedEngine(ANSWER))
    again.window.open_chat(here)
    rewrite = reply(again, 1)._rewrite
    assert rewrite is not None
    assert rewrite.writing.text == ANSWER + " Half"
    save(reply(again, 1), qtbot)
    assert shown(again)[-1] == ANSWER + " Half"
    messages: list[Message] = again.store.messages(here)
    assert [m.content for m in messages if m.role == "assistant"] == [ANSWER, ANSWER, ANSWER + " Half"]
