"""A whole desktop around an engine that the test decides: real store, real window, real threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from tests.gui.scripted import ScriptedEngine

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the offscreen platform says of itself is no fault of a window."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support"))


MakeDesktop = Callable[[ScriptedEngine], Desktop]


@pytest.fixture
def make_desktop(qtbot: QtBot, tandem_home: Path) -> Iterator[MakeDesktop]:
    """Start a desktop around an engine; closed at the end."""
    started: list[Desktop] = []

    def make(engine: ScriptedEngine) -> Desktop:
        from PySide6.QtWidgets import QApplication

        app = QApplication.instance()
        assert isinstance(app, QApplication)
        desktop = Desktop(app, tandem_home / "logs", make_client=lambda: engine)
        started.append(desktop)
        qtbot.addWidget(desktop.window)
        desktop.window.show()
        return desktop

    yield make
    for desktop in started:
        desktop.window.close()
        desktop.close()
