"""Light, dark or the system's, in the size that is read best: dresses the application whenever one of these changes."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QFontDatabase, QFontInfo, QFontMetricsF
from PySide6.QtWidgets import QApplication

from desktop.theme.style import stylesheet
from desktop.theme.tokens import own_palette, tokens_for

Choice = Literal["system", "light", "dark"]
_SCHEMES = {
    "system": Qt.ColorScheme.Unknown,
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
}
_SMALLEST_POINTS = 10.0
"""Some window systems without a desktop report 9 points, too small for reading."""


class Theme(QObject):
    """Owns the application's palette and style sheet, until closed."""

    def __init__(self, app: QApplication) -> None:
        super().__init__()
        self._app = app
        self.choice: Choice = "system"
        self._font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        self._points = max(QFontInfo(self._font).pointSizeF(), _SMALLEST_POINTS)
        self._size(100)
        self._listening = app.styleHints().colorSchemeChanged.connect(self._dress)

    def close(self) -> None:
        """The application stays as it is: another one dresses it, if any."""
        QObject.disconnect(self._listening)

    def choose(self, choice: Choice) -> None:
        """Switch to ``choice`` now."""
        self.choice = choice
        hints = self._app.styleHints()
        if choice == "system":
            hints.unsetColorScheme()
        else:
            hints.setColorScheme(_SCHEMES[choice])
        self._dress()

    def set_text_size(self, percent: int) -> None:
        """All text, in percent of the system's size."""
        self._size(percent)
        self._dress()

    def _size(self, percent: int) -> None:
        self._font.setPointSizeF(self._points * percent / 100)
        if self._app.font() != self._font:
            self._app.setFont(self._font)

    def _dress(self) -> None:
        if self._app.styleHints().colorScheme() == Qt.ColorScheme.Unknown:  # the platform has no schemes of its own
            self._app.setPalette(own_palette(dark=self.choice == "dark"))
        unit = max(3, round(QFontMetricsF(self._font).height() / 4.5))
        mirrored = self._app.layoutDirection() == Qt.LayoutDirection.RightToLeft
        sheet = stylesheet(tokens_for(self._app.palette()), unit, self._font.pointSizeF(), mirrored=mirrored)
        if sheet != self._app.styleSheet():
            self._app.setStyleSheet(sheet)
