"""The speculation panel: made when it is wanted, follows the reply, and costs nothing while it is closed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from backend.protocol import Speculation
from desktop.start import Desktop
from desktop.theme.tokens import tokens_now
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine

MINUTE = 60_000


def toggle(desktop: Desktop) -> None:
    desktop.window.actions_.by_id["panel"].trigger()


def test_the_real_thing(real: Callable[[], Desktop], qtbot: QtBot) -> None:
    desktop = real()
    desktop.engine.set_speculation(Speculation(length=4))
    toggle(desktop)
    panel = desktop.window.panel
    assert panel is not None
    send(desktop, qtbot, "one two three one two three")
    finished(desktop, qtbot, MINUTE)
    reply = desktop.conversation.messages[-1]
    qtbot.waitUntil(lambda: "tok/s over the whole reply" in panel.rate.words.text())
    assert "Acceptance" in panel.equation.words.text()
    assert "Place by place" in panel.positions.words.text()
    qtbot.waitUntil(lambda: len(panel._rounds) == len(desktop.conversation.messages[-1].rounds) > 0)
    assert reply.timings is not None
    assert panel.costs.table.rowCount() > 2
    assert "In this order: draft" in panel.split.words.text()
    x, y = panel.equation._point.getData()
    assert (len(x), len(y)) == (1, 1)
    assert "plain decoding, above, makes" in panel.timeline.words.text()
    before = panel.what_if.words.text()
    panel.what_if.length.setFocus()
    qtbot.keyClick(panel.what_if.length, Qt.Key.Key_Right)
    assert panel.what_if.words.text() != before
    assert "with the passes of this machine" in before
    desktop.window.new_chat()
    qtbot.waitUntil(lambda: panel.rate.words.text() == "No reply yet.")


def test_all_rounds_of_a_reply_can_be_looked_at(desktop: Desktop, qtbot: QtBot) -> None:
    toggle(desktop)
    panel = desktop.window.panel
    assert panel is not None
    one = {"draft_ms": 9.0, "verify_ms": 40.0, "host_ms": 1.0, "emitted": 3}
    panel._rounds = [one | {"round": n} for n in range(1, 31)]
    panel.refresh()
    last = panel.timeline.last
    assert last.isVisible()
    assert "Rounds 19 to 30 of 30" in panel.timeline.words.text()
    last.setFocus()
    qtbot.keyClick(last, Qt.Key.Key_Home)
    assert "Rounds 1 to 12 of 30" in panel.timeline.words.text()
    panel._rounds.append(one | {"round": 31})
    panel.refresh()
    assert "Rounds 1 to 12 of 31" in panel.timeline.words.text(), "who looks back is left there"
    qtbot.keyClick(last, Qt.Key.Key_End)
    panel._rounds.append(one | {"round": 32})
    panel.refresh()
    assert "Rounds 21 to 32 of 32" in panel.timeline.words.text()


def test_the_figures_of_a_reply_that_went_on_are_its_last_parts(desktop: Desktop, qtbot: QtBot) -> None:
    toggle(desktop)
    panel = desktop.window.panel
    assert panel is not None
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    one = {"draft_ms": 9.0, "verify_ms": 40.0, "host_ms": 1.0, "emitted": 3}
    rounds = [one | {"round": n} for n in range(1, 31)]
    part = {"bytes": 1, "rounds": 21, "target": reply.target}
    desktop.conversation._replace(replace(reply, rounds=rounds, parts=(part,)))
    panel.refresh()
    assert "tok/s over the last part of the reply" in panel.rate.words.text()
    assert "Rounds 21 to 30 of 30" in panel.timeline.words.text()


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Some words, and more of them. " * 30, pause=0.002)


def test_it_is_drawn_while_it_is_open_and_remembered(
    desktop: Desktop, make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    assert desktop.window.panel is None
    toggle(desktop)
    panel = desktop.window.panel
    assert panel is not None
    drawn = 0
    refresh = panel.refresh

    def counted() -> None:
        nonlocal drawn
        drawn += 1
        refresh()

    panel._timer.timeout.disconnect()
    panel._timer.timeout.connect(counted)
    qtbot.waitUntil(lambda: drawn > 0)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    qtbot.wait(700)
    assert 1 < drawn < 12, "at most twice a second"
    toggle(desktop)
    assert panel.isHidden()
    drawn = 0
    send(desktop, qtbot)
    finished(desktop, qtbot)
    qtbot.wait(700)
    assert drawn == 0
    toggle(desktop)
    desktop.window.close()
    desktop.close()
    again = make_desktop(ScriptedEngine())
    qtbot.waitUntil(lambda: again.window.panel is not None and again.window.panel.isVisible())


def test_its_colours_are_the_themes(desktop: Desktop, qtbot: QtBot) -> None:
    toggle(desktop)
    panel = desktop.window.panel
    assert panel is not None
    inks: list[str] = []
    for theme in ("light", "dark"):
        desktop.theme.choose(theme)
        accent = tokens_now().accent.name()
        qtbot.waitUntil(lambda accent=accent: panel.rate._line.opts["pen"].color().name() == accent)
        inks.append(panel.rate.plot.getAxis("left").textPen().color().name())
    assert inks[0] != inks[1]


def test_the_first_window_does_not_load_the_plots(tmp_path: object) -> None:
    import subprocess

    code = "import desktop.views.main_window, sys; sys.exit('pyqtgraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_plain_pass_of_next_to_no_time(desktop: Desktop, qtbot: QtBot) -> None:
    """As a file that was brought in may have it."""
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    rounds = [{"round": 1, "verify_ms": 50.0, "emitted": 1}]
    desktop.store.update_message(reply.id, timings={"predicted_n": 3, "plain_ms": 1e-308}, rounds=rounds).result()
    desktop.window.new_chat()
    desktop.window.open_chat(reply.chat)
    toggle(desktop)
    assert desktop.window.panel is not None
    desktop.window.panel.refresh()
    assert desktop.window.panel.timeline.words.text().startswith("Rounds 1 to 1 of 1")
