"""The page of how the window looks."""

from __future__ import annotations

from collections.abc import Iterable

from desktop.language import marked, tr
from desktop.settings import SettingsFile
from desktop.shortcuts import key_text
from desktop.views.applied import ZOOMS
from desktop.views.settings.marked_choice import marked_choice
from desktop.widgets.form import Form
from desktop.widgets.picker import choice

_THEMES = ((marked("As the system"), "system"), (marked("Light"), "light"), (marked("Dark"), "dark"))
_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)


class AppearancePage(Form):
    """Everything here shows at once."""

    def __init__(self, settings: SettingsFile) -> None:
        super().__init__()
        self._settings = settings
        now = settings.now
        self.theme = marked_choice(_THEMES, now.theme)
        self.theme.activated.connect(lambda _: settings.change(theme=self.theme.currentData()))
        self.text_size = choice(_percents(_SIZES, now.text_size), now.text_size)
        self.text_size.activated.connect(lambda _: settings.change(text_size=self.text_size.currentData()))
        self.zoom = choice(_percents(ZOOMS, now.zoom), now.zoom)
        self.zoom.activated.connect(lambda _: settings.change(zoom=self.zoom.currentData()))
        self.row(tr("Theme"), self.theme, tr("Colours of the window. Default: as the system."))
        says = tr("All text, in percent of the system's. Default: 100\u00a0%.")
        self.row(tr("Text size"), self.text_size, says)
        says = tr(
            "Messages and the message box, on top of that; also {larger}, {smaller} and {usual}. Default: 100\u00a0%.",
            larger=key_text("zoom_in"),
            smaller=key_text("zoom_out"),
            usual=key_text("zoom_reset"),
        )
        self.row(tr("Zoom"), self.zoom, says)


def _percents(steps: Iterable[int], now: int) -> list[tuple[str, object]]:
    """The steps, and what a person has written into the file."""
    return [(tr("{percent} %", percent=n), n) for n in sorted({*steps, now})]
