""" "Try again" does what failed, where it failed, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from desktop.start import Desktop
from desktop.words import notice
from tests.gui.faults import buttons, try_again
from tests.gui.person import finished, send
from tests.gui.scripted import LONG, ScriptedEngine
from tests.unit.library.server import Hub

BUSY = EngineError(ErrorCode.BUSY, "Another program's reply is being written; wait for it.")


def test_a_reply_that_failed_in_another_chat_is_made_there(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    one = desktop.store.chats()[0].id
    desktop.window.new_chat()
    engine.fail_reply = BUSY
    send(desktop, qtbot, "two")
    finished(desktop, qtbot)
    desktop.window.open_chat(one)
    desktop.window.page.composer.set_text("Half a thou")
    engine.fail_reply = None
    try_again(desktop, qtbot)
    finished(desktop, qtbot)
    assert [m.content for m in desktop.conversation.messages] == ["two", LONG]
    assert [m.content for m in desktop.store.branch(one)] == ["one", LONG]
    assert desktop.conversation.place(desktop.conversation.messages[-1]) == (2, 2)
    assert desktop.window.page.composer.text == ""
    desktop.window.open_chat(one)
    assert desktop.window.page.composer.text == "Half a thou", "it waits where it was written"


def test_a_cancelled_load_or_download_is_not_what_is_tried_again(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop.window.downloads.get(["somewhere"])
    desktop.shelf.fetching.cancel("somewhere")
    qtbot.waitUntil(lambda: not desktop.shelf.fetching.items, timeout=20_000)
    engine.held = True
    desktop.engine.reload()
    qtbot.waitUntil(lambda: desktop.window.status.lead.startswith("Loading target"))
    desktop.window.status.cancelled.emit()
    engine.held = False
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")
    loads = len(engine.loads)
    engine.fail_reply = BUSY
    send(desktop, qtbot)
    finished(desktop, qtbot)
    engine.fail_reply = None
    try_again(desktop, qtbot)
    finished(desktop, qtbot)
    assert desktop.conversation.messages[-1].content == LONG
    assert (len(engine.loads), desktop.shelf.fetching.items) == (loads, {})


def test_a_failed_load_and_a_failed_download_are_tried_again(
    hub: Hub, desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine.fail_load = EngineError(ErrorCode.LOAD_FAILED, "The library refused the file.")
    desktop.engine.reload()
    qtbot.waitUntil(lambda: "refused the file" in desktop.window.page.notice.text)
    reloads: list[str] = []
    monkeypatch.setattr(desktop.shelf, "ask_drafts", reloads.append)
    try_again(desktop, qtbot)
    assert reloads == ["big"]
    hub.status = 503
    desktop.window.downloads.get(["one"], use="")
    qtbot.waitUntil(lambda: "did not deliver" in desktop.window.page.notice.text, timeout=20_000)
    hub.status = 0
    try_again(desktop, qtbot)
    qtbot.waitUntil(lambda: not desktop.shelf.fetching.items, timeout=20_000)
    assert (tmp_path / "models" / "org" / "one" / "one.gguf").read_bytes() == hub.content


def test_while_another_reply_runs_the_retry_waits(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.fail_reply = BUSY
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    one = desktop.conversation.messages[0].chat
    engine.fail_reply = None
    engine.pause = 0.005
    desktop.window.new_chat()
    assert desktop.conversation.send("two")
    try_again(desktop, qtbot)
    assert "being written" in desktop.window.page.notice.text
    assert desktop.conversation.messages[0].content == "two"
    engine.pause = 0
    finished(desktop, qtbot)
    try_again(desktop, qtbot)
    finished(desktop, qtbot)
    assert [m.content for m in desktop.store.branch(one)] == ["one", LONG]


def test_a_deleted_chat_is_not_written_into(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.fail_reply = BUSY
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    engine.fail_reply = None
    (chat,) = desktop.store.chats()
    desktop.window.sidebar.deleted.emit(chat)
    try_again(desktop, qtbot)
    assert not desktop.conversation.running
    assert "was deleted" in desktop.window.page.notice.text


def test_what_cannot_be_tried_again_has_no_such_button(desktop: Desktop, qtbot: QtBot) -> None:
    bug = notice(EngineError(ErrorCode.BUG, "Something was None."))
    desktop.window.page.composer.set_text("Half a thou")
    desktop.window.page.notice.show_notice(bug)
    QApplication.processEvents()
    assert set(buttons(desktop)) == {"Open log"}
