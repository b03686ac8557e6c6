"""In a language written from right to left: the window is mirrored, code is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.theme.icons import IconButton
from desktop.theme.tokens import tokens_now
from desktop.widgets.code import CodeBlock
from tests.gui.models import opened, started
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.pseudo import hebrew, make, spoken
from tests.gui.scripted import ScriptedEngine
from tests.gui.windows import DIALOGS, SCRIPT, dialogs, measured, stages, texts, trials
from tests.unit.library.server import Hub

RTL = Qt.LayoutDirection.RightToLeft


@pytest.fixture(scope="module")
def translation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("mirrored"), "he", 2, hebrew)


@pytest.fixture(autouse=True)
def language(qapp: QApplication, translation: Path) -> Iterator[None]:
    with spoken(qapp, translation):
        yield


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(SCRIPT)


def left_of(widget: QWidget, other: QWidget) -> bool:
    return widget.mapToGlobal(QPoint(widget.width(), 0)).x() <= other.mapToGlobal(QPoint()).x()


def ink(button: IconButton, *, left: bool) -> int:
    """What is drawn in one half."""
    image = button.icon().pixmap(32, 32).toImage()
    half = range(image.width() // 2) if left else range(image.width() // 2, image.width())
    return sum(image.pixelColor(x, y).alpha() for x in half for y in range(image.height()))


def test_the_window_is_mirrored(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    window = desktop.window
    assert left_of(window.page, window.sidebar)
    assert left_of(window.top.settings, window.top.target)
    assert left_of(window.top.target, window.top.sidebar)
    composer = window.page.composer
    assert left_of(composer.button, composer.writing.clip)
    window.actions_.by_id["panel"].trigger()
    qtbot.waitUntil(lambda: window.panel is not None and left_of(window.panel, window.page))


def test_code_stays_as_it_is(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    (block,) = desktop.window.page.messages.findChildren(CodeBlock)
    (edit,) = block.findChildren(QPlainTextEdit)
    assert edit.layoutDirection() is not RTL
    assert edit.cursorRect(edit.textCursor()).x() < edit.width() / 2
    (copy,), (name,) = block.findChildren(IconButton), block.findChildren(QLabel)
    assert left_of(copy, name), "the line above it is the window's"


def test_what_points_to_a_side_points_to_the_other(desktop: Desktop) -> None:
    """The icon of the sidebar is drawn with its sidebar at the right."""
    button = desktop.window.top.sidebar
    assert ink(button, left=True) < ink(button, left=False)
    button.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    assert ink(button, left=True) > ink(button, left=False)


def test_a_switch_that_is_on_has_its_knob_at_the_end(desktop: Desktop) -> None:
    switch = desktop.window.top.switch
    switch.setEnabled(True)
    switch.setChecked(True)

    def knob_left() -> bool:
        image, tokens = switch.grab().toImage(), tokens_now()
        row = [image.pixelColor(x, image.height() // 2) for x in range(image.width())]
        places = [x for x, color in enumerate(row) if color == QColor(tokens.on_accent)]
        return sum(places) / len(places) < image.width() / 2

    assert knob_left()
    switch.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    assert not knob_left()


def mirrored(window: QWidget) -> bool:
    """Laid out from the right, and said in the language."""
    return window.layoutDirection() is RTL and any(re.search("[א-ת]", text) for _, text in texts(window))


def test_every_stage_is_shown_without_a_warning(desktop: Desktop, qtbot: QtBot) -> None:
    for window in stages(desktop, qtbot):
        assert mirrored(window)


@pytest.mark.parametrize("action", DIALOGS)
def test_every_dialog_is_shown_without_a_warning(desktop: Desktop, action: str) -> None:
    for dialog in dialogs(desktop, action):
        assert mirrored(dialog)


def test_the_benchmark_is_shown_without_a_warning(desktop: Desktop, qtbot: QtBot) -> None:
    for dialog in measured(desktop, qtbot):
        assert mirrored(dialog)


def test_a_trial_is_shown_without_a_warning(qtbot: QtBot) -> None:
    for dialog in trials(qtbot):
        assert mirrored(dialog)
        assert dialog.table.columnViewportPosition(0) > dialog.table.columnViewportPosition(1)


def test_the_models_are_shown_without_a_warning(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    window = opened(started(make_desktop, qtbot), qtbot)
    assert mirrored(window)
    assert left_of(window.detail, window.rows)
