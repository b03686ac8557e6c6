"""Writing a message anew in its place: the view does not jump, however long it is and whatever grows around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from desktop.store import Message
from desktop.widgets.message_edit import MessageEdit
from desktop.widgets.message_view import MessageView
from desktop.widgets.rewrite import Rewrite
from tests.gui.test_rewriting import button

MANY = "\n".join(f"Line {n} of a long message." for n in range(200))
LEFT = Qt.MouseButton.LeftButton
NEW_LINE = (Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
CTRL, NONE = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier


def message(n: int, content: str) -> Message:
    role = "assistant" if n % 2 == 0 else "user"
    return Message(n, 1, n - 1 or None, role, content, 0.0)  # type: ignore[arg-type]


@pytest.fixture
def view(qtbot: QtBot) -> MessageView:
    made = MessageView(lambda m: m.role, lambda m: (1, 1))
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show_messages(
        [message(1, "Hello"), message(2, "A paragraph.\n\n" * 40), message(3, MANY), message(4, "Words. " * 300)]
    )
    made.show()
    qtbot.waitUntil(lambda: made.verticalScrollBar().maximum() > 3000)
    settle()
    return made


def settle() -> None:
    """Everything that follows from what was done is done."""
    for _ in range(5):
        QApplication.processEvents()


def top(view: MessageView, widget: QWidget) -> int:
    """Where it stands on screen."""
    return widget.mapTo(view.viewport(), QPoint()).y()


def seen(view: MessageView, widget: QWidget) -> bool:
    """All of it."""
    return top(view, widget) >= 0 and top(view, widget) + widget.height() <= view.viewport().height()


def caret_seen(view: MessageView, edit: MessageEdit) -> bool:
    caret = edit.cursorRect().center()
    there = edit.viewport().mapTo(view.viewport(), caret)
    return edit.viewport().rect().contains(caret) and view.viewport().rect().contains(there)


def begun(view: MessageView, n: int, qtbot: QtBot) -> Rewrite:
    """By the message's own button, where that is seen."""
    widget = view.widgets[n]
    view.ensureWidgetVisible(widget._tools)
    settle()
    qtbot.mouseClick(button(widget, "Edit message" if widget.message.role == "user" else "Edit reply"), LEFT)
    assert widget._rewrite is not None
    qtbot.waitUntil(widget._rewrite.edit.isVisible)
    settle()
    return widget._rewrite


def test_a_long_message_that_becomes_a_small_field_is_still_seen(view: MessageView, qtbot: QtBot) -> None:
    rewrite = begun(view, 2, qtbot)
    assert rewrite.height() < view.viewport().height()
    qtbot.waitUntil(lambda: seen(view, rewrite))


def test_nothing_moves_while_a_long_message_is_edited_in_the_middle(view: MessageView, qtbot: QtBot) -> None:
    edit = begun(view, 2, qtbot).edit
    cursor = edit.textCursor()
    cursor.setPosition(edit.document().findBlockByNumber(100).position() + 5)
    edit.setTextCursor(cursor)
    edit.centerCursor()
    settle()

    def places() -> tuple[int, int, int]:
        return view.verticalScrollBar().value(), top(view, edit), edit.verticalScrollBar().value()

    before = places()
    assert before[2] > 50
    for key, held in ((Qt.Key.Key_A, NONE), (Qt.Key.Key_B, NONE), NEW_LINE, (Qt.Key.Key_Backspace, NONE)):
        qtbot.keyClick(edit, key, held)
        settle()
        assert places() == before, key
    assert "Line ab100 of a long message." in edit.toPlainText()
    edit.undo()
    settle()
    assert places() == before


def test_a_growing_reply_does_not_pull_the_text_from_under_the_hands(view: MessageView, qtbot: QtBot) -> None:
    reply = replace(message(2, "Some words."), state="streaming")
    view.show_messages([message(1, "Hello"), reply])
    edit = begun(view, 0, qtbot).edit
    before, bar = top(view, edit), view.verticalScrollBar()
    assert view.following
    for n in range(1, 80):
        view.update_message(replace(reply, content="A paragraph.\n\n" * n))
        settle()
        assert top(view, edit) == before
    qtbot.waitUntil(lambda: bar.maximum() > 500)
    assert top(view, edit) == before
    assert view.jump.isVisible()
    qtbot.mouseClick(view.jump, LEFT)
    view.update_message(replace(reply, content="A paragraph.\n\n" * 160))
    qtbot.waitUntil(lambda: bar.maximum() > 1000 and bar.value() == bar.maximum())


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_the_button_that_leads_to_the_end_does_so(view: MessageView, qtbot: QtBot, by: str) -> None:
    """It hides there, and where the keyboard goes then is not brought into view instead."""
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow)
    bar = view.verticalScrollBar()
    bar.setValue(0)
    qtbot.waitUntil(view.jump.isVisible)
    if by == "mouse":
        qtbot.mouseClick(view.jump, LEFT)
    else:
        view.jump.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.waitUntil(view.jump.hasFocus)
        qtbot.keyClick(view.jump, Qt.Key.Key_Space)
    settle()
    assert bar.value() == bar.maximum()
    assert view.following
    assert view.jump.isHidden()


def test_the_caret_is_seen_where_the_field_is_taller_than_the_view(view: MessageView, qtbot: QtBot) -> None:
    view.resize(600, 250)
    view.update_message(message(4, "- An item.\n" * 60))
    rewrite = begun(view, 3, qtbot)
    qtbot.waitUntil(lambda: rewrite.height() > view.viewport().height())
    qtbot.waitUntil(lambda: caret_seen(view, rewrite.edit))
    qtbot.keyClick(rewrite.edit, Qt.Key.Key_Home, CTRL)
    qtbot.waitUntil(lambda: caret_seen(view, rewrite.edit))
    qtbot.keyClick(rewrite.edit, Qt.Key.Key_End, CTRL)
    qtbot.waitUntil(lambda: caret_seen(view, rewrite.edit))
