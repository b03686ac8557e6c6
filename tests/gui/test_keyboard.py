"""What the keyboard does where the focus is, seen and heard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from desktop.shortcuts import key_text
from desktop.start import Desktop
from desktop.theme import icons
from desktop.theme.tokens import tokens_now
from desktop.widgets.code import CodeBlock
from desktop.widgets.prose import Prose
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

SCRIPT = "Words.\n\n```python\nx = 1\n```\n\nMore words."

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


def ink(widget: QWidget) -> int:
    """Pixels in the accent's colour."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    accent = tokens_now().accent.rgb()
    return sum(image.pixel(x, y) == accent for y in range(image.height()) for x in range(image.width()))


def test_the_focus_is_seen_everywhere(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    window = desktop.window
    reply = window.page.messages.widgets[-1]
    prose, code, _ = reply.blocks.widgets
    assert isinstance(code, CodeBlock)
    assert isinstance(prose, Prose)
    for holder, shows in ((reply, reply), (code._edit, code), (prose, prose), (window.sidebar.list, window.sidebar)):
        window.page.composer.edit.setFocus()
        without = ink(shows)
        holder.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.wait(20)
        assert QApplication.focusWidget() is holder
        assert ink(shows) > without + 50, holder


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
