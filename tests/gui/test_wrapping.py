"""A text without blanks may be long: lines break anywhere in it, and nowhere else."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextOption
from pytestqt.qtbot import QtBot

from desktop.widgets.message_edit import MessageEdit
from desktop.widgets.prose import Prose

ANYWHERE = QTextOption.WrapMode.WrapAnywhere
RUN = "x" * 300_000
WORDS = "words and more of them " * 10_000


@pytest.mark.parametrize("lines", [False, True])
def test_the_message_box_takes_a_run_of_letters(qtbot: QtBot, lines: bool) -> None:
    edit = MessageEdit(lines=lines)
    qtbot.addWidget(edit)
    edit.resize(400, 200)
    edit.show()
    edit.setPlainText(WORDS)
    assert edit.wordWrapMode() != ANYWHERE
    edit.insert(RUN)
    assert edit.wordWrapMode() == ANYWHERE
    assert edit.toPlainText() == RUN + WORDS
    edit.setPlainText("")
    assert edit.wordWrapMode() != ANYWHERE


def test_what_is_pasted_into_a_text_of_many_lines(qtbot: QtBot) -> None:
    edit = MessageEdit(lines=True)
    qtbot.addWidget(edit)
    edit.show()
    pasted = QMimeData()
    pasted.setText(RUN)
    edit.insertFromMimeData(pasted)
    assert edit.wordWrapMode() == ANYWHERE


def test_prose_breaks_a_run_of_letters_and_keeps_words_whole(qtbot: QtBot) -> None:
    prose = Prose()
    qtbot.addWidget(prose)
    prose.resize(400, 200)
    prose.show()
    for text, anywhere in ((WORDS, False), (f"Before.\n\n{RUN}\n\nAfter.", True), (WORDS, False)):
        prose.set_markdown(text)
        assert (prose.document().defaultTextOption().wrapMode() == ANYWHERE) == anywhere
    prose.set_plain(RUN)
    assert prose.document().defaultTextOption().wrapMode() == ANYWHERE
    assert prose.toPlainText() == RUN
