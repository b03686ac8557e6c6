"""Blocks on screen: what is expensive is done seldom, what is folded not at all, and what is read aloud is short."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.store import Message
from desktop.widgets import code, prose
from desktop.widgets.blocks import BlockView, Thinking
from desktop.widgets.code import CodeBlock
from desktop.widgets.markdown_split import Block, split_blocks
from desktop.widgets.message import MessageWidget
from desktop.widgets.prose import Prose
from desktop.widgets.table import Table

THOUGHT = "A thought of some length, with more words.\n\n" * 400


def reply(content: str, state: str = "complete") -> Message:
    return Message(1, 1, None, "assistant", content, 0.0, state)  # type: ignore[arg-type]


@pytest.fixture
def make(qtbot: QtBot) -> Callable[[Message], MessageWidget]:
    def made(message: Message) -> MessageWidget:
        widget = MessageWidget(message, lambda _: "Model", (1, 1))
        qtbot.addWidget(widget)
        return widget

    return made


def test_thinking_is_laid_out_in_pieces_and_not_while_it_is_folded(qtbot: QtBot) -> None:
    view = BlockView()
    qtbot.addWidget(view)
    view.show_markdown(f"<think>\n{THOUGHT}", complete=False)
    (thinking,) = view.widgets
    assert isinstance(thinking, Thinking)
    inner = thinking.findChild(BlockView)
    assert inner is not None
    qtbot.waitUntil(lambda: len(inner.widgets) > 3)  # at once, unless the empty one before took long
    (toggle,) = thinking.findChildren(QToolButton)
    toggle.setChecked(False)
    before = inner.rendered
    thinking.set_text(THOUGHT + "And on.", closed=False)
    assert inner.rendered == before
    toggle.setChecked(True)
    qtbot.waitUntil(lambda: any("And on." in w.toPlainText() for w in inner.findChildren(Prose)))


def test_stored_thinking_is_not_laid_out_until_it_is_unfolded(qtbot: QtBot) -> None:
    view = BlockView()
    qtbot.addWidget(view)
    view.show_markdown(f"<think>\n{THOUGHT}</think>\nYes.", complete=True)
    thinking = view.widgets[0]
    inner = thinking.findChild(BlockView)
    assert inner is not None
    assert inner.rendered == 0
    thinking.findChildren(QToolButton)[0].setChecked(True)
    assert inner.rendered > 3


def test_what_takes_long_is_laid_out_less_often(qtbot: QtBot) -> None:
    shown: list[str] = []

    def slowly(text: str, complete: bool) -> list[Block]:
        shown.append(text)
        time.sleep(0.03)
        return split_blocks(text, complete)

    view = BlockView(split=slowly)
    qtbot.addWidget(view)
    began = time.monotonic()
    for n in range(1, 30):
        view.show_markdown("word " * n, complete=False)
        qtbot.wait(5)
    spent = time.monotonic() - began
    assert len(shown) <= spent / (6 * 0.03) + 1
    qtbot.waitUntil(lambda: shown[-1] == "word " * 29)  # the last is never left out
    view.show_markdown("whole", complete=True)
    assert shown[-1] == "whole"
    qtbot.wait(200)
    assert shown[-1] == "whole"


def test_the_name_begins_with_the_answer(make: Callable[[Message], MessageWidget]) -> None:
    assert make(reply("<think>\nhm\n</think>\n\nYes,  of\ncourse.")).accessibleName() == "Model: Yes, of course."
    assert make(reply("<think>\nhm", "streaming")).accessibleName() == "Model: Thinking…"
    assert len(make(reply("word " * 1000)).accessibleName()) < 140


def test_copying_a_message_leaves_its_thinking_out(make: Callable[[Message], MessageWidget]) -> None:
    make(reply("hm\n</think>\n\nYes: `</think>`.")).copy()
    assert QGuiApplication.clipboard().text() == "Yes: `</think>`."


def test_a_reply_about_the_tag_is_shown_whole(make: Callable[[Message], MessageWidget]) -> None:
    widgets = make(reply("It ends with `</think>`:\n\n```\n</think>\n```")).blocks.widgets
    assert [type(w) for w in widgets] == [Prose, CodeBlock]


def test_a_message_shows_its_code_as_code_and_its_lines_as_typed(qtbot: QtBot) -> None:
    view = BlockView()
    qtbot.addWidget(view)
    view.resize(500, 400)
    view.show()
    view.show_plain("Change *this*:\n\n```python\nx = 1\n```\nthen stop\nat once")
    words, code, rest = view.widgets
    assert isinstance(words, Prose)
    assert isinstance(code, CodeBlock)
    assert isinstance(rest, Prose)
    assert words.toPlainText() == "Change *this*:"
    assert rest.toPlainText() == "then stop\nat once"
    assert rest.document().begin().blockFormat().bottomMargin() == 0, "lines are no paragraphs"


def test_what_is_opened_is_laid_out_once_and_again_in_other_colours(
    desktop: Desktop, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A widget hears of its palette and font several times before it is shown."""
    dressed: list[object] = []
    monkeypatch.setattr(prose, "dress", lambda *args, **kwargs: dressed.append(args))
    monkeypatch.setattr(code, "highlight", lambda *args: dressed.append(args) or [])
    desktop.theme.choose("light")
    desktop.window.page._opened([reply("Some prose.\n\n```python\nx = 1\n```")])
    view = desktop.window.page.messages
    qtbot.waitUntil(lambda: view.widgets[0].isVisible())
    qtbot.wait(50)
    assert len(dressed) == 2
    desktop.theme.choose("dark")
    qtbot.waitUntil(lambda: len(dressed) == 4)


def test_a_table_of_very_many_cells_is_shown_as_written(qtbot: QtBot) -> None:
    """A model that repeats itself writes bars without end; all of them are there, and the window answers."""
    head = "| a | b |\n|---|---|\n| 1 | 2 |"
    endless = f"{head}\n|{' x |' * 6_000}"
    view = BlockView()
    qtbot.addWidget(view)
    view.show_markdown(head, complete=False)
    (table,) = view.widgets
    assert isinstance(table, Table)
    assert len(table._tables()) == 1
    view.show_markdown(endless, complete=True)
    assert view.widgets == [table]
    assert table.toPlainText() == endless
    view.show_markdown(f"{head}\n| 3 | 4 |", complete=True)
    assert [made.rows() for made in table._tables()] == [3]
