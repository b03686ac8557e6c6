"""The window's actions from the shortcuts table, and the menu of what is seldom done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from desktop.language import tr
from desktop.shortcuts import SHORTCUTS, all_keys
from desktop.views.about import About
from desktop.views.cheat_sheet import CheatSheet
from desktop.views.panes import next_pane

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow


class Actions(QObject):
    """``by_id`` holds one action for each row of the table."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.by_id: dict[str, QAction] = {}
        calls = self._calls()
        for shortcut in SHORTCUTS:
            action = QAction(shortcut.text, window)
            action.setShortcuts(all_keys(shortcut))
            action.triggered.connect(lambda _=False, call=calls[shortcut.id]: call())
            window.addAction(action)
            self.by_id[shortcut.id] = action
        for number in range(9):
            action = QAction(window)
            action.setShortcut(QKeySequence(f"Ctrl+{number + 1}"))
            action.triggered.connect(lambda _=False, number=number: window.sidebar.open_nth(number))
            window.addAction(action)
        window.sidebar.settings.clicked.connect(lambda: window.edit_settings())
        window.sidebar.more.setMenu(self._menu())
        window.sidebar.more.setPopupMode(window.sidebar.more.ToolButtonPopupMode.InstantPopup)

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
            "earlier": lambda: self._step_version(-1),
            "later": lambda: self._step_version(1),
            "next_pane": lambda: next_pane(window),
            "regenerate": lambda: self._in_chat(conversation.regenerate),
            "continue": lambda: self._in_chat(conversation.go_on),
            "copy": self._copy_last,
            "edit": self._edit_last,
            "compare": window.compare,
            "origins": window.origins.toggle,
            "speculation": window.top.switch.toggle,
            "chat_settings": window.edit_chat_settings,
            "models": lambda: window.models.manage(),  # made later
            "sidebar": window.beside.toggle_chats,
            "panel": window.beside.toggle_panel,
            "benchmark": window.benchmarking.open,
            "zoom_in": lambda: window.zoom.step(1),
            "zoom_out": lambda: window.zoom.step(-1),
            "zoom_reset": window.zoom.reset,
            "settings": window.edit_settings,
            "about": lambda: About(window).open(),
            "shortcuts": self.show_shortcuts,
            "quit": window.close,
        }

    def _search(self) -> None:
        self._window.sidebar.show()
        self._window.sidebar.start_search()

    def _step_version(self, step: int) -> None:
        """Of the message that has the focus, else of the last one that has versions."""
        messages, place = self._window.page.messages, self._window.conversation.place
        widgets = [w for w in messages.widgets if messages.isVisible() and place(w.message)[1] > 1]
        focus = self._window.focusWidget()
        focused = [w for w in widgets if focus is not None and (w is focus or w.isAncestorOf(focus))]
        for widget in (focused or widgets)[-1:]:
            messages.sibling.emit(widget.message, step)

    def _copy_last(self) -> None:
        replies = [w for w in self._window.page.messages.widgets if w.message.role == "assistant"]
        if replies:
            replies[-1].copy()

    def _in_chat(self, act: Callable[[], object]) -> None:
        """Nothing is written behind a comparison: the text that it would go into is not seen there."""
        if self._window.stack.currentWidget() is self._window.page:
            act()

    def _edit_last(self) -> None:
        own = [m for m in self._window.conversation.messages if m.role == "user"]
        if own:
            self._in_chat(lambda: self._window.page.messages.rewrite(own[-1].id))

    def _menu(self) -> QMenu:
        window = self._window
        menu = QMenu(window)
        menu.addAction(self.by_id["models"])
        menu.addAction(self.by_id["chat_settings"])
        menu.addAction(self.by_id["origins"])
        menu.addAction(self.by_id["panel"])
        menu.addAction(self.by_id["benchmark"])
        menu.addSeparator()
        menu.addAction(tr("Export all chats…"), window.exchange.export_all)
        menu.addAction(tr("Import chats…"), window.exchange.import_)
        menu.addSeparator()
        menu.addAction(tr("Restart engine"), window.engine.restart)
        menu.addAction(tr("Open log folder"), window.open_logs)
        menu.addAction(self.by_id["shortcuts"])
        menu.addAction(self.by_id["about"])
        menu.addSeparator()
        menu.addAction(self.by_id["quit"])
        return menu

    def show_shortcuts(self) -> None:
        """The list, made from the table."""
        CheatSheet(self._window.settings.now.send_with, self._window).open()
