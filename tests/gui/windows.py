"""Every window and state of it that a test of all of them walks through, and what stands there to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QDialog,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.widgets.pages import Pages
from tests.gui.person import finished, send

SCRIPT = "Words.\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<think>Hm.</think>More words."
DIALOGS = ("chat_settings", "settings", "benchmark", "shortcuts")


def stages(desktop: Desktop, qtbot: QtBot) -> Iterator[QWidget]:
    """The main window: empty, with a reply, with all that can be opened in it, and with a comparison."""
    window = desktop.window
    yield window
    send(desktop, qtbot)
    finished(desktop, qtbot)
    yield window
    window.actions_.by_id["origins"].trigger()
    window.actions_.by_id["panel"].trigger()
    window.actions_.by_id["edit"].trigger()
    yield window
    window.compare()
    qtbot.waitUntil(lambda: not desktop.comparing.running)
    yield window


def dialogs(desktop: Desktop, action: str) -> Iterator[QDialog]:
    """What an action opens; one with pages at each of them."""
    desktop.window.actions_.by_id[action].trigger()
    opened = [d for d in desktop.window.findChildren(QDialog) if d.isVisible()]
    assert opened
    for dialog in opened:
        pages = dialog.findChild(Pages)
        for row in range(pages.list.count()) if pages is not None else ():
            pages.list.setCurrentRow(row)
            yield dialog
        if pages is None:
            yield dialog
        dialog.close()


def texts(root: QWidget) -> Iterator[tuple[str, str]]:
    """What is read or heard of what is visible at and below ``root``: where, and the text without tags."""
    for widget in (root, *root.findChildren(QWidget)):
        if widget.isVisible():
            name = f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}"
            for what, text in _of(widget):
                if said := re.sub(r"<style.*?</style>|</?\w[^<>]*>", "", text, flags=re.DOTALL).strip():
                    yield f"{what} of {name}", said


def _of(widget: QWidget) -> Iterator[tuple[str, str]]:
    yield "tooltip", widget.toolTip()
    yield "name", widget.accessibleName()
    yield "description", widget.accessibleDescription()
    if widget.isWindow():
        yield "title", widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield "text", widget.text()
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        yield "placeholder", widget.placeholderText()
    if isinstance(widget, QGroupBox):
        yield "title", widget.title()
    if isinstance(widget, QComboBox):
        yield from (("item", widget.itemText(n)) for n in range(widget.count()))
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from _items(widget)
    menus = [action for menu in widget.findChildren(QMenu) for action in menu.actions()]
    yield from (("action", action.text()) for action in (*widget.actions(), *menus))


def _items(view: QAbstractItemView) -> Iterator[tuple[str, str]]:
    model = view.model()
    roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
    columns = range(model.columnCount() if isinstance(view, QTableView) else 1)
    cells = (model.index(row, column) for row in range(model.rowCount()) for column in columns)
    yield from (("item", str(cell.data(role) or "")) for cell in cells for role in roles)
    if isinstance(view, QTableView):
        heads = (model.headerData(column, Qt.Orientation.Horizontal, role) for column in columns for role in roles[:2])
        yield from (("heading", str(head or "")) for head in heads)
