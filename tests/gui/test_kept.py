"""Nothing written or received is lost: the disk refuses, the window closes, the system asks to end."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.store import Message, Store
from desktop.words import Notice
from tests.gui.faults import buttons, no_folder, try_again, unwritable
from tests.gui.person import finished, send
from tests.gui.scripted import LONG, ScriptedEngine

ROOT = Path(__file__).resolve().parents[2]


def stored(desktop: Desktop) -> list[Message]:
    desktop.store.flush()
    return desktop.store.branch(desktop.store.chats()[0].id)


def test_a_reply_that_cannot_be_saved_stays_on_screen_and_is_saved_later(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.pause = 0.01
    window, conversation = desktop.window, desktop.conversation
    send(desktop, qtbot)
    with unwritable(desktop.store):
        qtbot.waitUntil(lambda: "not saved" in window.page.notice.text, timeout=5000)
        assert conversation.running  # said while it streams, not at its end
        engine.pause = 0
        finished(desktop, qtbot)
        chat = conversation.messages[0].chat
        window.new_chat()
        window.open_chat(chat)
        reply = window.page.messages.widgets[-1]
        assert (reply.message.content, reply.message.state) == (LONG, "complete")
        assert reply.footer_text.startswith("41.2 tok/s")
        window.stack.setCurrentWidget(desktop.comparing.view)  # a comparison lies over the notices
        assert not window.close()  # not without a word
        assert window.isVisible()
        conversation.withdrawn.emit(Notice("Waiting for something else"))
        assert window.page.notice.isVisible()
        assert "Close Tandem again" in window.page.notice.text
        try_again(desktop, qtbot)
        qtbot.wait(50)
    assert stored(desktop)[1].state == "streaming"
    desktop.conversation.unsaved.retry()
    qtbot.waitUntil(lambda: not conversation.unsaved.problem)
    reply_on_disk = stored(desktop)[1]
    assert (reply_on_disk.content, reply_on_disk.state, reply_on_disk.seed) == (LONG, "complete", 7)
    assert window.close()


def test_what_failed_is_tried_again_by_itself_and_the_notice_goes(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    with unwritable(desktop.store):
        finished(desktop, qtbot)
        qtbot.waitUntil(lambda: "not saved" in desktop.window.page.notice.text)
    qtbot.waitUntil(lambda: not desktop.window.page.notice.isVisible(), timeout=5000)
    assert stored(desktop)[1].content == LONG


def test_a_message_that_cannot_be_saved_stays_in_the_box_and_goes_out_once(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot, "First")
    finished(desktop, qtbot)
    desktop.window.new_chat()
    with unwritable(desktop.store):
        send(desktop, qtbot, "Important")
    assert desktop.window.page.composer.text == "Important"
    assert len(desktop.store.chats()) == 1
    desktop.window.open_chat(desktop.store.chats()[0].id)
    try_again(desktop, qtbot)  # in the new chat that it was meant for
    finished(desktop, qtbot)
    assert desktop.window.page.composer.text == ""
    assert [m.content for m in desktop.conversation.messages] == ["Important", LONG]
    assert [len(desktop.store.branch(chat.id)) for chat in desktop.store.chats()] == [2, 2]


def test_regenerating_on_a_refusing_disk_leaves_the_reply_on_screen(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    with unwritable(desktop.store):
        desktop.conversation.regenerate()
        assert [w.message.content for w in desktop.window.page.messages.widgets] == ["Write it", LONG]
    desktop.window.new_chat()
    try_again(desktop, qtbot)
    finished(desktop, qtbot)
    assert desktop.conversation.place(desktop.conversation.messages[-1]) == (2, 2)


def test_a_chat_that_cannot_be_deleted_or_renamed_stays_as_it_is(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.pause = 0.01
    window = desktop.window
    send(desktop, qtbot, "Tea")
    chat = desktop.store.chats()[0]
    with unwritable(desktop.store):
        window.sidebar.deleted.emit(chat)
        assert "cannot be written" in window.page.notice.text
        assert desktop.conversation.running
        assert len(desktop.conversation.messages) == 2
        window.sidebar.renamed.emit(chat.id, "Coffee")
        assert window.windowTitle() == "Tea – Tandem"
    try_again(desktop, qtbot)
    assert window.windowTitle() == "Coffee – Tandem"
    window.sidebar.deleted.emit(chat)
    finished(desktop, qtbot)
    assert desktop.store.chats() == []
    with unwritable(desktop.store):
        window.actions_.by_id["undo_delete"].trigger()
    assert desktop.store.chats() == []
    try_again(desktop, qtbot)
    assert [c.title for c in desktop.store.chats()] == ["Coffee"]
    assert desktop.conversation.messages[0].content == "Tea"


def test_chats_that_cannot_be_read_are_said(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    desktop.store._reader.close()
    desktop.window.sidebar.refresh()
    assert desktop.window.page.notice.text.startswith("The chats could not be read")
    assert set(buttons(desktop)) == {"Try again", "Open log"}
    assert desktop.conversation.place(desktop.conversation.messages[-1]) == (1, 1)


def test_deleting_another_chat_stops_nothing_and_its_comparison_goes(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    window = desktop.window
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    one = desktop.store.chats()[0]
    window.new_chat()
    engine.pause = 0.01
    send(desktop, qtbot, "two")
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 20)
    window.open_chat(one.id)
    window.sidebar.deleted.emit(one)
    assert desktop.conversation.running
    engine.pause = 0
    finished(desktop, qtbot)
    (two,) = desktop.store.chats()
    assert desktop.store.branch(two.id)[1].content == LONG
    window.open_chat(two.id)
    window.compare()
    assert window.stack.currentWidget() is desktop.comparing.view
    window.sidebar.deleted.emit(two)
    assert window.stack.currentWidget() is window.page


def test_an_unanswered_message_and_the_next_one_are_read_as_one(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.held = True
    send(desktop, qtbot, "What is tea?")
    desktop.window.stop()
    qtbot.waitUntil(lambda: bool(engine.cancelled))
    engine.held = False
    engine.script = ""
    finished(desktop, qtbot)
    assert desktop.conversation.messages[-1].content == ""
    engine.script = LONG
    send(desktop, qtbot, "In one sentence.")
    finished(desktop, qtbot)
    asked = [(m.role, m.content) for m in engine.requests[-1].messages]
    assert asked == [("user", "What is tea?\n\nIn one sentence.")]
    assert [m.content for m in desktop.conversation.messages] == ["What is tea?", "", "In one sentence.", LONG]


def test_closing_keeps_all_that_arrived(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tandem_home: Path
) -> None:
    engine.pause = 0.02
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 20)
    assert desktop.window.close()
    desktop.close()
    again = Store(tandem_home / "chats.sqlite")
    try:
        reply = again.branch(again.chats()[0].id)[1]
    finally:
        again.close()
    assert LONG.startswith(reply.content)
    assert reply.ids is not None  # the engine's own end of the reply came in
    assert (reply.state, reply.finish, reply.seed) == ("stopped", "cancelled", 7)
    assert reply.timings is not None


def test_settings_that_cannot_be_saved_are_said_once(desktop: Desktop, qtbot: QtBot, tandem_home: Path) -> None:
    notice = desktop.window.page.notice
    with no_folder(tandem_home / "config"):
        desktop.engine.choose_draft("other")
        assert notice.text.startswith("The settings are not saved")
        assert "config cannot be written" in notice.text
        notice.hide()
        desktop.engine.set_enabled(False)
        assert not notice.isVisible()
        desktop.settings.change(theme="dark")
        assert desktop.settings.now.draft == "other"
    desktop.engine.set_enabled(True)
    assert '"draft": "other"' in desktop.settings.path.read_text()
    with no_folder(tandem_home / "config"):
        desktop.engine.set_enabled(False)
        try_again(desktop, qtbot)
        assert notice.text.startswith("The settings are not saved")
    try_again(desktop, qtbot)
    assert not notice.isVisible()
    assert '"enabled": false' in desktop.settings.path.read_text()


RUN = """
import signal
import sys
from PySide6.QtCore import QTimer
from desktop import start
from tests.gui.scripted import LONG, ScriptedEngine

def engine():
    return ScriptedEngine(LONG, pause=0.02)

begin = start.Desktop.begin

def begin_and_send(self):
    begin(self)
    self.conversation.changed.connect(
        lambda m: (sys.stdout.write(f"{len(m.content)}\\n"), sys.stdout.flush()) if m.content else None
    )
    QTimer.singleShot(200, lambda: self.conversation.send("Write it"))

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # what started the tests may ignore some (nohup)
start.own_engine = engine
start.Desktop.begin = begin_and_send
from desktop.app import main
sys.exit(main(["tandem-desktop"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no kill that can be answered")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_as_its_close_button_does(tandem_home: Path, number: signal.Signals) -> None:
    env = os.environ | {"TANDEM_HOME": str(tandem_home), "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", RUN], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if int(line) > 40:
                break
        seen = int(line)
        running.send_signal(number)
        try:
            _, errors = running.communicate(timeout=30)
        finally:
            running.kill()
    assert running.returncode == 0, errors
    assert "KeyboardInterrupt" not in errors
    assert '"clean_exit": true' in (tandem_home / "config" / "settings.json").read_text()
    db = sqlite3.connect(tandem_home / "chats.sqlite")
    content, state, seed = db.execute("SELECT content, state, seed FROM messages WHERE role = 'assistant'").fetchone()
    db.close()
    assert len(content) >= seen
    assert (state, seed) == ("stopped", 7)
