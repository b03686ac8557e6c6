"""The tour's pictures of the settings, and of the window with larger text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog

from backend.protocol import Sampling

if TYPE_CHECKING:
    from tests.long.tour import Tour

_PICTURES = (("presets", 100), ("engine", 100), ("appearance", 150), ("engine", 150))


def settings(tour: Tour) -> None:
    """Pages of the program's settings, also with text of one and a half the size, and the list of shortcuts."""
    from desktop.presets import Preset
    from desktop.views.cheat_sheet import CheatSheet
    from desktop.views.settings.dialog import SettingsDialog

    chosen = tour.desktop.settings
    chosen.change(presets={"warm": Preset(name="Warm", sampling=Sampling(temperature=1.1))})
    for page, size in _PICTURES:
        chosen.change(text_size=size)
        tour.window.edit_settings(page)
        dialog = tour.window.findChild(SettingsDialog)
        assert dialog is not None
        dialog.presets.editor.show("warm")
        _take(tour, dialog, f"settings-{page}" + ("" if size == 100 else f"-{size}"))
    tour.picture("large-text")
    chosen.change(text_size=100)
    tour.desktop.theme.choose("dark")
    tour.window.edit_settings("engine")
    dark = tour.window.findChild(SettingsDialog)
    assert dark is not None
    _take(tour, dark, "settings-dark")
    tour.desktop.theme.choose("light")
    chosen.change(presets={})
    tour.window.actions_.by_id["shortcuts"].trigger()
    sheet = tour.window.findChild(CheatSheet)
    assert sheet is not None
    _take(tour, sheet, "shortcuts")


def _take(tour: Tour, dialog: QDialog, name: str) -> None:
    tour.settle()
    dialog.grab().save(str(tour.folder / f"{name}.png"))
    dialog.reject()
    tour.settle()
