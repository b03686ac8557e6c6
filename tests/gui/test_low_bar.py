"""Code that is wider than the page says so wherever one reads in it: its sideways bar is always at hand."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from desktop.widgets.code import CodeBlock
from desktop.widgets.low_bar import LowBar

WIDE = "wide = " + "1 + " * 100 + "1\n"
LINE = "x = 1\n"


@pytest.fixture
def page(qtbot: QtBot) -> QScrollArea:
    page, inside = QScrollArea(), QWidget()
    qtbot.addWidget(page)
    page.setWidgetResizable(True)
    page.setWidget(inside)
    QVBoxLayout(inside).addStretch(1)
    page.resize(400, 300)
    page.show()
    return page


def put(page: QScrollArea, text: str) -> tuple[CodeBlock, LowBar]:
    inside = page.widget()
    assert inside is not None
    layout, block = inside.layout(), CodeBlock()
    assert isinstance(layout, QVBoxLayout)
    layout.insertWidget(0, block)
    block.set_code(text, "python", True)
    (bar,) = block.findChildren(LowBar)
    return block, bar


def test_it_stands_at_the_edge_until_the_texts_own_one_is_seen(page: QScrollArea, qtbot: QtBot) -> None:
    block, bar = put(page, WIDE + LINE * 60)
    (text,) = block.findChildren(QPlainTextEdit)
    qtbot.waitUntil(bar.isVisible)

    def at_the_edge() -> bool:
        return bar.mapTo(page.viewport(), QPoint(0, bar.height())).y() == page.viewport().height()

    qtbot.waitUntil(at_the_edge)
    page.verticalScrollBar().setValue(100)
    assert at_the_edge()
    bar.setValue(70)
    assert text.horizontalScrollBar().value() == 70
    text.horizontalScrollBar().setValue(30)
    assert bar.value() == 30
    page.verticalScrollBar().setValue(page.verticalScrollBar().maximum())
    assert not bar.isVisible()
    assert text.horizontalScrollBar().isVisible()
    page.verticalScrollBar().setValue(0)
    assert bar.isVisible()


def test_code_that_is_narrow_or_short_needs_none(page: QScrollArea, qtbot: QtBot) -> None:
    block, narrow = put(page, LINE * 60)
    _, short = put(page, WIDE)
    qtbot.waitUntil(lambda: block.height() > 300)
    assert not narrow.isVisible()
    assert not short.isVisible()
