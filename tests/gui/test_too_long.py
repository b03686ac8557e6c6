"""What does not fit into the context is said before it is sent, with a choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from desktop.start import Desktop
from desktop.widgets.rewrite import Rewrite
from tests.gui.attaching import attach, chips, keeper, names
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

TITLE = "This does not fit into the context"


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Short answer.")


def choose(desktop: Desktop, qtbot: QtBot, text: str) -> None:
    def shown() -> list[QPushButton]:
        buttons = desktop.window.page.notice.findChildren(QPushButton)
        return [b for b in buttons if b.text() == text and b.isVisible()]

    qtbot.waitUntil(lambda: len(shown()) == 1)
    qtbot.mouseClick(shown()[0], Qt.MouseButton.LeftButton)


@pytest.fixture
def long(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> Desktop:
    """Three files of 10,000 words and more, for a context of 8,192, and the question sent."""
    files = [keeper(tmp_path, "word\n" * n, f"{n}.txt") for n in (100, 10_000, 7)]
    attach(desktop, qtbot, *files)
    send(desktop, qtbot, "What is this?")
    qtbot.waitUntil(lambda: desktop.window.page.notice.text.startswith(TITLE), timeout=10_000)
    return desktop


def test_the_first_part_is_sent_by_choice(long: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    said = long.window.page.notice.text
    assert "a prompt of 10,122 tokens. The context holds 8,192, of which 1,024 are left for the reply" in said
    assert "What fits: all of 100.txt, of 10000.txt the first 3" in said
    assert said.endswith(" of 50,000 characters, nothing of 7.txt.")
    assert (engine.requests, long.store.chats()) == ([], [])
    choose(long, qtbot, "Send the first part")
    qtbot.waitUntil(lambda: bool(engine.requests))
    finished(long, qtbot)
    content = engine.requests[-1].messages[-1].content
    assert 0.95 * 7168 < len(content.split()) <= 7168
    assert "File: 10000.txt (the first 3" in content
    assert content.endswith("\n```\n\nWhat is this?")
    assert (names(long), long.window.page.composer.text) == ([], "")
    cut = long.window.page.messages.widgets[0].cards[1].attachment
    assert cut.part.endswith(" of 50,000 characters")
    send(long, qtbot, "What is this?")
    finished(long, qtbot)


def test_cancel_leaves_everything_as_it_was(long: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    choose(long, qtbot, "Cancel")
    assert (len(names(long)), long.window.page.composer.text) == (3, "What is this?")
    assert not long.window.page.notice.isVisible()
    assert engine.requests == []
    qtbot.keyClick(chips(long).chips[1], Qt.Key.Key_Delete)
    long.window.page.composer.submit()
    qtbot.waitUntil(lambda: bool(engine.requests))
    finished(long, qtbot)


def test_what_is_changed_meanwhile_is_not_sent(long: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    qtbot.keyClicks(long.window.page.composer.edit, "!")
    assert not long.window.page.notice.isVisible(), "it may fit now"
    long.window.page.composer.submit()
    assert long.window.page.composer.note == "Counting tokens…"
    qtbot.keyClicks(long.window.page.composer.edit, "?")
    qtbot.waitUntil(lambda: long.window.page.composer.note == "")
    assert not long.window.page.notice.isVisible()
    assert engine.requests == []
    assert long.window.page.composer.text == "What is this?!?"


@pytest.fixture
def version(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> Rewrite:
    """Another version of a message, with more than fits, handed over."""
    send(desktop, qtbot, "What is this?")
    finished(desktop, qtbot)
    widget = desktop.window.page.messages.widgets[0]
    widget.rewrite()
    assert widget._rewrite is not None
    writing = widget._rewrite.writing
    desktop.window.attachments.take(writing, [keeper(tmp_path, "word\n" * 9000, "long.txt")])
    qtbot.waitUntil(lambda: bool(writing.chips.attachments))
    qtbot.keyClick(writing.edit, Qt.Key.Key_Return)
    return widget._rewrite


def test_another_version_is_asked_about_too(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, version: Rewrite
) -> None:
    choose(desktop, qtbot, "Send the first part")
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    finished(desktop, qtbot)
    assert engine.requests[-1].messages[-1].content.startswith("File: long.txt (the first 3")
    assert len(engine.requests[-1].messages) == 1


def test_another_version_that_is_left_meanwhile_is_not_sent(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, version: Rewrite
) -> None:
    assert desktop.window.page.composer.note == "Counting tokens…"
    qtbot.keyClick(version.edit, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: desktop.window.page.composer.note == "")
    assert not desktop.window.page.notice.isVisible()
    assert len(engine.requests) == 1
    assert [m.content for m in desktop.conversation.messages] == ["What is this?", "Short answer."]


def test_another_version_that_is_changed_is_not_sent_as_it_was(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, version: Rewrite
) -> None:
    notice = desktop.window.page.notice
    qtbot.waitUntil(lambda: notice.text.startswith(TITLE))
    qtbot.keyClicks(version.edit, " Tell me.")
    qtbot.waitUntil(lambda: not notice.isVisible())
    qtbot.keyClick(version.writing.chips.chips[0], Qt.Key.Key_Delete)
    qtbot.keyClick(version.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(engine.requests) == 2)
    finished(desktop, qtbot)
    assert engine.requests[-1].messages[-1].content == "What is this? Tell me."


def test_a_full_conversation_leaves_no_choice(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    engine.script = "word " * 7500
    send(desktop, qtbot, "Tell me all.")
    finished(desktop, qtbot, timeout=60_000)
    attach(desktop, qtbot, keeper(tmp_path))
    send(desktop, qtbot, "And this?")
    qtbot.waitUntil(lambda: desktop.window.page.notice.text.startswith(TITLE))
    assert "Without attachments the prompt has 7,505 tokens" in desktop.window.page.notice.text
    assert names(desktop) == ["keeper.py"]
    assert len(engine.requests) == 1


def test_where_nothing_can_be_counted_it_is_sent(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def count(*_: object) -> tuple[int, int | None]:
        raise EngineError(ErrorCode.BAD_REQUEST, "This server does not count.")

    monkeypatch.setattr(engine, "count", count)
    attach(desktop, qtbot, keeper(tmp_path, "word\n" * 9000))
    send(desktop, qtbot, "What is this?")
    qtbot.waitUntil(lambda: bool(engine.requests))
    finished(desktop, qtbot)


def test_a_real_engine_counts_and_reads_the_first_part(
    real: Callable[[], Desktop], qtbot: QtBot, tmp_path: Path
) -> None:
    """With the tiny models: a context of 512 tokens, and a tokenizer that is not ours."""
    desktop = real()
    settings = desktop.conversation.chat_settings
    desktop.conversation.set_chat_settings(settings.model_copy(update={"max_tokens": 8}))
    attach(desktop, qtbot, keeper(tmp_path, "The lamp is lit at seven. " * 300, "log.txt"))
    (chip,) = chips(desktop).chips
    qtbot.waitUntil(lambda: "≈" not in chip.facts, timeout=20_000)
    send(desktop, qtbot, "When is it lit?")
    qtbot.waitUntil(lambda: desktop.window.page.notice.text.startswith(TITLE), timeout=20_000)
    assert "The context holds 512, of which 8 are left" in desktop.window.page.notice.text
    choose(desktop, qtbot, "Send the first part")
    qtbot.waitUntil(lambda: len(desktop.conversation.messages) == 2)
    finished(desktop, qtbot, timeout=60_000)
    asked, reply = desktop.conversation.messages
    assert reply.state == "complete"
    assert reply.timings is not None
    assert 0.9 * 504 < reply.timings["prompt_n"] <= 504
    (part,) = asked.attachments
    assert part.text.startswith("The lamp is lit")
    assert part.part.endswith(" of 7,800 characters")
