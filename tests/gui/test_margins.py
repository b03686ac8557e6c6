"""Room around texts and between parts, as much on one side as on the other."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.widgets.notice_bar import NoticeBar
from desktop.words import Notice
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

LONG = (
    "The engine ended: it was killed, by a person or by the system for want of memory; if it happens again, stop. " * 2
)


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
@pytest.mark.parametrize("width", [320, 600, 900])
def test_a_notices_text_keeps_as_far_from_one_side_as_from_the_other(
    qtbot: QtBot, direction: Qt.LayoutDirection, width: int
) -> None:
    bar = NoticeBar()
    qtbot.addWidget(bar)
    bar.setLayoutDirection(direction)
    bar.resize(width, 200)
    bar.show_notice(Notice("It stopped", LONG))
    title, detail = (label for label in bar.findChildren(QLabel) if label.text())
    qtbot.waitUntil(lambda: detail.width() > width // 2)
    left, right = detail.geometry().left(), width - 1 - detail.geometry().right()
    assert left == right >= 12
    assert left in (title.geometry().left(), width - 1 - title.geometry().right())


def test_two_compared_texts_stand_apart(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    desktop.window.show()
    send(desktop, qtbot)
    finished(desktop, qtbot)
    desktop.window.compare()
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)
    plain, other = desktop.comparing.view.panes.values()
    qtbot.waitUntil(plain.isVisible)
    assert other.geometry().left() - plain.geometry().right() - 1 == 12
