"""The window around a scripted engine: what a person sees in states that a real worker cannot be asked for."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from backend.protocol import Difference
from desktop.settings import AUTOMATIC, LOOKUP, NONE
from desktop.shortcuts import SHORTCUTS, keys
from desktop.start import Desktop
from tests.gui.faults import buttons
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import LONG, ScriptedEngine


def test_a_reply_streams_with_figures_and_its_footer(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    assert desktop.window.page.composer.text == ""
    finished(desktop, qtbot)
    asked, reply = desktop.window.page.messages.widgets
    assert (asked.message.content, reply.message.content) == ("Write it", LONG)
    tokens = -(-len(LONG) // 4)
    assert reply.footer_text == f"41.2 tok/s · ≈ 1.84× · 82\N{NO-BREAK SPACE}% accepted · {tokens} tokens"
    status = desktop.window.status
    assert status.text("rate") == "41.2 tok/s"
    assert status.text("split") == "draft 12\N{NO-BREAK SPACE}% verify 85\N{NO-BREAK SPACE}%"
    stored = desktop.store.branch(desktop.store.chats()[0].id)[1]
    assert (stored.content, stored.state, stored.seed, stored.target, stored.draft) == (
        LONG,
        "complete",
        7,
        "big",
        "small",
    )


def test_streaming_lays_out_only_the_last_block(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    blocks = desktop.window.page.messages.widgets[-1].blocks
    first = blocks.widgets[0]
    before = blocks.rendered
    blocks.show_markdown(LONG + " And more.", complete=False)
    assert blocks.rendered - before <= 1
    assert blocks.widgets[0] is first


def test_the_message_is_on_disk_before_the_engine_is_asked(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    seen: list[list[str]] = []
    ask = desktop.bridge.reply

    def reply(request: object) -> str:
        seen.append([m.content for m in desktop.store.branch(desktop.store.chats()[0].id)])
        return ask(request)  # type: ignore[arg-type]

    desktop.bridge.reply = reply  # type: ignore[method-assign]
    send(desktop, qtbot, "Important")
    assert seen == [["Important", ""]]
    finished(desktop, qtbot)


def test_a_long_reply_is_flushed_while_it_streams(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.pause = 0.05
    send(desktop, qtbot)
    chat = desktop.store.chats()[0].id
    qtbot.waitUntil(lambda: desktop.store.branch(chat)[1].content != "", timeout=3000)
    assert desktop.store.branch(chat)[1].state == "streaming"
    desktop.window.stop()
    finished(desktop, qtbot)
    assert desktop.store.branch(chat)[1].state == "stopped"


def test_escape_stops_and_keeps_what_was_written(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.pause = 0.02
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 20)
    desktop.window.actions_.by_id["stop"].trigger()
    finished(desktop, qtbot)
    reply = desktop.window.page.messages.widgets[-1]
    assert 20 < len(reply.message.content) < len(LONG)
    assert reply.footer_text.endswith("stopped")


def test_a_crash_keeps_the_partial_reply_and_one_click_restarts(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.crash_after = 10
    send(desktop, qtbot)
    finished(desktop, qtbot)
    window = desktop.window
    qtbot.waitUntil(lambda: window.status.lead == "Engine stopped")
    assert "The engine stopped unexpectedly" in window.page.notice.text
    assert "kept" in window.page.notice.text
    assert desktop.store.branch(desktop.store.chats()[0].id)[1].content == LONG[:40]
    loads = len(engine.loads)
    engine.crash_after = None
    qtbot.mouseClick(buttons(desktop)["Restart engine"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None, timeout=5000)
    assert len(engine.loads) == loads + 1
    assert engine.loads[-1].target == "big"
    window.conversation.regenerate()
    finished(desktop, qtbot)
    assert desktop.conversation.messages[-1].content == LONG
    assert desktop.conversation.place(desktop.conversation.messages[-1]) == (2, 2)


def test_a_request_error_says_what_and_keeps_the_text_on_disk(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.fail_reply = EngineError(
        ErrorCode.CONTEXT_FULL, "The conversation has 9,000 tokens, 808 more than the context of 8,192; shorten it."
    )
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert "808 more" in desktop.window.page.notice.text
    assert set(buttons(desktop)) == {"Engine settings", "New chat"}


def test_a_load_that_fails_says_so_and_can_be_cancelled(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.fail_load = EngineError(
        ErrorCode.OUT_OF_MEMORY, "The pair needs 9.1 GB, 6.0 GB are free; use a smaller one."
    )
    desktop.engine.reload()
    qtbot.waitUntil(lambda: "9.1 GB" in desktop.window.page.notice.text)
    assert desktop.engine.mode == "up"
    engine.fail_load = None
    engine.held = True
    desktop.engine.reload()
    qtbot.waitUntil(lambda: desktop.window.status.lead.startswith("Loading target"))
    desktop.window.status.cancelled.emit()
    assert desktop.engine.mode == "up"
    qtbot.waitUntil(lambda: bool(engine.cancelled))
    engine.held = False


def test_a_message_sent_while_loading_waits_for_the_model(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.held = True
    desktop.engine.reload()
    send(desktop, qtbot)
    qtbot.wait(100)
    assert engine.requests == []
    engine.held = False
    finished(desktop, qtbot)
    assert desktop.conversation.messages[-1].content == LONG


def test_the_switch_takes_effect_at_once_and_interrupts_nothing(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.pause = 0.01
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 20)
    desktop.window.top.switch.click()
    qtbot.waitUntil(lambda: not engine.now.speculation.enabled)
    assert desktop.conversation.running
    qtbot.waitUntil(lambda: desktop.window.status.lead == "Writing plain: speculation is off")
    engine.pause = 0
    finished(desktop, qtbot)
    assert desktop.conversation.messages[-1].content == LONG


@pytest.mark.parametrize(
    ("choice", "source", "enabled", "draft"),
    [
        (LOOKUP, "lookup", True, None),
        (NONE, "auto", False, None),
        ("other", "draft", True, "other"),
        (AUTOMATIC, "auto", True, None),
    ],
)
def test_draft_choices_mean_what_they_say(
    desktop: Desktop,
    engine: ScriptedEngine,
    qtbot: QtBot,
    choice: str,
    source: str,
    enabled: bool,
    draft: str | None,
) -> None:
    desktop.engine.choose_draft(choice)
    qtbot.waitUntil(lambda: (engine.now.draft.id if engine.now.draft else None) == draft)
    qtbot.waitUntil(lambda: engine.now.speculation.source == source)
    assert engine.now.speculation.enabled is enabled
    assert desktop.window.top.switch.isChecked() is enabled
    if choice == NONE:  # turning the switch on again needs something to speculate with
        desktop.window.top.switch.click()
        qtbot.waitUntil(lambda: engine.now.speculation.enabled)
        assert desktop.settings.now.draft == AUTOMATIC


def test_compare_shows_both_and_turns_the_estimate_into_a_measurement(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    desktop.window.actions_.by_id["compare"].trigger()
    assert desktop.window.stack.currentWidget() is desktop.comparing.view
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)
    view = desktop.comparing.view
    assert view.text.startswith("1.84× faster with speculation, texts identical")
    assert {pane.text for pane in view.panes.values()} == {LONG}
    desktop.window.actions_.by_id["stop"].trigger()
    assert desktop.window.stack.currentWidget() is desktop.window.page
    assert "= 1.84×" in desktop.window.page.messages.widgets[-1].footer_text
    desktop.store.flush()
    assert desktop.store.branch(desktop.store.chats()[0].id)[1].comparison is not None


def test_compare_explains_the_first_difference(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.difference = Difference(41, 11, " first", 12, " next", 0.02, 0.031, "The two were almost equally likely.")
    send(desktop, qtbot)
    finished(desktop, qtbot)
    desktop.window.compare()
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)
    said = desktop.comparing.view.text
    for pane, token in zip(desktop.comparing.view.panes.values(), (" first", " next"), strict=True):
        assert pane.difference is not None
        assert pane.difference.token == token
        assert pane.difference.before.endswith(engine.script[-20:])
    for part in (
        "texts differ",
        "token 42",
        "“ first” plain",
        "“ next” with speculation",
        "0.02",
        "0.031",
        "equally likely",
    ):
        assert part in said


def test_rename_delete_and_undo(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot, "A question about tea")
    finished(desktop, qtbot)
    window = desktop.window
    assert window.windowTitle() == "A question about tea – Tandem"
    window.sidebar.rename_current()
    editor = window.sidebar.list.findChild(QLineEdit)
    assert editor is not None
    editor.setText("Tea")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [c.title for c in desktop.store.chats()] == ["Tea"])
    window.sidebar.delete_current()
    assert desktop.store.chats() == []
    assert window.toast.isVisible()
    assert desktop.conversation.messages == []
    window.actions_.by_id["undo_delete"].trigger()
    assert [c.title for c in desktop.store.chats()] == ["Tea"]
    assert [m.content for m in desktop.conversation.messages] == ["A question about tea", LONG]


def test_another_chat_can_be_read_while_a_reply_streams(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    send(desktop, qtbot, "one")
    finished(desktop, qtbot)
    first = desktop.store.chats()[0].id
    desktop.window.new_chat()
    engine.pause = 0.005
    send(desktop, qtbot, "two")
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 20)
    second = desktop.conversation.chat
    assert second is not None
    desktop.window.open_chat(first)
    assert desktop.conversation.running
    assert desktop.conversation.messages[-1].content == LONG
    desktop.window.open_chat(second.id)
    assert desktop.conversation.messages[-1].state == "streaming"
    engine.pause = 0
    finished(desktop, qtbot)
    assert desktop.window.page.messages.widgets[-1].message.content == LONG


@pytest.mark.parametrize("kind", ["image", "picture file"])
def test_pictures_get_one_sentence(desktop: Desktop, kind: str, tmp_path: Path, qtbot: QtBot) -> None:
    data = QMimeData()
    picture = QImage(4, 4, QImage.Format.Format_RGB32)
    if kind == "image":
        data.setImageData(picture)
    else:
        picture.save(str(tmp_path / "x.png"))
        data.setUrls([QUrl.fromLocalFile(str(tmp_path / "x.png"))])
    edit = desktop.window.page.composer.edit
    edit.setPlainText("kept")
    edit.insertFromMimeData(data)
    qtbot.waitUntil(lambda: "pictures yet" in desktop.window.page.notice.text)
    assert edit.toPlainText() == "kept"


def test_an_empty_message_is_not_sent(desktop: Desktop, qtbot: QtBot) -> None:
    desktop.window.page.composer.set_text("  \n ")
    desktop.window.page.composer.submit()
    assert not desktop.conversation.running
    assert desktop.store.chats() == []
    assert "nothing to send" in desktop.window.page.notice.text


def test_the_reader_is_not_pulled_to_the_end(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.script = "A line of text.\n\n" * 200
    send(desktop, qtbot)
    view = desktop.window.page.messages
    qtbot.waitUntil(lambda: view.verticalScrollBar().maximum() > 200, timeout=10_000)
    assert view.following
    view.verticalScrollBar().setValue(0)
    finished(desktop, qtbot)
    qtbot.wait(50)
    assert view.verticalScrollBar().value() == 0
    assert view.jump.isVisible()
    qtbot.mouseClick(view.jump, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.verticalScrollBar().value() == view.verticalScrollBar().maximum())
    assert view.following


def test_tokens_are_counted_while_writing_and_only_then(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    composer = desktop.window.page.composer
    composer.set_text("three small words")
    qtbot.waitUntil(lambda: composer._count.text() == "3 tok", timeout=3000)
    assert "if this message were sent" in composer._count.toolTip()
    composer.set_text("")
    assert composer._count.text() == ""
    engine.held = True
    send(desktop, qtbot, "one two")
    composer.set_text("three small words")
    qtbot.wait(500)  # longer than the pause after which it is counted
    assert composer._count.text() == ""
    engine.held = False
    finished(desktop, qtbot)
    said = len(LONG.split()) + 5
    qtbot.waitUntil(lambda: composer._count.text() == f"{said} tok", timeout=3000)
    composer.set_text("")
    qtbot.wait(500)
    assert composer._count.text() == "", "what was said is no message to be"


def test_chat_settings_reach_the_request_and_the_store(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    desktop.window.edit_chat_settings()
    dialog = desktop.window.findChild(QDialog)
    assert dialog is not None
    dialog.system.take("Be brief.")  # type: ignore[attr-defined]
    for field, text in ((dialog.fields["temperature"], "0"), (dialog.seed, "42"), (dialog.longest, "16")):  # type: ignore[attr-defined]
        field.edit.setFocus()
        qtbot.keyClicks(field.edit, text)
    dialog.accept()
    send(desktop, qtbot)
    finished(desktop, qtbot)
    request = engine.requests[-1]
    assert [m.role for m in request.messages] == ["system", "user"]
    assert (request.sampling.temperature, request.sampling.seed, request.max_tokens) == (0.0, 42, 16)
    assert desktop.store.chats()[0].settings["system_prompt"] == "Be brief."


def test_shortcuts_are_unique_and_all_do_something(desktop: Desktop) -> None:
    used = [keys(s).toString() for s in SHORTCUTS]
    assert len(set(used)) == len(used)
    assert all(used)
    assert set(desktop.window.actions_.by_id) == {s.id for s in SHORTCUTS}
    desktop.window.actions_.by_id["shortcuts"].trigger()
    assert desktop.window.findChild(QDialog) is not None


@pytest.mark.parametrize("size", [(480, 360), (1100, 760)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_small_windows_in_both_themes(
    desktop: Desktop, qtbot: QtBot, size: tuple[int, int], theme: str
) -> None:
    desktop.theme.choose(theme)  # type: ignore[arg-type]
    window = desktop.window
    window.resize(*size)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    qtbot.wait(30)
    assert (window.width(), window.height()) == size
    composer = window.page.composer
    assert composer.mapTo(window, composer.rect().bottomRight()).x() < window.width()
    assert composer.height() > composer.fontMetrics().height() * 2
    assert window.sidebar.isVisible() is (size[0] > 760)


def longest_turn(desktop: Desktop, qtbot: QtBot) -> float:
    """Of the event loop while a reply streams, in seconds."""
    from PySide6.QtCore import QTimer

    longest, last = 0.0, time.monotonic()

    def beat() -> None:
        nonlocal longest, last
        now = time.monotonic()
        longest, last = max(longest, now - last), now

    timer = QTimer(interval=1)
    timer.timeout.connect(beat)
    send(desktop, qtbot)
    last = time.monotonic()
    timer.start()
    qtbot.waitUntil(lambda: not desktop.conversation.running, timeout=30_000)
    timer.stop()
    return longest


@pytest.mark.alone
def test_the_ui_thread_is_never_blocked_while_streaming(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    """Twenty thousand characters in a burst: no turn of the event loop takes longer than a quarter of a second.

    What blocks it does so each time; another program that has the processor for a moment does not.
    """
    engine.script = LONG * 14
    turns = []
    for _ in range(3):
        desktop.window.new_chat()
        turns.append(longest_turn(desktop, qtbot))
        assert desktop.conversation.messages[-1].content == engine.script
    assert min(turns) < 0.25


def test_no_thread_is_left_behind(make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    before = set(threading.enumerate())
    made = make_desktop(engine)
    made.bridge.start()
    qtbot.waitUntil(lambda: made.engine.mode == "up")
    made.close()
    assert {t.name for t in set(threading.enumerate()) - before} == set()


def test_a_key_press_event_reaches_messages(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    asked, reply = desktop.window.page.messages.widgets
    reply.setFocus()
    QApplication.sendEvent(reply, QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Up, Qt.KeyboardModifier.NoModifier))
    assert asked.hasFocus()
    assert asked.accessibleName().startswith("You: Write it")
