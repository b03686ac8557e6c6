"""Another program holds the chats for a while: the window goes on, and what was asked for is done afterwards."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from desktop.figures import MISSING
from desktop.models import attempt
from desktop.start import Desktop
from tests.gui.faults import try_again
from tests.gui.person import finished, send
from tests.gui.scripted import LONG, ScriptedEngine

HELD = "Waiting for the disk"


@pytest.fixture
def let_go(desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """After a first turn another program has the chats for itself, until this is called."""
    send(desktop, qtbot, "First")
    finished(desktop, qtbot)
    monkeypatch.setattr(attempt, "PATIENCE_S", 0.01)
    other = sqlite3.connect(desktop.store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    def release() -> None:
        if other.in_transaction:
            ticked: list[bool] = []
            QTimer.singleShot(0, lambda: ticked.append(other.in_transaction))
            qtbot.waitUntil(lambda: ticked == [True])  # the window lives while it waits
            other.execute("ROLLBACK")

    yield release
    if other.in_transaction:
        other.execute("ROLLBACK")
    other.close()


def notice(desktop: Desktop) -> str:
    return desktop.window.page.notice.text if desktop.window.page.notice.isVisible() else ""


def test_a_message_waits_in_its_box_and_goes_out_once(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, let_go: Callable[[], None]
) -> None:
    send(desktop, qtbot, "Second")
    send(desktop, qtbot, "")  # impatience
    assert desktop.window.page.composer.text == "Second"
    assert len(desktop.conversation.messages) == 2
    assert notice(desktop).startswith(HELD)
    let_go()
    qtbot.waitUntil(lambda: len(desktop.conversation.messages) == 4)
    finished(desktop, qtbot)
    assert [m.content for m in desktop.conversation.messages] == ["First", LONG, "Second", LONG]
    assert desktop.window.page.composer.text == ""
    assert notice(desktop) == ""
    assert len(engine.requests) == 2


def test_who_went_to_another_chat_stays_there(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, let_go: Callable[[], None]
) -> None:
    window, first = desktop.window, desktop.store.chats()[0].id
    window.new_chat()
    send(desktop, qtbot, "Elsewhere")
    window.open_chat(first)
    assert window.page.composer.text == ""
    let_go()
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    finished(desktop, qtbot)
    assert [m.content for m in desktop.conversation.messages] == ["First", LONG]
    assert window.windowTitle() == "First – Tandem"
    assert window.status.text("rate") == MISSING, "the figures are of a reply that is not seen"
    other = next(chat.id for chat in desktop.store.chats() if chat.id != first)
    window.open_chat(other)
    assert [m.content for m in desktop.conversation.messages] == ["Elsewhere", LONG]
    window.new_chat()
    assert window.page.composer.text == "", "it was sent"


def test_what_is_typed_meanwhile_stays(desktop: Desktop, qtbot: QtBot, let_go: Callable[[], None]) -> None:
    send(desktop, qtbot, "Second")
    qtbot.keyClicks(desktop.window.page.composer.edit, " and more")
    let_go()
    qtbot.waitUntil(lambda: len(desktop.conversation.messages) == 4)
    finished(desktop, qtbot)
    assert desktop.conversation.messages[2].content == "Second"
    assert desktop.window.page.composer.text == "Second and more"


def test_rename_pin_and_delete_are_done_when_it_lets_go(
    desktop: Desktop, qtbot: QtBot, let_go: Callable[[], None]
) -> None:
    window, side = desktop.window, desktop.window.sidebar
    chat = desktop.store.chats()[0]
    side.renamed.emit(chat.id, "Coffee")
    side.pinned.emit(chat)
    assert window.windowTitle() == "First – Tandem"
    assert notice(desktop).startswith(HELD)
    let_go()
    qtbot.waitUntil(lambda: [(c.title, c.pinned) for c in desktop.store.chats()] == [("Coffee", True)])
    qtbot.waitUntil(lambda: window.windowTitle() == "Coffee – Tandem" and notice(desktop) == "")
    other = sqlite3.connect(desktop.store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    side.deleted.emit(chat)
    assert desktop.conversation.chat is not None
    other.execute("ROLLBACK")
    other.close()
    qtbot.waitUntil(lambda: desktop.conversation.chat is None)
    assert desktop.store.chats() == []


def test_another_version_is_shown_when_it_lets_go(desktop: Desktop, qtbot: QtBot, let_go: Callable[[], None]) -> None:
    desktop.conversation.regenerate()
    assert len(desktop.conversation.messages) == 2
    let_go()
    qtbot.waitUntil(lambda: desktop.conversation.place(desktop.conversation.messages[-1]) == (2, 2))
    finished(desktop, qtbot)
    other = sqlite3.connect(desktop.store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    desktop.conversation.show_sibling(desktop.conversation.messages[-1], -1)
    assert desktop.conversation.place(desktop.conversation.messages[-1]) == (2, 2)
    other.execute("ROLLBACK")
    other.close()
    qtbot.waitUntil(lambda: desktop.conversation.place(desktop.conversation.messages[-1]) == (1, 2))


def test_a_lock_that_lasts_is_said_and_tried_again(desktop: Desktop, qtbot: QtBot, let_go: Callable[[], None]) -> None:
    assert desktop.store._writer._db is not None
    desktop.store._writer._db.execute("PRAGMA busy_timeout = 50")
    desktop.window.sidebar.renamed.emit(desktop.store.chats()[0].id, "Coffee")
    qtbot.waitUntil(lambda: "in use by another program" in notice(desktop), timeout=20_000)
    assert desktop.store.chats()[0].title == "First"
    let_go()
    try_again(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.store.chats()[0].title == "Coffee")
