"""What stands beside the chat, as a person wants it: the list of chats, and the speculation panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from desktop.store import Message
    from desktop.views.main_window import MainWindow
    from desktop.views.panel import Panel
    from desktop.widgets.divided import Divided


class Beside(QObject):
    """Of one window; ``split`` divides it."""

    def __init__(self, window: MainWindow, split: Divided) -> None:
        super().__init__(window)
        self._window, self.split = window, split
        self.panel: Panel | None = None
        self._round: tuple[int, int] | None = None
        """The one that a person looked into last: its reply, and its number."""
        window.sidebar.wanted = window.settings.now.sidebar
        window.top.sidebar.clicked.connect(self.toggle_chats)
        window.status.wanted.connect(self.toggle_panel)
        window.page.messages.round_picked.connect(self._picked)
        if window.settings.now.panel:  # after the first paint: its plots take a while to load
            QTimer.singleShot(0, self, self.toggle_panel)

    def toggle_chats(self) -> None:
        """Show or hide them; in a narrow window that counts for now only."""
        sidebar, settings = self._window.sidebar, self._window.settings
        sidebar.setVisible(sidebar.isHidden())
        if not sidebar.narrow:
            sidebar.wanted = not sidebar.isHidden()
            settings.change(sidebar=sidebar.wanted)

    def toggle_panel(self) -> None:
        """Show or hide the panel, which is made when it is first wanted."""
        window = self._window
        if self.panel is None:
            from desktop.views.panel import Panel

            self.panel = Panel(window.bridge, window.engine, window.conversation)
            self.panel.measure.clicked.connect(window.benchmarking.open)
            self.panel.hide()
            self.split.addWidget(self.panel)
            self.split.setSizes([*self.split.sizes()[:2], self.split.shares[2]])
            if self._round is not None:
                self.panel.show_round(*self._round)
        self.panel.setVisible(self.panel.isHidden())
        window.settings.change(panel=not self.panel.isHidden())

    def _picked(self, message: Message, number: int) -> None:
        self._round = message.id, number
        if self.panel is not None:
            self.panel.show_round(*self._round)
