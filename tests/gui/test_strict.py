"""Exact texts: the setting is remembered, brings its library along, and the status bar says what it comes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.views.chat_settings import ChatSettingsDialog
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

MINUTE = 60_000
Start = Callable[[], Desktop]


def switch(desktop: Desktop, qtbot: QtBot) -> None:
    """Click the switch in the chat settings."""
    desktop.window.edit_chat_settings()
    dialog = desktop.window.findChild(ChatSettingsDialog)
    assert dialog is not None
    dialog.strict.click()
    dialog.accept()
    qtbot.waitUntil(lambda: desktop.window.findChild(ChatSettingsDialog) is None)


def beside(desktop: Desktop) -> str:
    """What stands beside the figures."""
    label = desktop.window._parts[0]._exact  # type: ignore[union-attr]
    return label.text() if label.isVisible() else ""


def test_the_real_thing(real: Start, exact_library: Path, qtbot: QtBot) -> None:
    desktop = real()
    ordinary = desktop.engine.state.engine
    assert desktop.engine.state.exact_rows is None
    assert beside(desktop) == ""
    switch(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.engine.state.exact_rows is not None and not desktop.engine.busy, timeout=MINUTE)
    state = desktop.engine.state
    assert "LLAMAFILE" not in state.engine
    assert state.exact_rows == 16, "on that library every size is exact"
    assert (state.target and state.target.id, state.draft and state.draft.id) == ("target", "near")
    assert state.speculation.source == "draft", "another worker is told the settings too"
    assert beside(desktop) == "texts exact"
    send(desktop, qtbot)
    finished(desktop, qtbot, MINUTE)
    assert desktop.conversation.messages[-1].state == "complete"
    desktop.window.top.switch.click()
    qtbot.waitUntil(lambda: beside(desktop) == "")
    desktop.window.close()
    desktop.close()

    again = real()
    assert again.settings.now.load.strict
    assert again.engine.state.exact_rows == 16
    assert "LLAMAFILE" not in again.engine.state.engine
    switch(again, qtbot)
    qtbot.waitUntil(lambda: again.engine.state.exact_rows is None and used(again), timeout=MINUTE)
    assert again.engine.state.engine == ordinary


def used(desktop: Desktop) -> bool:
    return desktop.engine.state.draft is not None and not desktop.engine.busy


@pytest.mark.parametrize("there", [True, False])
def test_the_library_takes_another_worker_once_the_reply_is_over(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    monkeypatch.setattr("desktop.jobs.exact_library", lambda: Path("lib") if there else None)
    engine.held = True
    send(desktop, qtbot)
    switch(desktop, qtbot)
    assert desktop.engine.mode == "loading"
    assert engine.closed == 0
    engine.held = False
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    assert (reply.state, reply.content) == ("complete", engine.script)
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and used(desktop))
    assert engine.loads[-1].options.strict
    assert engine.closed == int(there), "without the library the ordinary one does"


def test_giving_up_and_switching_back_at_once_leaves_one_worker_of_the_right_kind(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.jobs.exact_library", lambda: Path("lib"))
    made: list[bool] = []
    desktop.bridge._jobs._make_client = lambda exact: made.append(exact) or engine  # type: ignore[func-returns-value]
    switch(desktop, qtbot)
    qtbot.waitUntil(lambda: engine.closed == 1)
    desktop.engine.cancel_load()
    switch(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" or not desktop.engine.busy)
    desktop.engine.choose_target("big")
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and used(desktop))
    assert not engine.loads[-1].options.strict
    assert made[-1] is False
    assert engine.closed == len(made)


def test_where_only_single_tokens_are_exact_it_is_said(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    status = desktop.window.status
    engine.publish(exact_rows=3)
    qtbot.waitUntil(lambda: beside(desktop) == "texts exact")
    engine.publish(exact_rows=1)
    qtbot.waitUntil(lambda: status.lead == "Ready, plain: only one-token passes are exact")
    assert beside(desktop) == ""
    engine.held = True
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: status.lead == "Writing plain: only one-token passes are exact")
    engine.held = False
    finished(desktop, qtbot)
