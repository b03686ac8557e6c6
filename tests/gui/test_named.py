"""Everything that takes a click or a key has a name that a screen reader can say, and can be reached by Tab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from tests.gui.scripted import ScriptedEngine
from tests.gui.windows import SCRIPT, every_dialog, kinds_of_dialogs, stages
from tests.unit.library.server import Hub

INTERACTIVE = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
)


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(SCRIPT)


def interactive(root: QWidget) -> Iterator[QWidget]:
    """What a person can use below ``root``, without the parts that another widget is made of."""
    for widget in root.findChildren(QWidget):
        usable = isinstance(widget, INTERACTIVE) or widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        said = not isinstance(widget, QLabel) or widget.text()  # one without a text is not there yet
        if usable and said and not is_part(widget):
            yield widget


def is_part(widget: QWidget) -> bool:
    """A spin box's line, a drop-down's list, an area's bars, a line's clear button: they speak through their owner."""
    parent = widget.parentWidget()
    if isinstance(widget, QScrollBar) or isinstance(
        parent, QAbstractItemView
    ):  # its headers; a cell's parent is inside
        return True
    if isinstance(parent, QAbstractScrollArea) and parent.viewport() is widget:
        return True
    while parent is not None and not isinstance(parent, (QAbstractSpinBox, QComboBox, QLineEdit)):
        parent = parent.parentWidget()
    return parent is not None


def spoken(widget: QWidget) -> str:
    """What a screen reader is told."""
    face = QAccessible.queryAccessibleInterface(widget)
    return face.text(QAccessible.Text.Name).strip() if face is not None else ""


def nameless(root: QWidget) -> list[str]:
    return [f"{type(w).__name__} in {type(w.parentWidget()).__name__}" for w in interactive(root) if not spoken(w)]


def test_everything_in_the_window_has_a_name(desktop: Desktop, qtbot: QtBot) -> None:
    for window in stages(desktop, qtbot):
        assert nameless(window) == []


def test_everything_in_every_dialog_has_a_name(hub: Hub, desktop: Desktop, qtbot: QtBot) -> None:
    opened = set()
    for dialog in every_dialog(desktop, qtbot):
        opened.add(type(dialog))
        assert nameless(dialog) == []
    assert opened == kinds_of_dialogs(), "a dialog is not walked through: see every_dialog"


def test_a_widget_without_a_name_is_found(qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QSpinBox, QToolButton, QVBoxLayout

    root = QWidget()
    qtbot.addWidget(root)
    column = QVBoxLayout(root)
    for widget in (QSpinBox(), QToolButton(), QLineEdit()):
        column.addWidget(widget)
    assert len(nameless(root)) == 3
