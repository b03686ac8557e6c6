"""A benchmark with an engine that the test decides: every way in which it can be crossed, and bad input."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from backend.documents import Attachment, asked
from backend.errors import EngineError, ErrorCode
from desktop.start import Desktop
from desktop.views.benchmark_options import CHAT, FILE
from tests.gui.measuring import MINUTE, begin, choose_file, opened, over, process
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

WARM = 3
"""Replies before the first that counts: one a mode."""


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("A few words.", pause=0.001)


def test_what_is_written_meanwhile_is_answered_afterwards(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.held = True
    dialog = opened(desktop)
    begin(dialog, qtbot)
    qtbot.waitUntil(lambda: process(desktop).phase == "warming")
    assert "messages wait" in desktop.window.status.lead
    assert desktop.conversation.send("Hello")
    engine.held = False
    over(desktop, qtbot)
    finished(desktop, qtbot)
    assert len(engine.requests) == WARM + 9 + 1
    assert engine.requests[-1].messages[-1].content == "Hello"
    assert engine.swaps == []


def test_it_begins_when_the_reply_is_over(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.held = True
    send(desktop, qtbot)
    dialog = opened(desktop)
    begin(dialog, qtbot)
    assert "this comes after it" in dialog.text
    assert process(desktop).phase == "waiting"
    engine.held = False
    over(desktop, qtbot)
    assert len(process(desktop).runs) == 9


def test_another_choice_of_models_ends_it_and_takes_effect(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    dialog = opened(desktop)
    engine.hold_after = WARM + 4
    begin(dialog, qtbot)
    qtbot.waitUntil(lambda: len(process(desktop).runs) == 4)
    desktop.engine.choose_draft("none")
    assert "It ended after" in dialog.text
    assert "Other models were chosen meanwhile" in dialog.text
    engine.held = False
    qtbot.waitUntil(lambda: desktop.engine.state.draft is None and not desktop.engine.busy)
    assert dialog.table.rowCount() > 0


def test_an_engine_that_dies_midway_leaves_what_was_measured(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    dialog = opened(desktop)
    engine.hold_after = WARM + 4
    begin(dialog, qtbot)
    qtbot.waitUntil(lambda: len(process(desktop).runs) == 4)
    engine.die()
    over(desktop, qtbot)
    assert process(desktop).error is not None
    assert "It ended after" in dialog.text
    assert "The engine stopped" in dialog.text
    assert dialog.table.rowCount() > 0
    assert dialog.copy.isVisible()
    engine.held = False
    desktop.engine.restart()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None)
    qtbot.mouseClick(dialog.anew, Qt.MouseButton.LeftButton)
    begin(dialog, qtbot)
    over(desktop, qtbot)
    assert len(process(desktop).runs) == 9


def test_a_reply_that_fails_names_its_prompt(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.fail_reply = EngineError(ErrorCode.CONTEXT_FULL, "The prompt has 9,000 tokens, the context 8,192.")
    dialog = opened(desktop)
    begin(dialog, qtbot)
    over(desktop, qtbot)
    assert "before the first reply was measured" in dialog.text
    assert "prompt async: The prompt has 9,000 tokens" in dialog.text
    assert not dialog.save.isVisible(), "there is nothing to save"


def test_the_window_closes_while_it_runs(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.held = True
    dialog = opened(desktop)
    begin(dialog, qtbot)
    desktop.window.close()
    assert process(desktop).phase == "over"
    assert not dialog.isVisible()
    engine.held = False


def test_without_a_model_it_says_so(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    dialog = opened(desktop)
    assert dialog.start.isEnabled()
    engine.publish(phase="idle", target=None, draft=None)
    qtbot.waitUntil(lambda: "No model is loaded" in dialog.text)
    assert not dialog.start.isEnabled()


def test_prompts_of_the_chat_and_of_a_file(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = opened(desktop)
    options = dialog.options
    options.source.setCurrentIndex(options.source.findData(CHAT))
    assert "no question yet" in dialog.text
    assert not dialog.start.isEnabled()
    send(desktop, qtbot, "What is tea?")
    finished(desktop, qtbot)
    assert "1 prompt, 3 replies" in dialog.text
    series = options.series
    assert series is not None
    assert [(p.id, p.text) for p in series.prompts] == [("question 1", "What is tea?")]
    options.source.setCurrentIndex(options.source.findData(FILE))
    assert "JSON Lines" in dialog.text
    bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
    bad.write_text('{"prompt": "x"}\n{"prompt": ""}\n')
    good.write_text('{"id": "a", "prompt": "x"}\n{"id": "b", "prompt": "y"}\n')
    unnamed = (tmp_path / "a\0b", "no file can have that name")
    for path, said in ((bad, f"Line 2 of {bad} cannot be used"), unnamed, (good, "2 prompts, 6 replies")):
        choose_file(dialog, path, qtbot)
        assert said in dialog.text
    assert process(desktop).phase == "idle", "Enter in the field reads the file and begins nothing"
    begin(dialog, qtbot)
    over(desktop, qtbot)
    report = process(desktop).report
    assert report is not None
    assert report.options["prompts"] == "good.jsonl"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    dialog = opened(desktop)
    choose_file(dialog, tmp_path / "pipe.jsonl", qtbot)
    assert "a device or a pipe" in dialog.text
    assert not dialog.start.isEnabled()


def test_a_question_of_the_chat_has_its_files(desktop: Desktop, qtbot: QtBot) -> None:
    note = Attachment("note.txt", "", "The lamp is lit.", 16)
    desktop.conversation.send("When?", attachments=[note])
    finished(desktop, qtbot)
    dialog = opened(desktop)
    dialog.options.source.setCurrentIndex(dialog.options.source.findData(CHAT))
    series = dialog.options.series
    assert series is not None
    assert [prompt.text for prompt in series.prompts] == [asked("When?", [note])]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no full disk here")
def test_a_full_disk_is_said(desktop: Desktop, qtbot: QtBot) -> None:
    dialog = opened(desktop)
    begin(dialog, qtbot)
    over(desktop, qtbot)
    for figures in (True, False):
        dialog.say("")
        desktop.window.benchmarking.save_to(Path("/dev/full"), figures=figures)
        qtbot.waitUntil(lambda: "cannot be written (No space left on device)" in dialog.text, timeout=MINUTE)
