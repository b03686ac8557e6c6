"""Thinking whose opening tag is the template's: on screen, copied, exported, stopped and gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from desktop.models.thinking import opened
from desktop.start import Desktop
from desktop.widgets.blocks import Thinking
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

SAID = "Let me see, step by step. It is even.\n</think>\n\nFour."


@pytest.fixture
def engine() -> ScriptedEngine:
    made = ScriptedEngine(SAID)
    made.thinking = True
    return made


def kinds(desktop: Desktop) -> list[bool]:
    """Of the last message's blocks, whether they are thinking."""
    return [isinstance(w, Thinking) for w in desktop.window.page.messages.widgets[-1].blocks.widgets]


def exported(desktop: Desktop, qtbot: QtBot, path: Path) -> str:
    chat = desktop.conversation.chat
    assert chat is not None
    desktop.window.exchange.export_to(path, [chat], readable=True)
    qtbot.waitUntil(path.exists)
    return path.read_text("utf-8")


def test_a_whole_reply(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    send(desktop, qtbot, "Two and two?")
    finished(desktop, qtbot)
    assert kinds(desktop) == [True, False]
    desktop.window.page.messages.widgets[-1].copy()
    assert QGuiApplication.clipboard().text() == "Four."
    text = exported(desktop, qtbot, tmp_path / "chat.md")
    assert "> Let me see, step by step. It is even.\n\nFour." in text
    assert "</think>" not in text
    assert opened(desktop.store.branch(desktop.conversation.messages[-1].chat)[-1]), "it is on disk"


def test_one_that_is_cut_off_is_thinking_and_goes_on_as_that(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    engine.pause = 0.02
    send(desktop, qtbot, "Two and two?")
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 8)
    assert kinds(desktop) == [True]
    desktop.conversation.stop()
    finished(desktop, qtbot)
    assert "</think>" not in desktop.conversation.messages[-1].content
    assert kinds(desktop) == [True]
    assert "> Let me see" in exported(desktop, qtbot, tmp_path / "cut.md")
    engine.pause, engine.thinking = 0.0, False  # of a text that is gone on from, nothing is said anew
    desktop.conversation.go_on()
    finished(desktop, qtbot)
    assert kinds(desktop) == [True, False]
    chat = desktop.conversation.messages[-1].chat
    desktop.window.new_chat()
    desktop.window.open_chat(chat)
    assert kinds(desktop) == [True, False]


def test_a_comparison_shows_it_too(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot, "Two and two?")
    finished(desktop, qtbot)
    desktop.window.compare()
    qtbot.waitUntil(lambda: not desktop.comparing.running)
    for pane in desktop.comparing.view.panes.values():
        assert [isinstance(w, Thinking) for w in pane._blocks.widgets] == [True, False]


def test_another_model_that_opens_nothing(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.thinking, engine.script = False, "The tag </think> ends thinking."
    send(desktop, qtbot, "Which tag?")
    finished(desktop, qtbot)
    assert kinds(desktop) == [False]
