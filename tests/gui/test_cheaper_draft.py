"""The setting for a cheaper copy of the draft, and what the window says of it."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.views.settings.dialog import ENGINE, SettingsDialog
from tests.gui.scripted import ScriptedEngine, model

USED = "using a Q4_0 copy of the draft: a step takes 11 ms, not 15"


def opened(desktop: Desktop) -> SettingsDialog:
    desktop.window.edit_settings(ENGINE)
    dialog = desktop.window.findChild(SettingsDialog)
    assert dialog is not None
    return dialog


def test_it_is_off_until_a_person_asks_for_it_and_then_part_of_every_load(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    assert not engine.loads[-1].options.cheaper_draft
    dialog = opened(desktop)
    box = dialog.engine.loading.cheaper_draft
    assert box.accessibleName() == "Cheaper draft copy"
    assert box.currentText() == "No"
    box.setCurrentIndex(1)
    box.activated.emit(1)
    dialog.engine.apply_.click()
    dialog.reject()
    qtbot.waitUntil(lambda: len(engine.loads) == 2)
    assert engine.loads[-1].options.cheaper_draft
    assert desktop.settings.now.load.cheaper_draft
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")


def test_what_became_of_the_copy_is_said(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    bar = desktop.window.status
    engine.publish(draft=model("small"), draft_copy="making a Q4_0 copy of the draft: 40 %", draft_copy_busy=True)
    qtbot.waitUntil(lambda: bar.lead == "Making a Q4_0 copy of the draft: 40 %")
    engine.publish(draft_copy=USED, draft_copy_busy=False)
    qtbot.waitUntil(lambda: bar.lead == "U" + USED[1:])
    assert not desktop.window.page.notice.isVisible(), "it is no fault"
    dialog = opened(desktop)
    assert f"U{USED[1:]}." in [label.text() for label in dialog.findChildren(QLabel)]
    dialog.reject()
