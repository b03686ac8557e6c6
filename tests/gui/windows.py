"""Every window and state of it that a test of all of them walks through, and what stands there to be read."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from concurrent.futures import Future

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

import desktop as program
from backend.bench.tune import Failed, Trying
from backend.forecast import Forecast
from desktop.start import Desktop
from desktop.store.salvage import Saved
from desktop.views.benchmark_options import FILE
from desktop.views.refusal import Refusal
from desktop.views.salvaging import Salvaging
from desktop.views.trial import TrialDialog
from desktop.widgets.pages import Pages
from tests.gui.measuring import begin, over
from tests.gui.measuring import opened as benchmark
from tests.gui.models import opened, pressable
from tests.gui.person import finished, send

SCRIPT = "Words.\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<think>Hm.</think>More words."
DIALOGS = ("chat_settings", "settings", "benchmark", "shortcuts", "about")


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
    qtbot.waitUntil(lambda: window.beside.split.sizes()[2] > 100)
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


def every_dialog(desktop: Desktop, qtbot: QtBot) -> Iterator[QDialog]:
    """All that the program can open, in the states that they have; with a loaded pair, and a hub."""
    desktop.shelf.refresh()
    qtbot.waitUntil(lambda: desktop.shelf.named("one") is not None, timeout=20_000)
    for action in DIALOGS:
        yield from dialogs(desktop, action)
    yield from measured(desktop, qtbot)
    models = opened(desktop, qtbot)
    assert models.rows.select("one")
    yield models
    pressable(models, "Token").click()
    (token,) = [d for d in models.findChildren(QDialog) if d.isVisible()]
    yield token
    token.close()
    models.close()
    desktop.window.trying.open()
    assert desktop.window.trying.dialog is not None
    yield desktop.window.trying.dialog
    desktop.window.trying.dialog.close()
    for alone in (Refusal("There is no room."), Salvaging(Future[Saved]())):
        qtbot.addWidget(alone)
        alone.show()
        yield alone
        alone.close()


def measured(desktop: Desktop, qtbot: QtBot) -> Iterator[QDialog]:
    """With a file to choose, and with a report."""
    dialog = benchmark(desktop)
    usual = dialog.options.source.currentIndex()
    dialog.options.source.setCurrentIndex(dialog.options.source.findData(FILE))
    yield dialog
    dialog.options.source.setCurrentIndex(usual)
    begin(dialog, qtbot)
    over(desktop, qtbot)
    yield dialog
    dialog.close()


def trials(qtbot: QtBot) -> Iterator[TrialDialog]:
    """On its way, with what drafts came to, and without any that could be tried."""
    best = Forecast("small", 4000, 0.81, 0.05, 4, 1.84, {4: 1.84})
    none = Forecast("other", 4000, 0.2, 0.4, 0, 1.0, {4: 0.7})
    failed = Failed("broken", "2 of 3.")
    for found in ((), (none, best, failed), (none,), (failed,)):
        dialog = TrialDialog("big", str)
        qtbot.addWidget(dialog)
        dialog.show_progress(Trying("small", 1, 2, loading=False, fraction=0.3))
        dialog.show()
        yield dialog
        dialog.show_found(list(found), "small")
        yield dialog
        dialog.show_end(list(found), 20)
        yield dialog
        dialog.close()


def kinds_of_dialogs() -> set[type[QDialog]]:
    """All that are defined anywhere in the program."""
    for module in pkgutil.walk_packages(program.__path__, "desktop."):
        importlib.import_module(module.name)
    found, new = set[type[QDialog]](), [QDialog]
    while new:
        found |= (made := set(new.pop().__subclasses__()))
        new += made
    return {kind for kind in found if kind.__module__.startswith("desktop.")}


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
