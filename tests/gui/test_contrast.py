"""What stands on screen is read there: each text's own ink on the ground that is drawn below it, in both themes."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPlainTextEdit, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.theme.theme import Choice
from desktop.theme.tokens import mix
from tests.contrast import TEXT, contrast
from tests.gui.scripted import ScriptedEngine
from tests.gui.windows import SCRIPT, every_dialog, stages
from tests.unit.library.server import Hub


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(SCRIPT)


def inks(widget: QWidget) -> list[QColor]:
    """Of the words that it shows, or would show."""
    palette = widget.palette()
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        typed = [palette.color(QPalette.ColorRole.Text)]
        return [*typed, palette.color(QPalette.ColorRole.PlaceholderText)] if widget.placeholderText() else typed
    bare = isinstance(widget, QToolButton) and widget.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    words = isinstance(widget, QLabel | QAbstractButton) and widget.text() and not bare
    return [palette.color(widget.foregroundRole())] if words else []


def ground(image: QImage, where: QRect) -> QColor:
    """The colour that most of it has."""
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    part = pixels[where.top() : where.bottom() + 1, where.left() : where.right() + 1]
    found, counts = np.unique(part, return_counts=True)
    return QColor.fromRgb(int(found[counts.argmax()]) & 0xFFFFFF)


def too_faint(root: QWidget) -> list[str]:
    image = root.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    found = []
    for widget in root.findChildren(QWidget):
        seen = widget.visibleRegion().boundingRect().intersected(widget.rect())
        if not widget.isVisible() or not widget.isEnabled() or seen.isEmpty() or not inks(widget):
            continue
        below = ground(image, QRect(widget.mapTo(root, seen.topLeft()), seen.size()).intersected(image.rect()))
        for ink in inks(widget):
            ratio = contrast(mix(ink, below, ink.alphaF()), below)
            if ratio < TEXT:
                found.append(f"{type(widget).__name__} {widget.accessibleName()!r}: {ink.name()} on {below.name()}")
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_is_read(hub: Hub, desktop: Desktop, qtbot: QtBot, theme: Choice) -> None:
    desktop.theme.choose(theme)
    for window in stages(desktop, qtbot):
        assert too_faint(window) == []
    for dialog in every_dialog(desktop, qtbot):
        assert too_faint(dialog) == []


def test_what_is_too_faint_is_found(desktop: Desktop, qtbot: QtBot) -> None:
    root = QWidget()
    qtbot.addWidget(root)
    label, line = QLabel("Hard to read", root), QLineEdit(root, accessibleName="Hint")
    label.setStyleSheet("color: #aaaaaa; background: #ffffff")
    line.setStyleSheet("color: #333333; background: #ffffff; placeholder-text-color: #aaaaaa")
    line.setPlaceholderText("A hint")
    line.move(0, 60)
    root.show()
    assert [text.split(":")[0] for text in too_faint(root)] == ["QLabel ''", "QLineEdit 'Hint'"]
