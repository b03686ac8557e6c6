"""What a person does in the benchmark dialog."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop.models.benchmark import Benchmark
from desktop.start import Desktop
from desktop.views.benchmark import BenchmarkDialog
from desktop.views.benchmark_options import FILE, NO_FILE, READING

MINUTE = 60_000


def opened(desktop: Desktop) -> BenchmarkDialog:
    desktop.window.actions_.by_id["benchmark"].trigger()
    dialog = desktop.window.benchmarking.dialog
    assert dialog is not None
    assert dialog.isVisible()
    return dialog


def begin(dialog: BenchmarkDialog, qtbot: QtBot) -> None:
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)


def choose_file(dialog: BenchmarkDialog, path: Path, qtbot: QtBot) -> None:
    """Type its name, as a person may."""
    options = dialog.options
    options.source.setCurrentIndex(options.source.findData(FILE))
    options.path.setText(str(path))
    qtbot.keyClick(options.path, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: options.says.text() not in (NO_FILE, READING))


def process(desktop: Desktop) -> Benchmark:
    return desktop.window.benchmarking.benchmark


def over(desktop: Desktop, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: process(desktop).phase == "over", timeout=MINUTE)


def cells(dialog: BenchmarkDialog) -> list[list[str]]:
    table = dialog.table
    return [[table.item(row, n).text() for n in range(table.columnCount())] for row in range(table.rowCount())]  # type: ignore[union-attr]
