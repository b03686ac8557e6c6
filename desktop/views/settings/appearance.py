"""The page of how the window looks."""

from __future__ import annotations

from collections.abc import Iterable

from desktop.settings import SettingsFile
from desktop.shortcuts import key_text
from desktop.views.applied import ZOOMS
from desktop.widgets.form import Form
from desktop.widgets.picker import choice

_THEMES = (("As the system", "system"), ("Light", "light"), ("Dark", "dark"))
_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)


class AppearancePage(Form):
    """Everything here shows at once."""

    def __init__(self, settings: SettingsFile) -> None:
        super().__init__()
        self._settings = settings
        now = settings.now
        self.theme = choice(_THEMES, now.theme)
        self.theme.activated.connect(lambda _: settings.change(theme=self.theme.currentData()))
        self.text_size = choice(_percents(_SIZES, now.text_size), now.text_size)
        self.text_size.activated.connect(lambda _: settings.change(text_size=self.text_size.currentData()))
        self.zoom = choice(_percents(ZOOMS, now.zoom), now.zoom)
        self.zoom.activated.connect(lambda _: settings.change(zoom=self.zoom.currentData()))
        self.row("Theme", self.theme, "Colours of the window. Default: as the system.")
        self.row("Text size", self.text_size, "All text, in percent of the system's. Default: 100\u00a0%.")
        keys = f"{key_text('zoom_in')}, {key_text('zoom_out')} and {key_text('zoom_reset')}"
        self.row("Zoom", self.zoom, f"Messages and the message box, on top of that; also {keys}. Default: 100\u00a0%.")


def _percents(steps: Iterable[int], now: int) -> list[tuple[str, object]]:
    """The steps, and what a person has written into the file."""
    return [(f"{n} %", n) for n in sorted({*steps, now})]
