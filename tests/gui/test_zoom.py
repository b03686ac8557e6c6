"""Zoom and text size: at once, kept for the next start, and every dialog keeps its shape."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.views.cheat_sheet import CheatSheet
from desktop.views.settings.dialog import SettingsDialog
from desktop.widgets.code import CodeBlock
from desktop.widgets.form import Column, Form
from desktop.widgets.prose import Prose
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def points(widget: QWidget) -> float:
    return widget.font().pointSizeF()


def test_keys_and_wheel_zoom_messages_and_composer_alone(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    window = desktop.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    reply, composer, code = window.page.messages.widgets[-1], window.page.composer, window.findChild(CodeBlock)
    assert code is not None
    parts = (reply.blocks.widgets[0], composer.edit, code._edit, reply._footer)
    others = (window.sidebar.list, window.top.target, window.status._lead)
    was, apart = [points(part) for part in parts], [points(part) for part in others]
    width = window.page.composer.parentWidget().maximumWidth()
    qtbot.keyClick(composer.edit, Qt.Key.Key_Plus, CTRL)
    assert desktop.settings.now.zoom == 110
    qtbot.keyClick(composer.edit, Qt.Key.Key_Equal, CTRL)
    assert desktop.settings.now.zoom == 125
    assert window.toast._text == "Zoom 125\N{NO-BREAK SPACE}%"
    assert [points(part) for part in parts] == pytest.approx([1.25 * size for size in was], rel=0.03)
    assert [points(part) for part in others] == apart
    assert window.page.composer.parentWidget().maximumWidth() > 1.2 * width
    at = QPointF(window.page.messages.viewport().rect().center())
    for angle, zoom in ((120, 150), (-120, 125), (40, 125), (40, 125), (40, 150), (80, 150), (-80, 150), (-40, 125)):
        wheel = QWheelEvent(
            at, at, QPoint(), QPoint(0, angle), Qt.MouseButton.NoButton, CTRL, Qt.ScrollPhase.NoScrollPhase, False
        )
        QApplication.sendEvent(window.page.messages.viewport(), wheel)
        assert desktop.settings.now.zoom == zoom
    qtbot.keyClick(composer.edit, Qt.Key.Key_Minus, CTRL)
    assert desktop.settings.now.zoom == 110
    qtbot.keyClick(composer.edit, Qt.Key.Key_0, CTRL)
    assert [points(part) for part in parts] == was


def test_there_is_an_end_to_it_and_it_is_there_at_the_next_start(
    desktop: Desktop, make_desktop: MakeDesktop, qtbot: QtBot
) -> None:
    for _ in range(20):
        desktop.window.zoom.step(1)
    assert desktop.settings.now.zoom == 300
    for _ in range(20):
        desktop.window.zoom.step(-1)
    assert desktop.settings.now.zoom == 50
    desktop.settings.change(text_size=150)
    small = points(desktop.window.page.composer.edit)
    desktop.window.close()
    desktop.close()
    again = make_desktop(ScriptedEngine())
    assert points(again.window.page.composer.edit) == small
    assert points(again.window.sidebar) == pytest.approx(2 * small, rel=0.03)


def test_the_reader_stays_about_where_they_are(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.script = "A line of text that is read.\n\n" * 120
    send(desktop, qtbot)
    finished(desktop, qtbot)
    bar = desktop.window.page.messages.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 1000)
    bar.setValue(bar.maximum() // 2)
    before = bar.maximum()
    desktop.settings.change(zoom=150)
    qtbot.waitUntil(lambda: bar.maximum() > 1.2 * before and abs(bar.value() / bar.maximum() - 0.5) < 0.03)


def cut(inside: QWidget) -> list[str]:
    """What of a page does not fit its width."""
    found = []
    for widget in inside.findChildren(QWidget):
        if not widget.isVisible() or widget.parentWidget().inherits("QComboBox"):
            continue
        right = widget.mapTo(inside, QPoint(widget.width(), 0)).x()
        wrapped = isinstance(widget, QLabel) and widget.wordWrap()
        if right > inside.width() or (wrapped and widget.height() < widget.heightForWidth(widget.width())):
            found.append(widget.accessibleName() or getattr(widget, "text", str)() or repr(widget))
    return found


@pytest.mark.parametrize("size", [80, 150, 200])
@pytest.mark.parametrize("room", [(480, 360), (760, 620)])
def test_every_page_keeps_its_shape(desktop: Desktop, qtbot: QtBot, size: int, room: tuple[int, int]) -> None:
    desktop.window.edit_settings()
    dialog = desktop.window.findChild(SettingsDialog)
    assert dialog is not None
    dialog.resize(*room)
    desktop.settings.change(text_size=size)
    for at in range(dialog.pages.box.count()):
        dialog.pages.turn_to(dialog.pages.box.itemData(at))
        qtbot.wait(20)
        page = dialog.pages._stack.currentWidget()
        form = page if isinstance(page, Form) else page.findChild(Form)
        assert form.widget().width() == form.viewport().width()
        assert cut(form.widget()) == [], dialog.pages.key
    assert dialog.pages.list.isVisible() is (room[0] >= 28 * dialog.fontMetrics().height())
    dialog.reject()


def test_the_cheat_sheet_lists_every_key_and_finds_some(desktop: Desktop, qtbot: QtBot) -> None:
    from desktop.shortcuts import SHORTCUTS

    window = desktop.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Slash, CTRL)
    sheet = window.findChild(CheatSheet)
    assert sheet is not None
    assert {shortcut.text for shortcut in SHORTCUTS} <= set(sheet.shown)
    sheet.resize(480, 360)
    for size in (100, 200):
        desktop.settings.change(text_size=size)
        qtbot.wait(20)
        assert cut(sheet.findChild(Column)) == []
    qtbot.keyClicks(sheet.search, "zoom")
    assert sheet.shown == ["Zoom in", "Zoom out", "Zoom back to 100\N{NO-BREAK SPACE}%", "Zoom in or out"]
    qtbot.keyClicks(sheet.search, "zzz")
    assert sheet.shown == []
    assert sheet._none.isVisible()
    qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.findChild(CheatSheet) is None)


def test_no_single_key_deletes() -> None:
    from desktop.shortcuts import SHORTCUTS, all_keys

    for shortcut in SHORTCUTS:
        if "delete" in shortcut.text.lower():
            assert all(key[0].keyboardModifiers() & CTRL for key in all_keys(shortcut)), shortcut


def test_a_font_that_a_text_has_already_costs_no_layout(qtbot: QtBot) -> None:
    """Of such events each theme brings dozens to a zoomed text; a large table took seconds."""
    prose = Prose()
    qtbot.addWidget(prose)
    prose.set_markdown("| a | b |\n|---|---|\n| 1 | 2 |")
    prose.show()
    qtbot.waitExposed(prose)
    with qtbot.assertNotEmitted(prose.document().documentLayout().update):
        QApplication.sendEvent(prose, QEvent(QEvent.Type.FontChange))
    larger = prose.font()
    larger.setPointSizeF(2 * larger.pointSizeF())
    prose.setFont(larger)
    assert prose.document().defaultFont() == larger
