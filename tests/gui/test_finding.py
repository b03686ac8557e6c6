"""Finding, pinning, and what was written and not sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QTextEdit
from pytestqt.qtbot import QtBot

from desktop.models.chats import CHAT
from desktop.start import Desktop
from desktop.store import Chat, Draft, Store, StoreError
from tests.gui.attaching import attach, chips, keeper
from tests.gui.faults import try_again, unwritable
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("A short answer about lighthouses.\n\n```python\nkeeper = 1\n```\n\nAnd an end.")


@pytest.fixture
def chats(desktop: Desktop, qtbot: QtBot) -> Desktop:
    """Three chats of one turn; the first has another answer too."""
    for text in ("Tell me of the sea", "Cake recipes", "Third thing"):
        desktop.window.new_chat()
        send(desktop, qtbot, text)
        finished(desktop, qtbot)
    return desktop


def titles(desktop: Desktop) -> list[str]:
    model = desktop.window.sidebar.model
    return [str(model.index(row).data()) for row in range(model.rowCount())]


def look_for(desktop: Desktop, qtbot: QtBot, words: str) -> None:
    side = desktop.window.sidebar
    if not side.search.isVisible():
        desktop.window.actions_.by_id["search"].trigger()
    side.search.clear()
    qtbot.keyClicks(side.search, words)


def marked(desktop: Desktop, message: int) -> list[str]:
    widget = desktop.window.page.messages._widgets[message]
    edits = widget.blocks.findChildren(QTextEdit)
    return [selection.cursor.selectedText() for edit in edits for selection in edit.extraSelections()]


def test_words_are_found_and_shown_in_place(chats: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    """With the keyboard alone; the message is on a branch that is not on screen."""
    window = chats.window
    sea = chats.store.search("sea")[0].chat.id
    window.open_chat(sea)
    engine.script = "Now of trains."
    chats.conversation.regenerate()
    finished(chats, qtbot)
    hidden = chats.store.messages(sea)[1]
    assert hidden.id not in [m.id for m in chats.conversation.messages]
    window.open_chat(chats.store.search("cake")[0].chat.id)
    look_for(chats, qtbot, "ABOUT lighthouse")
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Return)
    qtbot.waitUntil(window.sidebar.list.hasFocus)
    assert titles(chats)[0] == "3 found"
    assert titles(chats)[1] == "Tell me of the sea"
    assert window.sidebar.list.hasFocus()
    window.sidebar.list.activated.emit(window.sidebar.list.currentIndex())
    assert chats.conversation.chat is not None
    assert chats.conversation.chat.id == sea
    assert hidden.id in [m.id for m in chats.conversation.messages]
    assert marked(chats, hidden.id) == ["about", "lighthouse"]
    qtbot.waitUntil(lambda: window.page.messages._widgets[hidden.id].hasFocus())
    look_for(chats, qtbot, "trains")
    qtbot.keyClick(window.sidebar.search, Qt.Key.Key_Down)
    qtbot.waitUntil(window.sidebar.list.hasFocus)
    window.sidebar.list.activated.emit(window.sidebar.list.currentIndex())
    assert marked(chats, chats.conversation.messages[-1].id) == ["trains"]


def test_a_place_far_up_comes_into_view(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.script = "Filling words. " * 80 + "\n\nThe needle is here.\n\n" + "Filling words. " * 80
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    engine.script = "x"
    chat = desktop.conversation.chat
    assert chat is not None
    parent = reply.id
    for n in range(60):
        parent = desktop.store.add_message(chat.id, parent, "user", f"number {n}").result().id
    desktop.window.new_chat()
    look_for(desktop, qtbot, "needle")
    qtbot.keyClick(desktop.window.sidebar.search, Qt.Key.Key_Return)
    qtbot.waitUntil(desktop.window.sidebar.list.hasFocus)
    desktop.window.sidebar.list.activated.emit(desktop.window.sidebar.list.currentIndex())
    view = desktop.window.page.messages

    def in_view() -> bool:
        widget = view._widgets.get(reply.id)
        edits = widget.blocks.findChildren(QTextEdit) if widget is not None else []
        edit = next((e for e in edits if e.extraSelections()), None)
        if edit is None:  # it is not laid out yet
            return False
        selections = edit.extraSelections()
        at = edit.mapTo(view.viewport(), edit.cursorRect(selections[0].cursor).center())
        return view.viewport().rect().contains(QPoint(5, at.y()))

    qtbot.waitUntil(in_view)
    assert not view.following


def test_who_types_on_stays_in_the_field(chats: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the answer to Enter comes late."""
    side = chats.window.sidebar
    monkeypatch.setattr(side.finder, "ask", lambda _: None)
    look_for(chats, qtbot, "cake")
    qtbot.keyClick(side.search, Qt.Key.Key_Return)
    qtbot.keyClicks(side.search, " rec")
    side.finder.found.emit("cake rec", chats.store.search("cake rec"))
    assert titles(chats)[0] == "1 found"
    assert side.search.hasFocus()


def test_a_list_that_could_not_be_read_is_read_with_the_next_change(
    chats: Desktop, make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listed(_: Store) -> list[Chat]:
        raise StoreError("unread", "The chats could not be read.")

    chats.window.close()
    chats.close()
    with monkeypatch.context() as patch:
        patch.setattr(Store, "listed", listed)
        again = make_desktop(engine)
    assert titles(again) == []
    assert "could not be read" in again.window.page.notice.text
    again.conversation.chat_changed.emit(again.store.search("cake")[0].chat.id)
    assert titles(again) == ["Today", "Third thing", "Cake recipes", "Tell me of the sea"]


def test_nothing_found_is_said_and_leaving_shows_all(chats: Desktop, qtbot: QtBot) -> None:
    look_for(chats, qtbot, "zebra")
    qtbot.waitUntil(lambda: titles(chats) == ["Nothing found"])
    search = chats.window.sidebar.search
    qtbot.keyClick(search, Qt.Key.Key_Escape)
    assert not search.isVisible()
    qtbot.waitUntil(lambda: titles(chats) == ["Today", "Third thing", "Cake recipes", "Tell me of the sea"])


def test_esc_in_the_search_stops_no_reply(chats: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.script, engine.pause = "More words follow here. " * 60, 0.01
    send(chats, qtbot, "go on")
    look_for(chats, qtbot, "sea")
    qtbot.keyClick(chats.window.sidebar.search, Qt.Key.Key_Escape)
    assert chats.conversation.running
    chats.conversation.stop()
    finished(chats, qtbot)


def test_pinned_chats_stay_at_the_top(chats: Desktop, qtbot: QtBot) -> None:
    side = chats.window.sidebar
    side.list.setCurrentIndex(side.model.index(3))
    chats.window.actions_.by_id["pin"].trigger()
    assert titles(chats) == ["Pinned", "Tell me of the sea", "Today", "Third thing", "Cake recipes"]
    chat = side.model.index(1).data(CHAT)
    side.pinned.emit(chat)
    assert titles(chats)[0] == "Today"


def test_what_was_not_sent_waits_in_its_chat(
    chats: Desktop, make_desktop: object, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    window, composer = chats.window, chats.window.page.composer
    third = chats.conversation.chat
    assert third is not None
    qtbot.keyClicks(composer.edit, "for the third")
    window.new_chat()
    assert composer.text == ""
    qtbot.keyClicks(composer.edit, "for a new one")
    window.open_chat(third.id)
    assert composer.text == "for the third"
    window.new_chat()
    assert composer.text == "for a new one"
    qtbot.keyClick(composer.edit, Qt.Key.Key_Return)
    finished(chats, qtbot)
    window.new_chat()
    assert composer.text == "", "it was sent"
    window.open_chat(third.id)
    chats.conversation.regenerate()
    assert composer.text == "for the third", "the same chat, whatever its branch"
    finished(chats, qtbot)


def test_words_are_marked_in_tokens_too(chats: Desktop, qtbot: QtBot) -> None:
    chats.window.actions_.by_id["origins"].trigger()
    reply = chats.conversation.messages[-1]
    chats.conversation.find(reply.chat, reply.id, "lighthouses")
    origins = chats.window.page.messages._widgets[reply.id]._origins
    assert origins is not None
    qtbot.waitUntil(lambda: bool(origins.text.extraSelections()))
    chats.window.actions_.by_id["origins"].trigger()


def test_what_the_disk_refused_is_written_later(desktop: Desktop, qtbot: QtBot) -> None:
    composer = desktop.window.page.composer
    with unwritable(desktop.store):
        qtbot.keyClicks(composer.edit, "kept")
        qtbot.waitUntil(lambda: bool(desktop.window.unsent._unwritten))
    desktop.window.unsent.keep()
    desktop.store.flush()
    assert desktop.store.unsent(0) == {0: Draft("kept")}


def test_what_was_taken_away_does_not_come_back(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    attach(desktop, qtbot, keeper(tmp_path))
    qtbot.waitUntil(lambda: bool(desktop.store.unsent(0)))
    with unwritable(desktop.store):
        qtbot.keyClick(chips(desktop).chips[0], Qt.Key.Key_Delete)
        qtbot.waitUntil(lambda: bool(desktop.window.unsent._unwritten))
    desktop.window.unsent.keep()
    desktop.store.flush()
    assert desktop.store.unsent(0) == {}


def test_another_chats_text_does_not_come_back_with_undo(chats: Desktop, qtbot: QtBot) -> None:
    composer = chats.window.page.composer
    qtbot.keyClicks(composer.edit, "for the third")
    chats.window.new_chat()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == ""


def test_what_was_not_sent_is_there_at_the_next_start(desktop: Desktop, make_desktop: object, qtbot: QtBot) -> None:
    qtbot.keyClicks(desktop.window.page.composer.edit, "half a thought")
    desktop.window.close()
    desktop.close()
    again = make_desktop(ScriptedEngine())  # type: ignore[operator]
    assert again.window.page.composer.text == "half a thought"


def test_a_crash_costs_what_was_typed_no_more_than_a_moment(desktop: Desktop, qtbot: QtBot) -> None:
    qtbot.keyClicks(desktop.window.page.composer.edit, "half a thought")
    qtbot.waitUntil(lambda: desktop.store.unsent(0) == {0: Draft("half a thought")})


def test_only_the_last_of_many_questions_is_answered(chats: Desktop, qtbot: QtBot) -> None:
    finder, answered, said = chats.window.sidebar.finder, [], []
    finder.found.connect(lambda words, hits: answered.append((words, len(hits))))
    finder.noticed.connect(said.append)
    for n in range(200):
        finder.ask(f"nothing {n}")
    finder.ask("cake")
    qtbot.waitUntil(lambda: ("cake", 1) in answered)
    assert answered[-1] == ("cake", 1)
    assert said == [], "what was given up is no fault"


def test_what_is_on_another_branch_waits_for_the_reply(chats: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    conversation, hidden = chats.conversation, chats.conversation.messages[-1]
    engine.held = True
    conversation.regenerate()
    conversation.find(hidden.chat, hidden.id, "lighthouses")
    assert "Another reply is being written" in chats.window.page.notice.text
    engine.held = False
    finished(chats, qtbot)
    try_again(chats, qtbot)
    assert conversation.messages[-1].id == hidden.id
    assert marked(chats, hidden.id) == ["lighthouses"]


def test_what_was_found_may_be_deleted_by_now(chats: Desktop, qtbot: QtBot) -> None:
    first, other = chats.conversation.messages
    chats.conversation.regenerate()
    finished(chats, qtbot)
    chats.window.actions_.by_id["delete"].trigger()
    chats.conversation.find(first.chat, other.id, "lighthouses")
    assert "This chat was deleted" in chats.window.page.notice.text
    assert chats.conversation.messages == []
    chats.window.actions_.by_id["undo_delete"].trigger()
    assert chats.conversation.messages[-1].id != other.id, "the branch that was shown"
