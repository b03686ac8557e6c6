"""A long session: old messages leave the screen, not the chat; rounds that come late are kept."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from backend.protocol import RoundRecord
from desktop.start import Desktop
from desktop.store import Message, StoreError
from desktop.store.records import ROUNDS_KEPT
from desktop.widgets.message_view import FIRST_SHOWN, LETTERS_SHOWN, MOST_SHOWN, MessageView
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine


def message(n: int) -> Message:
    role = "assistant" if n % 2 else "user"
    return Message(n, 1, n - 1 or None, role, f"Message {n}", 0.0)  # type: ignore[arg-type]


@pytest.fixture
def view(qtbot: QtBot) -> MessageView:
    made = MessageView(lambda m: m.role, lambda m: (1, 1))
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    return made


def test_old_messages_leave_the_screen_and_come_back(view: MessageView) -> None:
    for n in range(1, MOST_SHOWN + 11):
        view.append(message(n))
    assert len(view.widgets) <= MOST_SHOWN
    first = view.widgets[0].message.id
    view.update_message(replace(message(first - 1), content="changed meanwhile"))
    view._more.click()
    assert [w.message.id for w in view.widgets[: FIRST_SHOWN + 1]] == list(range(first - FIRST_SHOWN, first + 1))
    assert view.widgets[FIRST_SHOWN - 1].message.content == "changed meanwhile"


def test_nothing_moves_under_the_eyes_of_who_reads_further_up(view: MessageView, qtbot: QtBot) -> None:
    for n in range(1, MOST_SHOWN):
        view.append(message(n))
    qtbot.waitUntil(lambda: view.verticalScrollBar().maximum() > 500)
    view.verticalScrollBar().setValue(0)
    for n in range(MOST_SHOWN, MOST_SHOWN + 9):
        view.append(replace(message(n), role="assistant"))
    assert view.widgets[0].message.id == 1


DAMAGE = {
    "chats": {"settings": '{"system_prompt": "Be'},
    "messages": {
        "ids": '[1, "2"]',
        "settings": "[]",
        "timings": '{"predicted_n": 3',
        "rounds": "[1]",
        "comparison": "\x00",
    },
}


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


def record(n: int) -> RoundRecord:
    return RoundRecord(n, 52 + n, "draft", (1, 2), (1, 3), 1, "correction", 2, 1.0, 9.0, 0.1)


def test_rounds_are_kept_with_their_reply_also_when_they_come_after_its_end(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    running = desktop.conversation._replying._running
    assert running is not None
    desktop.bridge._tell("rounds", running.job, (record(0),))
    desktop.bridge._tell("rounds", "another", (record(9),))
    finished(desktop, qtbot)
    for n in range(1, ROUNDS_KEPT + 5):
        desktop.bridge._tell("rounds", running.job, (record(n),))
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].rounds) == ROUNDS_KEPT)
    reply = desktop.conversation.messages[-1]
    assert reply.rounds[-1]["round"] == ROUNDS_KEPT + 4
    assert desktop.window.page.messages.widgets[-1].message == reply
    desktop.store.flush()
    (stored,) = [m for m in desktop.store.branch(reply.chat) if m.id == reply.id]
    assert [r["round"] for r in stored.rounds] == [r["round"] for r in reply.rounds]
    assert stored.state == "complete"


def test_rounds_and_a_comparison_leave_each_other_alone(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    running = desktop.conversation._replying._running
    assert running is not None
    finished(desktop, qtbot)
    desktop.window.compare()
    desktop.bridge._tell("rounds", running.job, (record(0),))  # before the comparison's end
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)
    reply = desktop.conversation.messages[-1]
    assert reply.comparison is not None
    assert len(reply.rounds) == 1
    desktop.bridge._tell("rounds", running.job, (record(1),))  # and after it
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].rounds) == 2)
    assert desktop.conversation.messages[-1].comparison == reply.comparison
    assert "= 1.84×" in desktop.window.page.messages.widgets[-1].footer_text


def test_a_chat_that_cannot_be_read_is_not_opened(
    desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    chat = desktop.conversation.chat
    assert chat is not None
    desktop.window.new_chat()

    def unreadable(_chat: int) -> list[Message]:
        raise StoreError("damaged", "The chats are damaged.")

    with monkeypatch.context() as patch:
        patch.setattr(desktop.store, "branch", unreadable)
        desktop.window.open_chat(chat.id)
    assert "damaged" in desktop.window.page.notice.text
    assert desktop.conversation.chat is None
    desktop.window.open_chat(chat.id)
    assert [m.content for m in desktop.conversation.messages] == ["one", "Hello there."]


def test_a_damaged_row_costs_what_is_damaged_and_not_the_chat(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    (chat,) = desktop.store.chats()
    desktop.window.new_chat()
    for table, values in DAMAGE.items():
        for column, text in values.items():
            desktop.store._run(f"UPDATE {table} SET {column} = ?", text).result()
    desktop.store._run("UPDATE messages SET content = CAST(x'6f6e65ff' AS TEXT) WHERE role = 'user'").result()
    desktop.window.sidebar.refresh()
    assert [c.title for c in desktop.store.chats()] == ["one"]
    desktop.window.open_chat(chat.id)
    asked, reply = (widget.message for widget in desktop.window.page.messages.widgets)
    assert (asked.content, reply.content, reply.state, reply.seed) == ("one\ufffd", "Hello there.", "complete", 7)
    assert (reply.ids, reply.settings, reply.timings, reply.rounds) == (None, {}, None, ())
    assert "damaged" in desktop.window.page.notice.text
    send(desktop, qtbot, "two")  # and it goes on
    finished(desktop, qtbot)
    assert [m.content for m in desktop.conversation.messages] == ["one\ufffd", "Hello there.", "two", "Hello there."]
    assert desktop.conversation.messages[-1].damaged == ()


def test_the_keyboard_goes_on_to_earlier_messages(view: MessageView, qtbot: QtBot) -> None:
    view.show_messages(long_ones(20))
    first = view.widgets[0]
    first.setFocus()
    qtbot.waitUntil(first.hasFocus)
    qtbot.keyClick(first, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: first.message.id - 1 in view._widgets and view._widgets[first.message.id - 1].hasFocus())
    at = view._widgets[first.message.id - 1]
    qtbot.waitUntil(lambda: not at.visibleRegion().isEmpty())


def test_words_far_up_are_sought_a_part_at_a_time(view: MessageView, qtbot: QtBot) -> None:
    """What stands before them in a huge chat takes seconds to lay out; another chat ends the seeking."""
    view.show_messages(long_ones(40))
    view.show_found(2, "Message")
    assert 2 not in view._widgets
    assert len(view.widgets) < 10
    qtbot.waitUntil(lambda: 2 in view._widgets and view._widgets[2].hasFocus())
    view.show_messages(long_ones(40))
    view.show_found(2, "Message")
    view.show_messages([message(1)])
    assert [w.message.id for w in view.widgets] == [1]


def test_what_is_written_is_on_the_disk_itself(desktop: Desktop) -> None:
    def level(db: sqlite3.Connection) -> int:
        return int(db.execute("PRAGMA synchronous").fetchone()[0])

    assert desktop.store._writer.submit(level).result() == 2  # FULL


def long_ones(n: int) -> list[Message]:
    return [replace(message(number), content="word " * (LETTERS_SHOWN // 20)) for number in range(1, n + 1)]


def test_a_huge_chat_is_laid_out_in_parts_as_the_reader_comes_to_them(view: MessageView, qtbot: QtBot) -> None:
    view.show_messages(long_ones(20))
    bar = view.verticalScrollBar()
    assert [w.message.id for w in view.widgets] == [17, 18, 19, 20]
    qtbot.waitUntil(lambda: bar.value() == bar.maximum() > 500)
    first = view.widgets[0]
    bar.setValue(50)
    below = first.y() - 50
    qtbot.waitUntil(lambda: view.widgets[0].message.id == 13)
    qtbot.waitUntil(lambda: first.y() > 500 and first.y() - bar.value() == below)  # what is read stays where it is
    assert view._more.isVisible()
    bar.setValue(bar.maximum())
    view.append(replace(message(21), content="word " * 500))
    qtbot.waitUntil(lambda: view.following and bar.value() == bar.maximum())
    while view._earlier:  # with the keyboard
        n = len(view.widgets)
        view._more.click()
        qtbot.waitUntil(lambda n=n: len(view.widgets) > n)
    assert [w.message.id for w in view.widgets] == list(range(1, 22))
    assert view._more.isHidden()
