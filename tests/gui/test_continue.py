"""A reply goes on where it was cut off, in the same message; whatever happens, nothing of what was there is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from desktop.start import Desktop
from desktop.store import Message, Store
from desktop.widgets.message import MessageWidget
from tests.gui.faults import buttons, try_again
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import LONG, ScriptedEngine, model
from tests.gui.test_rewriting import button

CUT = LONG[:48]


def last(desktop: Desktop) -> MessageWidget:
    return desktop.window.page.messages.widgets[-1]


def said(desktop: Desktop) -> Message:
    return desktop.conversation.messages[-1]


def on_disk(desktop: Desktop) -> Message:
    desktop.store.flush()
    return desktop.store.branch(desktop.conversation.messages[0].chat)[-1]


def offered(widget: MessageWidget) -> bool:
    return button(widget, "Continue").isVisibleTo(widget)


def go_on(desktop: Desktop, qtbot: QtBot) -> None:
    qtbot.mouseClick(button(last(desktop), "Continue"), Qt.MouseButton.LeftButton)


@pytest.fixture
def stopped(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> Desktop:
    """A chat whose last reply was cut off."""
    engine.script = CUT
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = said(desktop)
    desktop.store.update_message(reply.id, state="stopped", finish="cancelled").result()
    desktop.window.new_chat()
    desktop.window.open_chat(reply.chat)
    engine.script = LONG
    return desktop


def test_the_text_grows_in_the_same_message(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    before = said(stopped)
    assert last(stopped).footer_text.endswith("12 tokens · stopped")
    go_on(stopped, qtbot)
    finished(stopped, qtbot)
    after = said(stopped)
    assert (after.id, after.content, after.state, after.finish) == (before.id, LONG, "complete", "stop")
    assert on_disk(stopped) == after
    assert len(stopped.store.messages(before.chat)) == 2
    assert after.parts[0] | {"ids": 12, "bytes": 48} == after.parts[0]
    assert after.parts[0]["timings"] == before.timings
    assert after.timings is not None
    assert after.timings["predicted_n"] == len(after.ids or ()) - 12
    assert last(stopped).footer_text.startswith("continued · last part: 41.2 tok/s")
    assert not offered(last(stopped))
    asked = engine.requests[-1]
    assert asked.continue_final_message
    assert (asked.messages[-1].role, asked.messages[-1].content) == ("assistant", CUT)
    assert asked.sampling.seed == 7


def test_it_is_found_by_words_of_both_parts(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    stopped.window.actions_.by_id["continue"].trigger()
    finished(stopped, qtbot)
    seam = LONG[40:60].split()[1]
    for words in ("First words", "follow here", seam):
        (hit,) = stopped.store.search(words)
        assert hit.message == said(stopped).id


@pytest.mark.parametrize(
    ("fields", "is_offered"),
    [
        ({"state": "complete", "finish": "stop"}, False),
        ({"state": "complete", "finish": "length"}, True),
        ({"state": "failed", "finish": None}, True),
        ({"state": "stopped", "finish": None}, True),
        ({"state": "stopped", "finish": "cancelled", "content": ""}, False),
    ],
)
def test_where_it_is_offered(stopped: Desktop, qtbot: QtBot, fields: dict[str, Any], is_offered: bool) -> None:
    stopped.store.update_message(said(stopped).id, **fields).result()
    stopped.window.new_chat()
    stopped.window.open_chat(stopped.store.chats()[0].id)
    assert offered(last(stopped)) is is_offered
    assert "Ctrl+Shift+R" in button(last(stopped), "Continue").toolTip()
    if not is_offered:
        stopped.window.actions_.by_id["continue"].trigger()
        assert not stopped.conversation.running
        assert "nothing to continue" in stopped.window.page.notice.text


def test_only_the_last_reply_goes_on(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    first = last(stopped)
    reply = said(stopped)
    assert offered(first)
    send(stopped, qtbot, "two")
    finished(stopped, qtbot)
    assert not offered(first)
    stopped.conversation.go_on(reply)
    assert "nothing to continue" in stopped.window.page.notice.text
    assert not stopped.conversation.running


@pytest.mark.parametrize("code", [ErrorCode.CONTEXT_FULL, ErrorCode.WORKER_GONE, ErrorCode.BAD_REQUEST])
def test_what_fails_before_a_word_changes_nothing(
    stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot, code: ErrorCode
) -> None:
    before = said(stopped)
    engine.fail_reply = EngineError(code, "The conversation is 8,193 tokens long, 1 more than fit.")
    go_on(stopped, qtbot)
    finished(stopped, qtbot)
    assert "1 more than fit" in stopped.window.page.notice.text
    assert said(stopped) == on_disk(stopped) == before
    assert offered(last(stopped))
    if code is ErrorCode.CONTEXT_FULL:
        assert "New chat" in buttons(stopped)


def test_the_engine_ends_in_the_middle(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.crash_after = 3
    go_on(stopped, qtbot)
    finished(stopped, qtbot)
    failed = said(stopped)
    assert (failed.content, failed.state) == (LONG[:60], "failed")
    assert on_disk(stopped) == failed
    assert len(failed.ids or ()) == 15, "by what came of the tokens"
    assert "kept" in stopped.window.page.notice.text
    engine.crash_after = None
    stopped.engine.restart()
    qtbot.waitUntil(lambda: stopped.engine.mode == "up")
    go_on(stopped, qtbot)
    finished(stopped, qtbot)
    assert said(stopped).content == LONG
    assert [part["bytes"] for part in said(stopped).parts] == [48, 60]


def test_a_reply_that_broke_off_goes_on_under_its_seed(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    """It is drawn here and written first: the engine tells it only at a reply's end."""
    engine.script, engine.crash_after = LONG, 3
    send(desktop, qtbot)
    finished(desktop, qtbot)
    broken = on_disk(desktop)
    assert (broken.state, broken.finish) == ("failed", None)
    assert broken.seed is not None
    engine.crash_after = None
    desktop.engine.restart()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")
    go_on(desktop, qtbot)
    finished(desktop, qtbot)
    first, more = (request.sampling.seed for request in engine.requests[-2:])
    assert first == more == broken.seed
    desktop.conversation.regenerate()
    finished(desktop, qtbot)
    assert engine.requests[-1].sampling.seed not in (None, broken.seed), "another answer, another seed"


def test_a_model_that_has_nothing_to_add(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.script = CUT
    before = said(stopped)
    go_on(stopped, qtbot)
    finished(stopped, qtbot)
    assert said(stopped) == on_disk(stopped) == replace(before, state="complete", finish="stop")
    assert "added nothing" in stopped.window.page.notice.text
    assert not offered(last(stopped))


def test_stopped_before_a_word_it_is_as_it_was(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    before = said(stopped)
    engine.held = True
    go_on(stopped, qtbot)
    qtbot.waitUntil(lambda: stopped.conversation.running)
    assert said(stopped).state == "streaming"
    assert on_disk(stopped) == before, "nothing is written before there is more"
    stopped.window.stop()
    qtbot.waitUntil(lambda: bool(engine.cancelled))
    engine.held = False
    finished(stopped, qtbot)
    assert said(stopped) == on_disk(stopped) == before


def test_without_a_model_it_waits_for_one(make_desktop: MakeDesktop, stopped: Desktop, qtbot: QtBot) -> None:
    before = said(stopped)
    stopped.window.close()
    stopped.close()
    engine = ScriptedEngine(LONG)
    again = make_desktop(engine)
    again.shelf.ask_drafts = lambda target: again.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    again.engine.start(load=False)
    again.window.open_chat(before.chat)
    go_on(again, qtbot)
    assert "No model is loaded" in again.window.page.notice.text
    again.window.stop()
    finished(again, qtbot)
    assert said(again) == before
    go_on(again, qtbot)
    assert again.conversation.running
    again.engine.choose_target("another")
    finished(again, qtbot)
    after = said(again)
    assert (after.content, after.target, after.parts[0]["target"]) == (LONG, "another", "big")
    assert last(again).footer_text.startswith("begun by big, continued by another · last part: ")
    assert last(again)._by.text() == "another"


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[Any]:
    """Opens a copy of the database as it is at this moment: what a crash would leave."""
    opened: list[Store] = []

    def restart(desktop: Desktop) -> Store:
        with sqlite3.connect(desktop.store.path) as db:
            db.execute("VACUUM INTO ?", (str(tmp_path / "crashed.sqlite"),))
        db.close()
        opened.append(Store(tmp_path / "crashed.sqlite"))
        return opened[-1]

    yield restart
    for store in opened:
        store.close()


def test_a_crash_in_the_middle_loses_nothing(
    stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot, restarted: Any
) -> None:
    before = said(stopped)
    engine.pause = 0.01
    go_on(stopped, qtbot)
    qtbot.waitUntil(lambda: len(on_disk(stopped).content) > len(CUT), timeout=10_000)
    store = restarted(stopped)
    left = store.branch(before.chat)[-1]
    assert left.content.startswith(CUT)
    assert LONG.startswith(left.content)
    assert (left.state, left.finish, left.seed) == ("stopped", None, 7)
    assert left.parts[0]["timings"] == before.timings
    assert [hit.message for hit in store.search("First words")] == [left.id]
    stopped.conversation.stop()
    finished(stopped, qtbot)


def test_another_draft_and_other_settings(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    """It goes on under its own settings, but for the limit; who drafted each part is kept."""
    conversation = stopped.conversation
    stopped.engine.choose_draft("other")
    qtbot.waitUntil(lambda: stopped.engine.state.draft == model("other"))
    changed = {"system_prompt": "Shout.", "max_tokens": 700}
    conversation.set_chat_settings(conversation.chat_settings.model_copy(update=changed))
    go_on(stopped, qtbot)
    finished(stopped, qtbot)
    asked = engine.requests[-1]
    assert [m.role for m in asked.messages] == ["user", "assistant"]
    assert asked.max_tokens == 700
    after = said(stopped)
    assert (after.settings["system_prompt"], after.settings["max_tokens"]) == ("", 700)
    assert (after.parts[0]["draft"], after.draft) == ("small", "other")


def test_asked_for_twice_it_goes_on_once(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    for _ in range(2):
        stopped.window.actions_.by_id["continue"].trigger()
    finished(stopped, qtbot)
    assert stopped.window.page.notice.text == ""
    assert len(engine.requests) == 2


def test_while_another_reply_is_written_it_waits(stopped: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    here = said(stopped)
    stopped.window.new_chat()
    engine.held = True
    send(stopped, qtbot, "elsewhere")
    stopped.window.open_chat(here.chat)
    go_on(stopped, qtbot)
    assert "being written" in stopped.window.page.notice.text
    assert said(stopped) == here
    engine.held = False
    finished(stopped, qtbot)
    try_again(stopped, qtbot)
    finished(stopped, qtbot)
    assert said(stopped).content == LONG
