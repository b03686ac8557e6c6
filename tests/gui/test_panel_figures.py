"""What the panel's plots and its table hold, figure by figure."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from backend.equations import expected_tokens
from backend.protocol import CostTable, Timings
from desktop.models import insight
from desktop.start import Desktop
from desktop.theme.tokens import tokens_now
from desktop.widgets.plots import EquationPlot, TimelinePlot
from desktop.widgets.time_split import TimeSplit
from tests.gui.person import finished, send

ROUNDS = [
    {"round": 1, "draft_ms": 10.0, "verify_ms": 60.0, "host_ms": 2.0, "emitted": 4},
    {"round": 2, "draft_ms": 0.0, "verify_ms": 50.0, "host_ms": 1.0, "emitted": 1},
]


def test_the_rounds_and_above_them_the_plain_passes(qtbot: QtBot) -> None:
    plot = TimelinePlot()
    qtbot.addWidget(plot)
    plot.show_rounds(insight.timeline(ROUNDS), 50.0, "said")
    draft, verify, host = (bar.opts for bar in plot._bars)
    assert (draft["x0"], draft["width"]) == ([0.0, 72.0], [10.0, 0.0])
    assert (verify["x0"], verify["width"]) == ([10.0, 72.0], [60.0, 50.0])
    assert (host["x0"], host["width"]) == ([70.0, 122.0], [2.0, 1.0])
    plain = plot._plain.opts
    assert (plain["x0"], plain["width"]) == ([0.0, 50.0], [50.0, 50.0])
    assert plain["y0"] > draft["y0"] + draft["height"], "above the rounds"
    assert plot.plot.accessibleDescription() == "said"
    plot.show_rounds(insight.timeline(ROUNDS), None, "")
    assert plot._plain.opts["x0"] == []


@pytest.mark.parametrize(("k", "solid"), [(6, True), (0, False)])
def test_the_curves_and_the_replys_own(k: int, solid: bool, qtbot: QtBot) -> None:
    plot = EquationPlot()
    qtbot.addWidget(plot)
    plot.show_reply(0.8, k, 3.1, "said")
    four, eight, own = (curve.getData() for curve in plot._curves)
    for (x, y), length in ((four, 4), (eight, 8)):
        assert list(y) == pytest.approx([expected_tokens(a, length) for a in x])
        assert (x[0], x[-1]) == (0, 1)
    assert (own[1] is not None and len(own[1]) > 0) == solid
    if solid:
        assert list(own[1]) == pytest.approx([expected_tokens(a, k) for a in own[0]])
        assert plot._curves[2].opts["pen"].color() == tokens_now().accent
    x, y = plot._point.getData()
    assert (list(x), list(y)) == ([0.8], [3.1])
    assert "4 (dashed) and 8 (dotted)" in plot.words.text()


def test_what_passes_cost_is_a_table(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    desktop.window.actions_.by_id["panel"].trigger()
    panel = desktop.window.panel
    assert panel is not None
    panel.refresh()
    table = panel.costs.table
    texts = [[table.item(r, c).text() for c in range(3)] for r in range(table.rowCount())]  # type: ignore[union-attr]
    assert texts == [
        ["pass over 1", "50.0", "1.00"],
        ["pass over 2", "60.0", "1.20"],
        ["pass over 4", "80.0", "1.60"],
        ["pass over 8", "120.0", "2.40"],
        ["draft step", "5.0", "0.10"],
    ]
    last = table.visualItemRect(table.item(4, 0))
    assert table.viewport().rect().contains(last), "all rows are seen without scrolling"
    panel.costs.show_rows([])
    assert panel.costs.nothing.isVisible()
    assert not table.isVisible()


def test_where_a_pass_goes(qtbot: QtBot) -> None:
    split = TimeSplit()
    qtbot.addWidget(split)
    split.resize(300, 80)
    split.show()
    split.show_shares(insight.time_shares(Timings(draft_ms=12.0, verify_ms=85.0, host_ms=3.0)))
    assert (
        split.words.text()
        == "In this order: draft 12\N{NO-BREAK SPACE}%, target 85\N{NO-BREAK SPACE}%, host 3\N{NO-BREAK SPACE}%."
    )
    image = split.bar.grab().toImage()
    across = [image.pixelColor(x, image.height() // 2) for x in range(image.width())]
    tokens = tokens_now()
    for ink, share in ((tokens.accent, 0.12), (tokens.faint, 0.85), (tokens.bad, 0.03)):
        assert across.count(ink) == pytest.approx(share * len(across), abs=3)
    split.show_shares(insight.time_shares(Timings()))
    assert not split.bar.isVisible()
    assert split.words.text() == "No rounds yet."


def test_nothing_measured_costs_nothing() -> None:
    assert insight.cost_rows(None) == insight.cost_rows(CostTable()) == []
