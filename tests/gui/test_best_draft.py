""" "Automatic" loads the best draft, and goes over to another when that is found to be better."""

from __future__ import annotations

from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from desktop.models.outlook import Outlook
from desktop.settings import AUTOMATIC
from desktop.start import Desktop
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine
from tests.gui.test_loading import fits

GB = 10**9
PAIRS = {
    "small": Outlook(True, "", "≈ 10 tok/s", 3 * GB, ms=100.0, gain=1.2),
    "large": Outlook(True, "", "≈ 20 tok/s", 4 * GB, ms=50.0, gain=1.6),
}


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine()


@pytest.fixture
def desktop(make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot) -> Desktop:
    """With two drafts for a target that is loaded."""
    made = make_desktop(engine)
    shelf = made.shelf

    def ask_drafts(target: str) -> None:
        shelf.planned.emit(target, PAIRS)
        shelf.drafts.emit(target, [fits("small"), fits("large")])

    shelf.ask_drafts = ask_drafts  # type: ignore[method-assign]
    made.settings.change(draft=AUTOMATIC)
    made.engine.start(load=False)
    made.engine.choose_target("big")
    qtbot.waitUntil(lambda: used(made) is not None and not made.engine.busy)
    return made


def used(desktop: Desktop) -> str | None:
    draft = desktop.engine.state.draft
    return draft.id if draft is not None else None


def details(desktop: Desktop) -> dict[str, str]:
    return {row.value: row.detail for row in desktop.window.top.draft.rows}


def test_automatic_loads_the_best_by_plan_and_the_list_says_which(desktop: Desktop, engine: ScriptedEngine) -> None:
    assert [load.draft for load in engine.loads] == ["large"]
    assert details(desktop)["large"] == "Recommended · ≈ 4.0 GB in memory with the target"
    assert details(desktop)["small"] == "≈ 3.0 GB in memory with the target"


def test_a_draft_that_was_measured_to_be_better_takes_its_place(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    measured: Any = desktop.window.models._measured
    measured._keep(desktop.engine.state, 0.8)
    qtbot.waitUntil(lambda: used(desktop) == "small" and not desktop.engine.busy)
    assert "Recommended" in details(desktop)["small"]
    assert details(desktop)["large"].endswith("0.80× measured here")
    measured._keep(desktop.engine.state, 1.3)
    qtbot.waitUntil(lambda: "1.30×" in details(desktop)["small"])
    assert engine.swaps == ["small"]


def test_a_draft_that_a_person_chose_stays(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    desktop.engine.choose_draft("large")
    measured: Any = desktop.window.models._measured
    measured._keep(desktop.engine.state, 0.8)
    qtbot.waitUntil(lambda: "Recommended" in details(desktop)["small"])
    assert (engine.swaps, used(desktop)) == ([], "large")
