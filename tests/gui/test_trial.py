"""Trying drafts on the chats: with real workers what comes out, with a scripted one every way it can be crossed."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidgetItem
from pytestqt.qtbot import QtBot

from backend.bench.tune import CHAT_TOKENS
from backend.forecast import Forecast
from backend.protocol import ModelInfo
from desktop.models.choices import TRY_DRAFTS
from desktop.start import Desktop
from desktop.store import NewChat
from desktop.views.trial import TrialDialog
from tests.gui.person import finished, pick, send
from tests.gui.scripted import ScriptedEngine
from tests.gui.test_loading import fits

MINUTE = 60_000
Start = Callable[[], Desktop]


def keep(desktop: Desktop, tokens: int, each: int = 100) -> None:
    """Replies of the loaded target in the store, so many tokens in all."""
    target = desktop.engine.state.target
    assert isinstance(target, ModelInfo)
    for at in range(0, tokens, each):
        _, _, reply = desktop.store.add_turn(NewChat("Hi"), None, "Hi", target=target.id).result()
        ids = [(7 * i + at) % 300 + 5 for i in range(min(each, tokens - at))]
        desktop.store.update_message(reply.id, ids=ids, tokenizer=target.tokenizer, content="…", state="complete")
    desktop.store.flush()


def opened(desktop: Desktop, qtbot: QtBot) -> TrialDialog:
    """Choose the row in the draft list, as a person does."""
    qtbot.waitUntil(lambda: any(row.value == TRY_DRAFTS for row in desktop.window.top.draft.rows), timeout=MINUTE)
    pick(desktop.window.top.draft, TRY_DRAFTS, qtbot)
    dialog = desktop.window.trying.dialog
    assert dialog is not None
    return dialog


def cells(dialog: TrialDialog) -> list[list[str]]:
    def text(item: QTableWidgetItem | None) -> str:
        assert item is not None
        return item.text()

    rows, columns = dialog.table.rowCount(), dialog.table.columnCount()
    return [[text(dialog.table.item(row, column)) for column in range(columns)] for row in range(rows)]


def used(desktop: Desktop) -> str | None:
    draft = desktop.engine.state.draft
    return draft.id if draft is not None and not desktop.engine.busy else None


def test_drafts_are_judged_and_another_one_is_used(real: Start, qtbot: QtBot) -> None:
    desktop = real()
    keep(desktop, CHAT_TOKENS + 300)
    dialog = opened(desktop, qtbot)
    assert desktop.window.top.draft.value == "near", "the list names the chosen draft, not the entry"
    qtbot.waitUntil(lambda: desktop.window.trying.trial.phase == "done", timeout=MINUTE)
    assert f"{CHAT_TOKENS:,} tokens of 20 replies" in dialog.text
    near, other = cells(dialog)
    assert "(in use)" in near[0]
    assert "(in use)" not in other[0]
    assert all("%" in row[1] for row in (near, other))
    found = {one.draft: one for one in desktop.window.trying.trial.found if isinstance(one, Forecast)}
    assert set(found) == {"near", "other"}
    dialog.table.selectRow(0)
    assert not dialog.use.isEnabled()
    dialog.table.selectRow(1)
    assert dialog.chosen == "other"
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: used(desktop) == "other", timeout=MINUTE)
    assert desktop.settings.now.draft == desktop.window.top.draft.value == "other"
    assert desktop.window.trying.dialog is None
    send(desktop, qtbot)
    finished(desktop, qtbot, MINUTE)
    assert desktop.conversation.messages[-1].state == "complete"


@pytest.mark.parametrize("late", [False, True])
def test_whoever_leaves_has_the_draft_from_before(real: Start, qtbot: QtBot, late: bool) -> None:
    desktop = real()
    keep(desktop, CHAT_TOKENS)
    dialog = opened(desktop, qtbot)
    trial = desktop.window.trying.trial
    if late:
        qtbot.waitUntil(lambda: trial.phase == "done", timeout=MINUTE)
        assert desktop.engine.state.draft is not None
        assert desktop.engine.state.draft.id == "other", "what was tried last"
    else:
        qtbot.waitUntil(lambda: trial.progress is not None and trial.progress.number == 2, timeout=MINUTE)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert trial.phase == "idle", "at once"
    assert desktop.window.trying.dialog is None
    qtbot.waitUntil(lambda: used(desktop) == "near", timeout=MINUTE)
    assert desktop.settings.now.draft == "near"
    assert not desktop.window.page.notice.isVisible()
    send(desktop, qtbot)
    finished(desktop, qtbot, MINUTE)
    assert desktop.conversation.messages[-1].draft == "near"


def test_too_few_replies_are_said_and_nothing_is_loaded(real: Start, qtbot: QtBot) -> None:
    desktop = real()
    keep(desktop, 60)
    dialog = opened(desktop, qtbot)
    qtbot.waitUntil(lambda: "Too few replies yet" in dialog.text, timeout=MINUTE)
    assert "Only 60 tokens of replies by target" in dialog.text
    assert not dialog.use.isVisible()
    assert not desktop.engine.busy, "the draft was not touched"
    dialog.reject()
    assert used(desktop) == "near"


# -- every way it can be crossed


@pytest.fixture
def desktop(desktop: Desktop, qtbot: QtBot) -> Desktop:
    choices = [fits("small"), fits("tiny"), SimpleNamespace(**vars(fits("warned")) | {"ready": False})]
    desktop.shelf.ask_drafts = lambda target: desktop.shelf.drafts.emit(target, choices)  # type: ignore[method-assign]
    desktop.engine.refresh_drafts()
    keep(desktop, 400)
    return desktop


def running(desktop: Desktop) -> bool:
    return desktop.window.trying.trial.phase == "running"


def test_what_is_written_meanwhile_is_answered_afterwards(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.held = True
    dialog = opened(desktop, qtbot)
    qtbot.waitUntil(lambda: running(desktop) and desktop.window.status.lead == "Trying drafts on your chats")
    assert desktop.conversation.send("Hello")
    engine.held = False
    qtbot.waitUntil(lambda: desktop.window.trying.trial.phase == "done")
    assert engine.swaps == ["small", "tiny"], "all are measured alike, and those with a warning are not tried"
    assert engine.requests == []
    dialog.reject()
    finished(desktop, qtbot)
    assert len(engine.requests) == 1
    assert engine.swaps == ["small", "tiny", "small"]


def test_it_begins_when_the_reply_is_over(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.held = True
    send(desktop, qtbot)
    dialog = opened(desktop, qtbot)
    assert "begins after it" in dialog.text
    assert not running(desktop)
    engine.held = False
    qtbot.waitUntil(lambda: desktop.window.trying.trial.phase == "done", timeout=10_000)
    assert desktop.conversation.messages[-1].state == "complete"
    dialog.reject()


def test_another_target_ends_it(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.held = True
    dialog = opened(desktop, qtbot)
    qtbot.waitUntil(lambda: running(desktop))
    desktop.engine.choose_target("larger")  # a download has ended
    engine.held = False
    assert "being exchanged" in dialog.text
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.target == "larger")
    dialog.reject()
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert desktop.conversation.messages[-1].target == "larger"


def test_an_engine_that_ends_is_said(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.held = True
    dialog = opened(desktop, qtbot)
    qtbot.waitUntil(lambda: running(desktop))
    engine.die()
    qtbot.waitUntil(lambda: desktop.engine.mode == "lost")
    qtbot.waitUntil(lambda: "were not tried" in dialog.text)
    dialog.reject()
    engine.held = False
    desktop.engine.restart()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and used(desktop) == "small")


def test_an_engine_that_ends_afterwards_leaves_what_was_found(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    dialog = opened(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.window.trying.trial.phase == "done")
    verdict = dialog._heading.text()
    engine.die()
    qtbot.waitUntil(lambda: "the engine stopped" in dialog.text)
    assert dialog._heading.text() == verdict
    assert dialog.table.isVisible()
    assert not dialog.use.isVisible(), "there is no engine to use it"
    dialog.reject()


def test_without_drafts_there_is_no_such_entry(desktop: Desktop) -> None:
    desktop.shelf.ask_drafts = lambda target: desktop.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    desktop.engine.refresh_drafts()
    assert TRY_DRAFTS not in [row.value for row in desktop.window.top.draft.rows]
