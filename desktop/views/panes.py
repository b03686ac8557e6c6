"""F6: the keyboard goes from one part of the window to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow


def next_pane(window: MainWindow) -> None:
    """From the chats to the models, the messages, the message box, the panel, and round again; what is hidden not."""
    panes = [(part, holder) for part, holder in _panes(window) if holder.isVisible() and holder.isEnabled()]
    focus = window.focusWidget()
    at = next((n for n, (part, _) in enumerate(panes) if focus is not None and _within(part, focus)), -1)
    panes[(at + 1) % len(panes)][1].setFocus(Qt.FocusReason.TabFocusReason)


def _panes(window: MainWindow) -> list[tuple[QWidget, QWidget]]:
    """Each part, and what in it takes the focus."""
    page = window.page
    panes: list[tuple[QWidget, QWidget]] = [(window.sidebar, window.sidebar.list), (window.top, window.top.target)]
    if page.messages.isVisible() and page.messages.widgets:
        panes.append((page.messages, page.messages.widgets[-1]))
    panes.append((page.composer, page.composer.edit))
    if window.panel is not None:
        panes.append((window.panel, window.panel.what_if.alpha))
    return panes


def _within(part: QWidget, widget: QWidget) -> bool:
    return part is widget or part.isAncestorOf(widget)
