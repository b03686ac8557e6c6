"""What comes from files, engines and persons is shown letter by letter, never as rich text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as RichText
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.models.chats import ChatList
from desktop.store import Chat, Message
from desktop.views.refusal import Refusal
from desktop.views.welcome import Offer, Welcome
from desktop.widgets.elided import Elided
from desktop.widgets.form import quiet
from desktop.widgets.message import MessageWidget
from desktop.widgets.picker import Picker, Row
from desktop.widgets.transfer import Transfer

TAGGED = 'The draft <img src="file:///tmp/x.png"> <b>has & no</b> template.'


def shown(tip: str) -> str:
    """What a tooltip with this text shows."""
    if not RichText.mightBeRichText(tip):
        return tip
    document = QTextDocument()
    document.setHtml(tip)
    return document.toPlainText()


def elided(qtbot: QtBot) -> str:
    label = Elided("Engine state")
    qtbot.addWidget(label)
    label.set_full_text(TAGGED)
    return label.toolTip()


def picked(qtbot: QtBot) -> str:
    picker = Picker("Target", "Choose")
    qtbot.addWidget(picker)
    picker.set_rows([Row("A", "a", TAGGED)], "a")
    assert shown(picker.itemData(0, Qt.ItemDataRole.ToolTipRole)) == TAGGED
    return picker.toolTip()


def footer(qtbot: QtBot) -> str:
    widget = MessageWidget(Message(1, 1, None, "assistant", "x", 0.0, note=TAGGED), lambda _: "big", (1, 1))
    qtbot.addWidget(widget)
    return widget._footer.toolTip()


def transfer(qtbot: QtBot) -> str:
    part = Transfer()
    qtbot.addWidget(part)
    part.show_progress(TAGGED, 1, 2, 3.0)
    return part._words.toolTip()


def chat(_qtbot: QtBot) -> str:
    chats = ChatList()
    chats.set_chats([Chat(1, TAGGED, 0.0, 0.0)], date(2020, 1, 1))
    return str(chats.data(chats.index(1), Qt.ItemDataRole.ToolTipRole))


@pytest.mark.parametrize("tip", [elided, picked, footer, transfer, chat])
def test_a_tooltip_shows_its_words(qtbot: QtBot, tip: Callable[[QtBot], str]) -> None:
    assert TAGGED in shown(tip(qtbot))


def test_a_tooltip_without_tags_stays_as_it_is(qtbot: QtBot) -> None:
    label = Elided("")
    qtbot.addWidget(label)
    label.set_full_text("Loading target 62 %, a < b")
    assert label.toolTip() == "Loading target 62 %, a < b"


def test_names_and_paths_in_labels_are_plain(qtbot: QtBot) -> None:
    refusal, welcome, words = Refusal(TAGGED), Welcome(), quiet(TAGGED)
    for widget in (refusal, welcome, words):
        qtbot.addWidget(widget)
    pair = Offer(TAGGED, TAGGED, 1, memory=1, speed=TAGGED, licence=TAGGED)
    welcome.offer_pair(pair, pair)
    welcome.show_progress(TAGGED, 1, 2, 3.0)
    labels = [words, *refusal.findChildren(QLabel), *welcome.findChildren(QLabel)]
    tagged = [label for label in labels if "<b>" in label.text()]
    assert len(tagged) == 5
    assert {label.textFormat() for label in tagged} == {Qt.TextFormat.PlainText}
