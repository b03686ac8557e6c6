"""Choices that show in the window as soon as they are made: theme, size of text, zoom, and the key that sends."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QWheelEvent

from desktop.language import tr
from desktop.settings import Settings, SettingsFile
from desktop.theme.theme import Theme
from desktop.views.chat_page import ChatPage
from desktop.widgets.toast import Toast

ZOOMS = (50, 67, 80, 90, 100, 110, 125, 150, 175, 200, 250, 300)
"""Percent, step by step."""
_NOTCH = 120
"""Eighths of a degree by which a wheel turns that clicks."""


class Applied(QObject):
    """Follows the settings, whoever changes them. The theme has its first choice from the program's start."""

    def __init__(self, page: ChatPage, settings: SettingsFile, theme: Theme) -> None:
        super().__init__(page)
        self._page, self._settings, self._theme = page, settings, theme
        self._was = settings.now
        self._show(settings.now)
        settings.changed.connect(self._follow)

    def _follow(self) -> None:
        was, now = self._was, self._settings.now
        self._was = now
        if now.text_size != was.text_size:
            self._theme.set_text_size(now.text_size)
        if now.theme != was.theme:
            self._theme.choose(now.theme)
        if (now.zoom, now.send_with) != (was.zoom, was.send_with):
            self._show(now)

    def _show(self, now: Settings) -> None:
        self._page.set_zoom(now.zoom)
        self._page.composer.set_send_with(now.send_with)
        self._page.messages.set_send_with(now.send_with)


class Zoom(QObject):
    """Larger and smaller, over messages and message box; kept for the next start."""

    def __init__(self, page: ChatPage, settings: SettingsFile, toast: Toast) -> None:
        super().__init__(page)
        self._settings, self._toast = settings, toast
        self._turned = 0
        page.messages.viewport().installEventFilter(self)

    def step(self, by: int) -> None:
        """To the next larger (1) or smaller (-1) size, as far as there is one."""
        now = self._settings.now.zoom
        beyond = [zoom for zoom in ZOOMS if (zoom > now if by > 0 else zoom < now)]
        self._set(min(beyond, default=now) if by > 0 else max(beyond, default=now))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The wheel zooms while Ctrl is held."""
        if not isinstance(event, QWheelEvent) or not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return False
        turned = event.angleDelta().y()
        self._turned = turned + (self._turned if self._turned * turned > 0 else 0)
        if abs(self._turned) >= _NOTCH:  # touchpads and fine wheels tell of it bit by bit
            self.step(1 if self._turned > 0 else -1)
            self._turned = 0
        return True

    def reset(self) -> None:
        """As large as the text around it."""
        self._set(100)

    def _set(self, zoom: int) -> None:
        if zoom != self._settings.now.zoom:
            self._settings.change(zoom=zoom)
        self._toast.say(tr("Zoom {zoom} %", zoom=zoom))
