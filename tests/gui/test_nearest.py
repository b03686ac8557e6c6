"""A pair that is too large: the plan that fits is one click away."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from desktop.settings import AUTOMATIC, LOOKUP
from desktop.start import Desktop
from tests.gui.faults import buttons
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine
from tests.gui.test_loading import fits


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def desktop(make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot) -> Desktop:
    """Another model answers already."""
    made = make_desktop(engine)
    made.shelf.ask_drafts = lambda target: made.shelf.drafts.emit(target, [fits("small")])  # type: ignore[method-assign]
    made.settings.change(draft=AUTOMATIC)
    made.engine.start(load=False)
    made.engine.choose_target("before")
    qtbot.waitUntil(lambda: made.engine.state.target is not None and not made.engine.busy)
    return made


def refused(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, nearest: dict[str, Any]) -> None:
    details = {"anyway": True, "nearest": nearest}
    engine.fail_load = EngineError(ErrorCode.TOO_LARGE, "This takes 9.1 GB, and 6.0 GB are free.", details)
    desktop.engine.choose_target("big")
    qtbot.waitUntil(lambda: "6.0 GB are free" in desktop.window.page.notice.text and not desktop.engine.busy)
    engine.fail_load = None


def press(desktop: Desktop, qtbot: QtBot, name: str) -> None:
    qtbot.mouseClick(buttons(desktop)[name], Qt.MouseButton.LeftButton)
    target = lambda: desktop.engine.state.target  # noqa: E731
    qtbot.waitUntil(lambda: (t := target()) is not None and t.id == "big" and not desktop.engine.busy)


def test_with_less_context(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    refused(desktop, engine, qtbot, {"n_ctx": 4096})
    assert set(buttons(desktop)) == {"Load with less context", "Load anyway", "Choose a model"}
    press(desktop, qtbot, "Load with less context")
    load = engine.loads[-1]
    assert (load.target, load.options.n_ctx, load.draft, load.anyway) == ("big", 4096, "small", False)
    assert desktop.settings.now.load_for("big").n_ctx == 4096
    assert desktop.settings.now.load_for("before").n_ctx is None
    assert not desktop.window.page.notice.isVisible()


def test_without_a_draft(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    refused(desktop, engine, qtbot, {"draft": None})
    press(desktop, qtbot, "Load without a draft")
    assert (engine.loads[-1].target, engine.loads[-1].draft) == ("big", None)
    assert desktop.window.top.draft.value == LOOKUP, "text seen before takes no memory"
    assert engine.now.speculation.source == "lookup"


def test_where_nothing_fits_nothing_is_offered(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    refused(desktop, engine, qtbot, {})
    assert set(buttons(desktop)) == {"Load anyway", "Engine settings", "Choose a model"}
