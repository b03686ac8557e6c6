"""The line at the bottom costs little: at most ten drawings a second, and none while it has nothing new to say."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.widgets.status_bar import UPDATE_MS, StatusBar
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def bar(qtbot: QtBot) -> StatusBar:
    made = StatusBar()
    qtbot.addWidget(made)
    made.resize(1600, 40)
    made.show()
    return made


def drawings(bar: StatusBar) -> list[str]:
    """Grows with each."""
    drawn: list[str] = []
    bar._timer.timeout.connect(lambda: drawn.append(bar.text("rate")))
    return drawn


def test_many_events_are_one_drawing_of_the_latest(bar: StatusBar, qtbot: QtBot) -> None:
    drawn = drawings(bar)
    assert bar._timer.interval() == UPDATE_MS >= 100
    assert bar._timer.isSingleShot(), "the next one is so much later than the last"
    for burst in range(3):
        for n in range(500):
            bar.set_figures(rate=f"{burst}.{n} tok/s", accepted=f"{n} %")
            bar.set_lead(f"Token {n}")
        assert len(drawn) == burst
        qtbot.waitUntil(lambda burst=burst: len(drawn) == burst + 1)
        assert bar._items["rate"].text() == f"{burst}.499 tok/s"
        assert bar._lead.full_text == "Token 499"


def test_nothing_new_is_not_drawn(bar: StatusBar, qtbot: QtBot) -> None:
    drawn = drawings(bar)
    for _ in range(2):
        bar.set_figures(rate="41.2 tok/s")
        bar.set_lead("Drafting", detail="with lookup")
        qtbot.waitUntil(lambda: len(drawn) == 1)
        assert not bar._timer.isActive()
    bar.set_figures(rate="41.2 tok/s", accepted="82 %")
    assert bar._timer.isActive()


def test_an_engine_that_says_the_same_again_costs_nothing(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    status = desktop.window.status
    send(desktop, qtbot)
    finished(desktop, qtbot)
    engine.publish(draft_note="no draft fits")  # what comes with the end of a reply is before that
    qtbot.waitUntil(lambda: status.lead == "No draft fits" and not status._timer.isActive())
    drawn = drawings(status)
    for _ in range(50):
        engine.publish()
    engine.publish(draft_note="the draft is damaged")
    qtbot.waitUntil(lambda: status.lead == "The draft is damaged" and not status._timer.isActive())
    assert len(drawn) == 1
