"""The settings of the program: pages that count at once, and one whose changes are applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QMessageBox, QPushButton, QVBoxLayout

from desktop.language import tr
from desktop.models.named import Named
from desktop.presets import SHIPPED, Preset, Prompt
from desktop.theme.units import lines
from desktop.views.settings.appearance import AppearancePage
from desktop.views.settings.data import DataPage
from desktop.views.settings.engine import EnginePage
from desktop.views.settings.preset_use import PresetUse
from desktop.views.settings.presets import PresetsPage
from desktop.views.settings.prompts import PromptsPage
from desktop.views.settings.writing import WritingPage
from desktop.widgets.pages import Pages

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow

ENGINE = "engine"
"""The page's key."""
_WIDTH, _HEIGHT = 42, 34
"""In heights of a line of text, as far as the screen has room."""


class SettingsDialog(QDialog):
    """Of one window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Settings"))
        settings, prompts = window.settings, Named[Prompt](window.settings, "prompts")
        presets = Named[Preset](settings, "presets", SHIPPED)
        self.appearance = AppearancePage(settings)
        self.writing = WritingPage(settings, window.conversation, prompts)
        self.presets = PresetsPage(presets, PresetUse(settings, presets, window.shelf, window.sampling))
        self.prompts = PromptsPage(prompts)
        self.engine = EnginePage(settings, window.engine, window.shelf)
        exchange = {
            tr("Export all chats…"): window.exchange.export_all,
            tr("Import chats…"): window.exchange.import_,
        }
        self.data = DataPage(settings.path, window.logs, exchange)
        self.pages = Pages(tr("Settings"))
        for key, title, page in (
            ("appearance", tr("Appearance"), self.appearance),
            ("writing", tr("Writing"), self.writing),
            ("presets", tr("Presets"), self.presets),
            ("prompts", tr("Prompts"), self.prompts),
            (ENGINE, tr("Engine"), self.engine),
            ("data", tr("Data"), self.data),
        ):
            self.pages.add(key, title, page)
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.setContentsMargins(12, 8, 12, 8)
        row.addStretch(1)
        row.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.pages, 1)
        layout.addLayout(row)
        self.setMinimumSize(300, 240)
        room = window.screen().availableSize() * 0.9
        self.resize(QSize(lines(self, _WIDTH), lines(self, _HEIGHT)).boundedTo(room))
        for button in self.findChildren(QPushButton):
            button.setAutoDefault(False)  # Enter in a field presses nothing
        self.pages.turn_to("appearance")
        self.pages.focus_choice()

    def finish(self) -> None:
        """Keep what was typed last."""
        for page in (self.writing, self.presets, self.prompts, self.engine):
            page.finish()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focus = self.focusWidget()
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif isinstance(focus, QPushButton):
            focus.click()

    def reject(self) -> None:
        """Close; what is chosen for loading and not applied is asked about before."""
        self.finish()
        if self.engine.pending:
            self._ask()
        else:
            super().reject()

    def _ask(self) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle(tr("Not applied yet"))
        box.setText(tr("What you chose for loading is not applied yet."))
        box.setInformativeText(self.engine.problem or tr("Applied, it counts from the next load on."))
        apply = box.addButton(self.engine.apply_.text(), QMessageBox.ButtonRole.AcceptRole)
        apply.setEnabled(not self.engine.problem)
        discard = box.addButton(tr("Discard"), QMessageBox.ButtonRole.DestructiveRole)
        back = box.addButton(tr("Go back"), QMessageBox.ButtonRole.RejectRole)
        box.setEscapeButton(back)
        box.setDefaultButton(back if self.engine.problem else apply)
        box.buttonClicked.connect(lambda button: self._answer(button is apply, button is discard))
        box.open()

    def _answer(self, apply: bool, discard: bool) -> None:
        if apply:
            self.engine.apply()
        elif discard:
            self.engine.discard()
        else:
            self.pages.turn_to(ENGINE)
            return
        super().reject()
