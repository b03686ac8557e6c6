"""Why a name cannot be is said as it was written: a word that begins with a capital keeps it, in any language."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from desktop.widgets.name_edit import NameEdit


def test_a_reason_keeps_its_letters(qtbot: QtBot) -> None:
    edit = NameEdit("Name", lambda name: f"{name} is taken.")
    qtbot.addWidget(edit)
    qtbot.keyClicks(edit.edit, "Qwen")
    assert edit.name == "Qwen"
    assert edit.words.text() == "Not used: Qwen is taken."
    assert edit.edit.accessibleDescription() == edit.words.text()
