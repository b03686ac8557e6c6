"""A whole desktop around an engine that the test decides: real store, real window, real threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from tests.gui.person import MakeDesktop
from tests.gui.scripted import LONG, ScriptedEngine

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the offscreen platform says of itself is no fault of a window."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support"))


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


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(LONG)


@pytest.fixture
def desktop(make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot) -> Desktop:
    """A desktop with a loaded pair (the models themselves are the script's)."""
    made = make_desktop(engine)
    made.settings.change(draft="small")
    made.shelf.ask_drafts = lambda target: made.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    made.engine.start(load=False)
    made.engine.choose_target("big")
    qtbot.waitUntil(lambda: made.engine.state.target is not None and made.engine.mode == "up")
    return made
