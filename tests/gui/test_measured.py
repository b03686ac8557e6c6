"""What a comparison measured of a pair is remembered, and said where drafts are listed."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from backend.bench.report import Ratio, Row
from desktop.models.measured import Measured
from desktop.models.report import Report
from desktop.start import Desktop
from tests.gui.person import finished, send


def test_a_comparison_is_remembered_for_its_pair(desktop: Desktop, qtbot: QtBot, tandem_home: Path) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    desktop.window.compare()
    qtbot.waitUntil(lambda: not desktop.comparing.running)
    measured = desktop.window.models._measured
    target, draft = desktop.engine.state.target, desktop.engine.state.draft
    assert target is not None
    assert draft is not None
    assert measured.speedup(target.id, draft.id) == 1.84
    assert measured.speedup(target.id, "other") is None
    again = Measured(tandem_home / "measured.json", desktop.bridge, desktop.engine)
    assert again.speedup(target.id, draft.id) == 1.84


def test_a_benchmark_is_remembered_too(desktop: Desktop) -> None:
    def row(category: str, mode: str, ratio: float | None) -> Row:
        shown = Ratio(ratio, ratio, ratio, 3) if ratio else None
        return Row(category, mode, 100, 10.0, shown, shown, 0.8, 3.0, 1, 1, None)

    rows = (row("code", "plain", None), row("code", "auto", 2.0), row("all", "plain", None), row("all", "auto", 1.5))
    measured, state = desktop.window.models._measured, desktop.engine.state
    measured.take(Report((), rows, state, {}))
    assert state.target is not None
    assert state.draft is not None
    assert measured.speedup(state.target.id, state.draft.id) == 1.5
    measured.take(Report((), rows[:1], state, {}))
    measured.take(None)
    assert measured.speedup(state.target.id, state.draft.id) == 1.5


def test_a_damaged_file_is_no_fault(desktop: Desktop, tandem_home: Path) -> None:
    (tandem_home / "measured.json").write_text('{"speedups": {"big small": "fast"}}')
    assert Measured(tandem_home / "measured.json", desktop.bridge, desktop.engine).speedup("big", "small") is None
