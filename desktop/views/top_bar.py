"""Target, draft and switch: the three things that the app is about, always in sight."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from desktop.language import tr
from desktop.shortcuts import key_text
from desktop.theme.icons import IconButton
from desktop.theme.units import lines
from desktop.widgets.picker import Picker
from desktop.widgets.switch import Switch

_NARROW = 34
"""Heights of a line, below which words give way to what can be chosen."""


class TopBar(QFrame):
    """Only shows and asks; what is chosen is set from outside."""

    switched = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("top")
        self.sidebar = IconButton("sidebar", tr("Show or hide the chats"), shortcut=key_text("sidebar"))
        self.target = Picker(tr("Target model"), tr("Choose a model"))
        self.draft = Picker(tr("Draft"), tr("Draft"))
        self.switch = Switch(tr("Speculation"))
        self.switch.toggled.connect(self._toggled)
        self._word = QLabel(tr("Speculation"))
        self._word.setBuddy(self.switch)
        self._bolt = QLabel(tr("Draft"))
        self._bolt.setObjectName("subtle")
        self._bolt.setBuddy(self.draft)
        self.settings = IconButton("sliders", tr("Chat settings"), shortcut=key_text("chat_settings"))
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 8, 10, 8)
        row.setSpacing(8)
        row.addWidget(self.sidebar)
        row.addWidget(self.target, 5)
        row.addWidget(self._bolt)
        row.addWidget(self.draft, 4)
        row.addWidget(self._word)
        row.addWidget(self.switch)
        row.addWidget(self.settings)
        self._quiet = False

    def set_switch(self, on: bool) -> None:
        """Show the setting without asking for it."""
        self._quiet = True
        self.switch.setChecked(on)
        self._quiet = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= lines(self, _NARROW)
        self._word.setVisible(wide)
        self._bolt.setVisible(wide)

    def _toggled(self, on: bool) -> None:
        if not self._quiet:
            self.switched.emit(on)
