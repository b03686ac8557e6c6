"""Attachments of messages that were sent: cards that open, are found by their words, and go into another version."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from backend.documents import Attachment
from desktop.start import Desktop
from desktop.store import Draft
from desktop.widgets.attached import Attached
from desktop.widgets.chips import Chips
from desktop.widgets.message import MessageWidget
from desktop.widgets.message_edit import LONG
from desktop.widgets.rewrite import Rewrite
from tests.gui.attaching import CODE, attach, chips, drop, keeper, names, urls
from tests.gui.faults import unwritable
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Short answer.")


@pytest.fixture
def chat(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path) -> Desktop:
    """One turn with two attachments."""
    attach(desktop, qtbot, keeper(tmp_path), keeper(tmp_path, "# Oil\nfor the lamp", "notes.md"))
    send(desktop, qtbot, "What is this?")
    qtbot.waitUntil(lambda: bool(engine.requests))
    finished(desktop, qtbot)
    return desktop


def own(desktop: Desktop) -> MessageWidget:
    return desktop.window.page.messages.widgets[0]


def button(within: QWidget, name: str) -> QAbstractButton:
    (found,) = [b for b in within.findChildren(QAbstractButton) if b.accessibleName() == name]
    return found


def rewriting(desktop: Desktop) -> Rewrite:
    widget = own(desktop)
    if widget._rewrite is None:
        desktop.window.actions_.by_id["edit"].trigger()
    assert widget._rewrite is not None
    return widget._rewrite


def asked(engine: ScriptedEngine) -> str:
    return engine.requests[-1].messages[-1].content


def test_a_card_opens_to_the_text_and_copies_it(chat: Desktop, qtbot: QtBot) -> None:
    widget = own(chat)
    card = widget.cards[0]
    assert widget.accessibleName() == "You: What is this? (with keeper.py, notes.md)"
    assert card.text is None
    toggle = button(card, "Show keeper.py")
    toggle.setFocus()
    qtbot.keyClick(toggle, Qt.Key.Key_Space)
    assert card.text is not None
    assert card.text.isVisible()
    assert card.text.toPlainText() == CODE
    assert card.text.accessibleName() == "Text of keeper.py"
    qtbot.keyClick(toggle, Qt.Key.Key_Space)
    assert not card.text.isVisible()
    qtbot.mouseClick(button(card, "Copy keeper.py"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == CODE
    qtbot.mouseClick(button(widget, "Copy message"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "What is this?"


def test_names_are_shown_letter_by_letter(qtbot: QtBot) -> None:
    card = Attached(Attachment("<b>a</b>&b.txt", "", "x", 1))
    qtbot.addWidget(card)
    toggle = button(card, "Show <b>a</b>&b.txt")
    assert toggle.text() == "<b>a</b>&&b.txt"
    assert "&lt;b&gt;" in toggle.toolTip()
    line = Chips()
    qtbot.addWidget(line)
    line.add(card.attachment)
    assert "&lt;b&gt;" in line.chips[0].toolTip()
    assert button(line, "Remove <b>a</b>&b.txt").toolTip().startswith("Remove (")


def test_of_a_huge_text_a_part_is_shown(qtbot: QtBot) -> None:
    card = Attached(Attachment("log.txt", "", "0123456789" * 50_000, 500_000))
    qtbot.addWidget(card)
    card.open()
    assert isinstance(card.text, QPlainTextEdit)
    assert len(card.text.toPlainText()) == 100_000
    card.copy()
    assert len(QGuiApplication.clipboard().text()) == 500_000


def test_words_in_it_are_found_and_shown_in_place(chat: Desktop, qtbot: QtBot) -> None:
    window = chat.window
    window.new_chat()
    (hit,) = chat.store.search("oil lamp")
    assert "# Oil for the lamp" in hit.text
    window.sidebar.found.emit(hit, "oil lamp")
    code, notes = own(chat).cards
    assert notes.text is not None
    qtbot.waitUntil(notes.text.isVisible)
    assert [s.cursor.selectedText() for s in notes.text.extraSelections()] == ["Oil", "lamp"]
    assert code.text is not None, "it has one of the words"
    own(chat).mark([])
    assert notes.text.extraSelections() == []


def test_another_version_keeps_removes_and_adds(
    chat: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    rewrite = rewriting(chat)
    assert not own(chat).cards[0].isVisible()
    first, _ = rewrite.writing.chips.chips
    qtbot.keyClick(first, Qt.Key.Key_Delete)
    drop(rewrite.edit.viewport(), urls(keeper(tmp_path, "More", "more.txt")))
    qtbot.waitUntil(lambda: len(rewrite.writing.chips.attachments) == 2)
    qtbot.keyClick(rewrite.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    finished(chat, qtbot)
    assert asked(engine).startswith("File: notes.md\n```markdown\n# Oil")
    assert asked(engine).endswith("File: more.txt\n```\nMore\n```\n\nWhat is this?")
    assert [card.attachment.name for card in own(chat).cards] == ["notes.md", "more.txt"]
    chat.conversation.show_sibling(chat.conversation.messages[0], -1)
    assert [card.attachment.name for card in own(chat).cards] == ["keeper.py", "notes.md"]


def test_another_version_may_be_of_files_alone(chat: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    rewrite = rewriting(chat)
    rewrite.edit.clear()
    qtbot.mouseClick(rewrite.send, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    finished(chat, qtbot)
    assert asked(engine).endswith("for the lamp\n```")
    assert not own(chat).blocks.isVisible()


def test_a_reply_that_is_edited_takes_text_of_any_length_and_no_files(
    chat: Desktop, qtbot: QtBot, tmp_path: Path
) -> None:
    reply = chat.window.page.messages.widgets[1]
    reply.rewrite()
    assert reply._rewrite is not None
    assert not reply._rewrite.writing.clip.isVisible()
    drop(reply._rewrite.edit.viewport(), urls(keeper(tmp_path)))
    assert chat.window.page.notice.text.startswith("A reply takes no files")
    QGuiApplication.clipboard().setText("word " * LONG)
    reply._rewrite.edit.moveCursor(QTextCursor.MoveOperation.End)
    reply._rewrite.edit.paste()
    assert reply._rewrite.writing.text == "Short answer." + "word " * LONG
    assert reply._rewrite.writing.chips.chips == []


def test_leaving_shows_the_message_as_it_was(chat: Desktop, qtbot: QtBot) -> None:
    rewrite = rewriting(chat)
    qtbot.keyClick(rewrite.writing.chips.chips[0], Qt.Key.Key_Delete)
    qtbot.keyClick(rewrite.edit, Qt.Key.Key_Escape)
    assert own(chat).blocks.isVisible()
    assert all(card.isVisible() for card in own(chat).cards)
    assert len(own(chat).cards) == 2


def test_what_is_not_sent_is_kept(
    chat: Desktop, make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    """Over another chat, over a disk that refuses, and over the end of the program."""
    here = chat.conversation.chat
    assert here is not None
    with unwritable(chat.store):
        attach(chat, qtbot, keeper(tmp_path, "Wind", "wind.txt"))
        qtbot.keyClicks(chat.window.page.composer.edit, "and this")
        qtbot.waitUntil(lambda: bool(chat.window.unsent._unwritten))
    chat.window.page.composer.counting.emit()
    wind = Draft("and this", (Attachment("wind.txt", "", "Wind", 4),))
    qtbot.waitUntil(lambda: chat.store.unsent(here.id) == {here.id: wind})
    qtbot.keyClick(rewriting(chat).writing.chips.chips[0], Qt.Key.Key_Delete)
    chat.window.new_chat()
    assert names(chat) == []
    attach(chat, qtbot, keeper(tmp_path, "Sea", "sea.txt"))
    chat.window.close()
    chat.close()
    again = make_desktop(ScriptedEngine("Short answer."))
    assert names(again) == ["sea.txt"]
    again.window.open_chat(here.id)
    assert (names(again), again.window.page.composer.text) == (["wind.txt"], "and this")
    assert [a.name for a in rewriting(again).writing.draft.attachments] == ["notes.md"]
    qtbot.keyClick(chips(again).chips[0], Qt.Key.Key_Delete)
    again.window.page.composer.set_text("")
    own(again).leave()
    qtbot.waitUntil(lambda: again.store.unsent(here.id) == {})
