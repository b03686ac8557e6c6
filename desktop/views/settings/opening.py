"""Opens the dialogs of settings: the program's, at most once, and the chat's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from desktop.models.named import Named
from desktop.presets import Prompt
from desktop.views.chat_settings import ChatSettingsDialog
from desktop.views.settings.dialog import SettingsDialog

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow


class SettingsOpening(QObject):
    """Neither dialog blocks the window's thread."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.top.settings.clicked.connect(self.open_chat)

    def open(self, page: str = "") -> None:
        """The program's settings, at the page of that key; as they are if they are open."""
        dialog = self._window.findChild(SettingsDialog) or SettingsDialog(self._window)
        if page:
            dialog.pages.turn_to(page)
        dialog.open()

    def finish(self) -> None:
        """The window closes: keep what was typed last."""
        if (dialog := self._window.findChild(SettingsDialog)) is not None:
            dialog.finish()

    def open_chat(self) -> None:
        """The settings of the chat on screen; another may be shown when they are confirmed."""
        window, conversation = self._window, self._window.conversation
        now, prompts = window.settings.now, Named[Prompt](window.settings, "prompts")
        dialog = ChatSettingsDialog(
            conversation.chat_settings, now, window.sampling, prompts, window.engine.state, window
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if (chat := conversation.chat) is not None:
            dialog.accepted.connect(lambda: conversation.set_settings_of(chat.id, dialog.chat))
        else:
            dialog.accepted.connect(lambda: conversation.set_chat_settings(dialog.chat))
            conversation.opened.connect(dialog.reject)  # the empty page is left
        dialog.open()
