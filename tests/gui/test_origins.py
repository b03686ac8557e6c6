"""Replies token by token: tints and lines by origin, and a round behind each token, with the real engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from backend.protocol import Speculation
from desktop.models.origins import pieces
from desktop.start import Desktop
from desktop.views.panel import Panel
from desktop.widgets.message import MessageWidget
from desktop.widgets.origins import TokenText
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

MINUTE = 60_000
Line = QTextCharFormat.UnderlineStyle


def last(desktop: Desktop) -> MessageWidget:
    return desktop.window.page.messages.widgets[-1]


def toggle(desktop: Desktop) -> None:
    desktop.window.actions_.by_id["origins"].trigger()


def table(widget: MessageWidget) -> list[list[str]]:
    assert widget._origins is not None
    t = widget._origins.round.table
    return [[t.item(i, j).text() for j in range(t.columnCount())] for i in range(t.rowCount())]


def pick(widget: MessageWidget, at: int, qtbot: QtBot) -> None:
    """With the keyboard: the caret there, and Enter."""
    assert widget._origins is not None
    text = widget._origins.text
    text.setFocus()
    qtbot.keyClick(text, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    for _ in range(at):
        qtbot.keyClick(text, Qt.Key.Key_Right)
    assert text.textCursor().position() == at
    qtbot.keyClick(text, Qt.Key.Key_Return)


def test_the_real_thing(real: Callable[[], Desktop], qtbot: QtBot) -> None:
    desktop = real()
    desktop.engine.set_speculation(Speculation(length=4))
    send(desktop, qtbot, "one two three one two three")
    finished(desktop, qtbot, MINUTE)
    reply = desktop.conversation.messages[-1]
    qtbot.waitUntil(lambda: bool(desktop.conversation.messages[-1].rounds))
    made = pieces(reply.content, reply.tokens)
    assert "".join(piece.text for piece in made) == reply.content
    toggle(desktop)
    widget = last(desktop)
    assert widget._origins is not None
    assert widget.blocks.isHidden()
    text = widget._origins.text
    assert text.toPlainText() == reply.content.replace("\r", "\n")
    for piece, end in zip(made, text._ends, strict=True):
        cursor = QTextCursor(text.document())
        cursor.setPosition(end)
        wanted = {"accepted": Line.SingleUnderline, "correction": Line.DotLine, "bonus": Line.DashUnderline}
        line = cursor.charFormat().underlineStyle()
        assert set(piece.text) & set("\r\n") or line == wanted.get(piece.origin, Line.NoUnderline)
    first = next(n for n, piece in enumerate(made) if piece.origin != "plain" and not set(piece.text) & set("\r\n"))
    number = made[first].round
    pick(widget, text._ends[first] - 1, qtbot)
    record = next(r for r in desktop.conversation.messages[-1].rounds if r["round"] == number)
    qtbot.waitUntil(lambda: "token" not in str(table(widget)))
    rows = table(widget)
    assert len(rows) == max(len(record["proposed"]), len(record["targets"]))
    assert [row[-1] for row in rows].count("accepted") == record["accepted"]
    assert {row[3] for row in rows} == {"–"}, "it was written while no tokens were shown"
    assert f"Round {number}: {len(record['proposed'])} guessed by" in widget._origins.round.title.text()
    desktop.window.new_chat()
    send(desktop, qtbot, "one two three")
    finished(desktop, qtbot, MINUTE)
    qtbot.waitUntil(lambda: bool(desktop.conversation.messages[-1].rounds))
    whole = [r for r in desktop.conversation.messages[-1].rounds if r["outcome"] != "cut"][:-1]
    assert whole
    assert all(len(r["p"]) == len(r["targets"]) and all(0 <= p <= 1 for p in r["p"]) for r in whole)
    desktop.window.close()
    desktop.close()

    again = real()
    again.window.open_chat(again.store.chats()[0].id)
    assert again.bridge.probabilities
    assert last(again)._origins is not None, "the choice is remembered, and so is where tokens came from"
    toggle(again)
    assert not last(again).blocks.isHidden()
    assert last(again)._origins.isHidden()  # type: ignore[union-attr]


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Some **bold** words, and more of them.", pause=0.002)


def test_a_reply_that_streams_is_shown_as_it_is_to_be_read(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    toggle(desktop)
    engine.held = True
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.conversation.running)
    assert not last(desktop).blocks.isHidden()
    engine.held = False
    finished(desktop, qtbot)
    widget = last(desktop)
    assert widget._origins is not None
    assert widget._origins.text.toPlainText() == engine.script
    pick(widget, 3, qtbot)
    assert "Nothing is known of this round" in widget._origins.round.title.text(), "this engine tells of no rounds"
    assert table(widget) == []


def hover(widget: MessageWidget, at: int) -> str:
    """What is said of the letter after so many."""
    assert widget._origins is not None
    text = widget._origins.text
    cursor = text.textCursor()
    cursor.setPosition(at)
    point = text.cursorRect(cursor).center()
    shown = QHelpEvent(QEvent.Type.ToolTip, point, text.viewport().mapToGlobal(point))
    QApplication.sendEvent(text.viewport(), shown)
    said = QToolTip.text()
    QToolTip.hideText()
    return said


def test_a_token_that_is_pointed_at_says_round_place_and_probability(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    rounds = ({"round": 0, "p": [0.93, 0.004, 0.5, 0.25]}, {"round": 1})
    desktop.store.update_message(reply.id, rounds=rounds).result()
    toggle(desktop)
    desktop.window.new_chat()
    desktop.window.open_chat(reply.chat)
    qtbot.waitUntil(lambda: last(desktop)._origins is not None)
    assert hover(last(desktop), 1) == "drafted, accepted: round 0, place 1, probability 93\N{NO-BREAK SPACE}%"
    assert hover(last(desktop), 5) == "drafted, accepted: round 0, place 2, probability < 1\N{NO-BREAK SPACE}%"
    assert hover(last(desktop), 17) == "drafted, accepted: round 1, place 1"


def test_what_is_not_of_the_text_leaves_it_as_it_is(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    desktop.store.update_message(reply.id, content="another text").result()
    toggle(desktop)
    desktop.window.new_chat()
    desktop.window.open_chat(desktop.store.chats()[0].id)
    assert last(desktop)._origins is None
    assert not last(desktop).blocks.isHidden()


def test_its_colours_are_those_of_the_theme(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    desktop.window.actions_.by_id["origins"].trigger()
    send(desktop, qtbot)
    finished(desktop, qtbot)
    text = desktop.window.page.messages.widgets[-1].findChild(TokenText)
    assert text is not None

    def tint() -> str:
        cursor = text.textCursor()
        cursor.setPosition(len("First words"))
        return cursor.charFormat().background().color().name()

    desktop.theme.choose("light")
    light = tint()
    desktop.theme.choose("dark")
    qtbot.waitUntil(lambda: tint() != light)


@pytest.mark.parametrize("line", [0, 30, 59])
def test_a_round_and_the_token_that_it_was_picked_by_are_seen_together(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, line: int
) -> None:
    engine.script = "\n".join(["One line of it, and another one."] * 60)
    toggle(desktop)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    rounds = [{"round": n, "proposed": [1] * 6, "targets": [1], "accepted": 0, "source": "draft"} for n in range(200)]
    desktop.store.update_message(reply.id, rounds=tuple(rounds)).result()
    desktop.window.new_chat()
    desktop.window.open_chat(reply.chat)
    qtbot.waitUntil(lambda: last(desktop)._origins is not None)
    view, widget = desktop.window.page.messages, last(desktop)
    assert widget._origins is not None
    text, table_ = widget._origins.text, widget._origins.round
    caret = text.textCursor()
    caret.setPosition(text.document().findBlockByNumber(line).position() + 5)
    text.setTextCursor(caret)
    view.verticalScrollBar().setValue(text.mapTo(view.widget(), text.cursorRect(caret).topLeft()).y() - 400)
    text.pick()

    def seen() -> bool:
        port = view.viewport()
        first = text.mapTo(port, text.cursorRect(caret).topLeft()).y()
        end = table_.mapTo(port, table_.rect().bottomLeft()).y()
        return len(table(widget)) == 6 and first >= 0 and end < port.height() and end - first > table_.height()

    qtbot.waitUntil(seen)
    if (next_line := text.document().findBlockByNumber(line + 1)).isValid():
        assert text.cursorRect(QTextCursor(next_line)).top() >= table_.geometry().bottom()
    assert table_.geometry().top() >= text.cursorRect(caret).bottom() - 1
    desktop.window.resize(700, 600)
    qtbot.waitUntil(lambda: table_.width() == text.width())
    assert table_.geometry().top() >= text.cursorRect(caret).bottom() - 1
    assert text.height() >= table_.geometry().bottom()


def test_the_timeline_goes_to_the_round_that_was_picked(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    toggle(desktop)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    rounds = [{"round": n, "proposed": [1], "targets": [1], "verify_ms": 30.0, "emitted": 1} for n in range(1, 61)]
    desktop.store.update_message(reply.id, rounds=tuple(rounds)).result()
    desktop.window.new_chat()
    desktop.window.open_chat(reply.chat)
    qtbot.waitUntil(lambda: last(desktop)._origins is not None)
    desktop.window.page.messages.round_picked.emit(last(desktop).message, 20)
    desktop.window.actions_.by_id["panel"].trigger()  # made only now
    panel = desktop.window.panel
    assert isinstance(panel, Panel)
    qtbot.waitUntil(lambda: "Rounds 15 to 26 of 60" in panel.timeline.words.text())
    desktop.window.page.messages.round_picked.emit(last(desktop).message, 24)
    assert panel.timeline.last.value() == 26, "it is there already"
    desktop.window.page.messages.round_picked.emit(last(desktop).message, 1)
    qtbot.waitUntil(lambda: "Rounds 1 to 12 of 60" in panel.timeline.words.text())


def test_what_there_is_to_say_of_a_round_without_a_guess(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    """Each part of a reply begins with a token that came with reading the prompt."""
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    rounds = tuple({"round": n, "targets": [1], "verify_ms": 30.0} for n in (3, 4, 5))
    desktop.store.update_message(reply.id, rounds=rounds, parts=({"bytes": 16, "rounds": 4},)).result()
    desktop.window.new_chat()
    desktop.window.open_chat(reply.chat)
    desktop.window.origins.toggle()
    said = []
    for number in (2, 3, 4, 6):
        desktop.window.page.messages.round_picked.emit(last(desktop).message, number)
        said.append(last(desktop)._origins.round.title.text())  # type: ignore[union-attr]
    assert "only the last rounds are" in said[0]
    assert said[1] == "Round 3: plain, pass 30.0 ms."
    assert "came with reading the prompt" in said[2]
    assert "Nothing is known" in said[3]
