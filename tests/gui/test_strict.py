"""Exact texts: the setting is remembered, and the status bar says what it comes to."""

from __future__ import annotations

from collections.abc import Callable

from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.views.settings.dialog import ENGINE, SettingsDialog
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine

MINUTE = 60_000
Start = Callable[[], Desktop]


def choose(desktop: Desktop, qtbot: QtBot, strict: bool | None) -> None:
    """In the settings."""
    desktop.window.edit_settings(ENGINE)
    dialog = desktop.window.findChild(SettingsDialog)
    assert dialog is not None
    box = dialog.engine.loading.strict
    box.setCurrentIndex(box.findData(strict))
    box.activated.emit(box.currentIndex())
    dialog.engine.apply_.click()
    dialog.reject()
    qtbot.waitUntil(lambda: desktop.window.findChild(SettingsDialog) is None)


def beside(desktop: Desktop) -> str:
    """What stands beside the figures."""
    label = desktop.window._parts[0]._exact  # type: ignore[union-attr]
    return label.text() if label.isVisible() else ""


def test_the_real_thing(real: Start, qtbot: QtBot) -> None:
    desktop = real()
    assert desktop.engine.state.exact_rows is None
    assert beside(desktop) == ""
    choose(desktop, qtbot, True)
    qtbot.waitUntil(lambda: desktop.engine.state.exact_rows is not None and not desktop.engine.busy, timeout=MINUTE)
    state = desktop.engine.state
    assert state.exact_rows == 16, "without llamafile's kernels every size is exact"
    assert (state.target and state.target.id, state.draft and state.draft.id) == ("target", "near")
    assert state.speculation.source == "draft"
    assert beside(desktop) == "texts exact"
    send(desktop, qtbot)
    finished(desktop, qtbot, MINUTE)
    assert desktop.conversation.messages[-1].state == "complete"
    desktop.window.top.switch.click()
    qtbot.waitUntil(lambda: beside(desktop) == "")
    desktop.window.close()
    desktop.close()

    again = real()
    assert again.settings.now.load.strict
    assert again.engine.state.exact_rows == 16
    choose(again, qtbot, False)
    qtbot.waitUntil(lambda: again.engine.state.exact_rows is None and used(again), timeout=MINUTE)


def used(desktop: Desktop) -> bool:
    return desktop.engine.state.draft is not None and not desktop.engine.busy


def test_where_only_single_tokens_are_exact_it_is_said(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    status = desktop.window.status
    engine.publish(exact_rows=3)
    qtbot.waitUntil(lambda: beside(desktop) == "texts exact")
    engine.publish(exact_rows=1)
    qtbot.waitUntil(lambda: status.lead == "Ready, plain: only one-token passes are exact")
    assert beside(desktop) == ""
    engine.pause = 0.01
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: status.lead == "Writing plain: only one-token passes are exact")
    engine.pause = 0
    finished(desktop, qtbot)
