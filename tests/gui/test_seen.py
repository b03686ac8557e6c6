"""Faults that only a picture shows: corners, edges and lines."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from backend.documents import Attachment
from desktop.start import Desktop
from desktop.theme.theme import Choice
from desktop.widgets.attached import Attached
from desktop.widgets.code import CodeBlock
from desktop.widgets.figure_table import FigureTable
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Line.\n\n" * 60)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_tables_upper_corners_are_as_round_as_the_lower(desktop: Desktop, theme: Choice) -> None:
    desktop.theme.choose(theme)
    holder = QWidget(desktop.window)
    table = FigureTable("Figures", (("Name", ""), ("Value", "")))
    table.setParent(holder)
    table.set_row(0, ("one", "1"))
    table.resize(300, 200)
    holder.resize(320, 220)
    holder.show()
    image = table.grab().toImage()
    right, bottom = image.width() - 1, image.height() - 1
    for x in range(8):
        for y in range(8):
            for at in (x, right - x):
                upper, lower = image.pixelColor(at, y), image.pixelColor(at, bottom - y)
                assert abs(upper.value() - lower.value()) <= 16, (at, y)  # arcs are not drawn quite alike


def test_the_message_box_is_below_the_column_with_and_without_a_scroll_bar(desktop: Desktop, qtbot: QtBot) -> None:
    window = desktop.window

    def middle(widget: QWidget) -> int:
        return widget.mapTo(window, widget.rect().center()).x()

    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert window.page.messages.verticalScrollBar().maximum() > 0
    qtbot.waitUntil(lambda: abs(middle(window.page.composer) - middle(window.page.messages.widgets[-1])) <= 1)
    window.new_chat()
    qtbot.waitUntil(lambda: abs(middle(window.page.composer) - middle(window.page.welcome)) <= 1)


def test_no_empty_line_below_an_attached_text(qtbot: QtBot) -> None:
    heights = {}
    for text in ("a\nb\nc", "a\nb\nc\n", "word " * 3000):
        card = Attached(Attachment("a.py", "python", text, len(text)))
        qtbot.addWidget(card)
        card.resize(400, 300)
        card.show()
        card.open()
        assert card.text is not None
        qtbot.wait(10)
        heights[text] = card.text.height() / card.text.fontMetrics().lineSpacing()
    one, other, long = heights.values()
    assert one == other
    assert 3 <= one < 4.5
    assert long > 10, "broken lines count too"


def test_code_of_one_line_has_no_second(qtbot: QtBot) -> None:
    heights = []
    for text in ("x", "x\ny", "x\ny\nz"):
        block = CodeBlock()
        qtbot.addWidget(block)
        block.show()
        block.set_code(text, "python", closed=True)
        heights.append(block._edit.height())
    line = heights[2] - heights[1]
    assert heights[1] - heights[0] == pytest.approx(line, abs=1)


def test_where_the_engine_is_gone_the_model_that_comes_back_is_named(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.die()
    qtbot.waitUntil(lambda: desktop.engine.mode == "lost")
    assert desktop.window.top.target.value == desktop.settings.now.target == "big"
