"""The window's actions from the shortcuts table, the settings menu, and the list of shortcuts in Help."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QDialog, QFormLayout, QLabel, QMenu

from desktop.shortcuts import FIXED, SHORTCUTS, keys

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow

_THEMES = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))


class Actions(QObject):
    """``by_id`` holds one action for each row of the table."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.by_id: dict[str, QAction] = {}
        calls = self._calls()
        for shortcut in SHORTCUTS:
            action = QAction(shortcut.text, window)
            action.setShortcut(keys(shortcut))
            action.triggered.connect(lambda _=False, call=calls[shortcut.id]: call())
            window.addAction(action)
            self.by_id[shortcut.id] = action
        window.sidebar.settings.setMenu(self._menu())
        window.sidebar.settings.setPopupMode(window.sidebar.settings.ToolButtonPopupMode.InstantPopup)

    def _calls(self) -> dict[str, Callable[[], object]]:
        window = self._window
        conversation = window.conversation
        return {
            "new": window.new_chat,
            "search": self._search,
            "rename": window.sidebar.rename_current,
            "pin": window.sidebar.pin_current,
            "delete": window.sidebar.delete_current,
            "undo_delete": window.changes.undo,
            "write": window.page.composer.setFocus,
            "attach": window.attachments.choose,
            "stop": window.stop,
            "regenerate": conversation.regenerate,
            "continue": conversation.go_on,
            "copy": self._copy_last,
            "edit": self._edit_last,
            "compare": window.compare,
            "origins": window.origins.toggle,
            "speculation": window.top.switch.toggle,
            "chat_settings": window.edit_chat_settings,
            "sidebar": window.toggle_sidebar,
            "panel": window.toggle_panel,
            "benchmark": window.benchmarking.open,
            "shortcuts": self.show_shortcuts,
            "quit": window.close,
        }

    def _search(self) -> None:
        self._window.sidebar.show()
        self._window.sidebar.start_search()

    def _copy_last(self) -> None:
        replies = [w for w in self._window.page.messages.widgets if w.message.role == "assistant"]
        if replies:
            replies[-1].copy()

    def _edit_last(self) -> None:
        own = [m for m in self._window.conversation.messages if m.role == "user"]
        if own and self._window.stack.currentWidget() is self._window.page:
            self._window.page.messages.rewrite(own[-1].id)

    def _menu(self) -> QMenu:
        window = self._window
        menu = QMenu(window)
        menu.addAction(self.by_id["chat_settings"])
        menu.addAction(self.by_id["origins"])
        menu.addAction(self.by_id["panel"])
        menu.addAction(self.by_id["benchmark"])
        themes = menu.addMenu("Appearance")
        group = QActionGroup(self)
        for choice, text in _THEMES:
            action = themes.addAction(text)
            action.setCheckable(True)
            action.setChecked(window.settings.now.theme == choice)
            action.triggered.connect(lambda _=False, chosen=choice: self._choose_theme(chosen))
            group.addAction(action)
        menu.addSeparator()
        menu.addAction("Export all chats…", window.exchange.export_all)
        menu.addAction("Import chats…", window.exchange.import_)
        menu.addSeparator()
        menu.addAction("Restart engine", window.engine.restart)
        menu.addAction("Open log folder", window.open_logs)
        menu.addAction(self.by_id["shortcuts"])
        menu.addSeparator()
        menu.addAction(self.by_id["quit"])
        return menu

    def _choose_theme(self, choice: str) -> None:
        self._window.settings.change(theme=choice)
        self._window.theme.choose(self._window.settings.now.theme)

    def show_shortcuts(self) -> None:
        """The list, made from the table."""
        dialog = QDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle("Keyboard shortcuts")
        form = QFormLayout(dialog)
        native = QKeySequence.SequenceFormat.NativeText
        rows = [(keys(s).toString(native), s.text) for s in SHORTCUTS] + list(FIXED)
        for key, text in rows:
            form.addRow(QLabel(text), QLabel(key))
        dialog.open()
