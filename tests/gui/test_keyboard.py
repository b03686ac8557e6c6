"""What the keyboard does where the focus is, seen and heard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QPushButton, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from desktop.shortcuts import key_text
from desktop.start import Desktop
from desktop.theme import icons
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine
from tests.gui.test_named import interactive
from tests.gui.windows import SCRIPT, every_dialog, stages
from tests.unit.library.server import Hub

LEAST = 24
"""Pixels that change where the focus is: more than a caret has."""

pytestmark = pytest.mark.usefixtures("in_front")


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(SCRIPT)


def test_delete_is_undone_with_the_focus_in_the_message_box(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot, "About tea")
    finished(desktop, qtbot)
    window = desktop.window
    window.sidebar.delete_current()
    assert desktop.store.chats() == []
    assert window.page.composer.edit.hasFocus()
    assert key_text("undo_delete") in window.toast.accessibleName()
    qtbot.keyClick(
        window.page.composer.edit,
        Qt.Key.Key_D,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )
    assert [chat.title for chat in desktop.store.chats()] == ["About tea"]
    assert not window.toast.isVisible()


def test_the_toast_stays_under_a_hand_and_fits_a_small_window(desktop: Desktop, qtbot: QtBot) -> None:
    window = desktop.window
    window.resize(480, 360)
    window.toast.say("“" + "A long title " * 12 + "” was deleted.", lambda: None)
    assert window.toast.width() <= window.width()
    window.toast._undo.setFocus()
    window.toast._go()
    assert window.toast.isVisible()
    window.page.composer.setFocus()
    window.toast._go()
    assert not window.toast.isVisible()


def test_enter_while_a_reply_runs_says_why_nothing_is_sent(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.pause = 0.05
    send(desktop, qtbot, "one")
    composer = desktop.window.page.composer
    send(desktop, qtbot, "two")
    assert composer.text == "two"
    assert "being written" in composer.note
    assert "Esc" in composer.note
    qtbot.keyClick(composer.edit, Qt.Key.Key_Escape)
    finished(desktop, qtbot)
    assert composer.note == ""
    assert composer.text == "two"


def test_what_an_example_replaces_comes_back(desktop: Desktop, qtbot: QtBot) -> None:
    composer = desktop.window.page.composer
    composer.edit.setFocus()
    qtbot.keyClicks(composer.edit, "My own words")
    qtbot.mouseClick(desktop.window.page.welcome.examples[1], Qt.MouseButton.LeftButton)
    assert composer.text.startswith("Explain how a hash table")
    qtbot.keyClick(composer.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert composer.text == "My own words"


def unmarked(root: QWidget) -> list[str]:
    """Controls that look the same with and without the focus."""
    found = []
    for widget in list(interactive(root)):
        if not widget.isVisible() or not widget.isEnabled() or not widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            continue
        into_view(widget)
        around = QRect(widget.mapTo(root, QPoint()), widget.size()).adjusted(-8, -8, 8, 8)
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        holder = QApplication.focusWidget()
        focused = root.grab(around).toImage()
        if holder is not None:
            holder.clearFocus()
        if difference(focused, root.grab(around).toImage()) < LEAST:
            found.append(f"{type(widget).__name__} {widget.accessibleName()!r}")
    return found


def into_view(widget: QWidget) -> None:
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()


def difference(a: QImage, b: QImage) -> int:
    """Pixels."""
    return sum(a.pixel(x, y) != b.pixel(x, y) for y in range(a.height()) for x in range(a.width()))


@pytest.fixture
def steady() -> Iterator[None]:
    """A caret that does not blink."""
    before = QApplication.cursorFlashTime()
    QApplication.setCursorFlashTime(0)
    yield
    QApplication.setCursorFlashTime(before)


@pytest.mark.usefixtures("steady")
def test_the_focus_is_seen_everywhere(desktop: Desktop, qtbot: QtBot) -> None:
    for window in stages(desktop, qtbot):
        assert unmarked(window) == []


@pytest.mark.usefixtures("steady")
def test_the_focus_is_seen_in_every_dialog(hub: Hub, desktop: Desktop, qtbot: QtBot) -> None:
    for dialog in every_dialog(desktop, qtbot):
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)
        assert unmarked(dialog) == []


@pytest.mark.usefixtures("steady")
def test_what_shows_no_focus_is_found(desktop: Desktop, qtbot: QtBot) -> None:
    root = QWidget()
    qtbot.addWidget(root)
    silent, plain = QWidget(root, accessibleName="Silent"), QPushButton("Plain", root)
    silent.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    silent.resize(20, 20)
    plain.move(0, 60)
    root.show()
    root.activateWindow()
    qtbot.waitUntil(root.isActiveWindow)
    assert unmarked(root) == ["QWidget 'Silent'"]


def test_an_icon_is_drawn_once(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    renderer = icons.QSvgRenderer

    def counting(data: object) -> object:
        drawn.append("")
        return renderer(data)  # type: ignore[call-overload]

    monkeypatch.setattr(icons, "QSvgRenderer", counting)
    icons.QPixmapCache.clear()
    for _ in range(3):
        qtbot.addWidget(icons.IconButton("copy", "Copy"))
    assert len(drawn) == 4, "for this screen, and one to come; enabled and not"
