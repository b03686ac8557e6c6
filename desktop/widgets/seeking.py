"""Brings words in a message into view, wherever in the chat it stands, and marks them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QScrollArea

from desktop.widgets.message import MessageWidget


class Seeking(QObject):
    """What stands between the words and the end of a huge chat would hold the window up for seconds: a part at a time.

    Args:
        view: the messages.
        widget: a message's, where it is laid out; called before anything is scrolled.
        more: lays out a part of what stands further up; false = there is nothing.
    """

    def __init__(
        self, view: QScrollArea, widget: Callable[[int], MessageWidget | None], more: Callable[[], bool]
    ) -> None:
        super().__init__(view)
        self._view, self._widget, self._more = view, widget, more
        self._sought: tuple[int, Sequence[str]] | None = None
        self._marked: MessageWidget | None = None

    def seek(self, message: int, words: Sequence[str]) -> None:
        """Until others are sought, or :meth:`stop`."""
        self._sought = message, words
        self._go_on()

    def stop(self) -> None:
        """Another chat is shown."""
        self._sought = None

    def gone(self, widget: MessageWidget) -> None:
        """This one is shown no more."""
        if widget is self._marked:
            self._marked = None

    def _go_on(self) -> None:
        if self._sought is None:
            return
        message, words = self._sought
        widget = self._widget(message)
        if widget is None:
            if self._more():
                QTimer.singleShot(0, self, self._go_on)
            return
        self._sought = None
        if self._marked is not None:
            self._marked.mark([])
        self._marked = widget
        widget.mark(words)
        for wait in (0, 80):  # once more when texts that were never shown before have their height
            QTimer.singleShot(wait, widget, lambda: self._bring(widget, words))

    def _bring(self, widget: MessageWidget, words: Sequence[str]) -> None:
        view, page = self._view, self._view.widget()
        assert page is not None
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
        if (place := widget.mark(words)) is None:
            view.ensureWidgetVisible(widget)
            return
        inner, rect = place
        at = inner.mapTo(page, rect.center())
        view.ensureVisible(at.x(), at.y(), 0, view.viewport().height() // 3)
