"""The conversation list: new, open, search, rename in place, delete with undo."""

from __future__ import annotations

from functools import partial
from itertools import islice

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from desktop.language import tr
from desktop.models.attempt import attempt
from desktop.models.chats import CHAT, HIT, ChatList
from desktop.models.finder import Finder
from desktop.shortcuts import key_text
from desktop.store import Chat, Hit, Store
from desktop.theme.icons import IconButton
from desktop.theme.units import lines
from desktop.views.chat_row import ChatRow
from desktop.widgets.midnight import Midnight

_WINDOW_FROM = 42
"""Heights of a line in the window's width, below which the chats hide by themselves."""


class Sidebar(QFrame):
    """Shows what the store holds; asks for changes by signals."""

    new_chat = Signal()
    opened = Signal(int)
    found = Signal(object, str)
    """Hit, and the words that were looked for."""
    renamed = Signal(int, str)
    deleted = Signal(object)
    pinned = Signal(object)
    """The chat, which is to be pinned if it is not, and the other way round."""
    exported = Signal(object)
    noticed = Signal(object)

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("side")
        self._store = store
        self.narrow: bool | None = None
        self.wanted = True
        self.model = ChatList(self)
        self.new = IconButton("plus", tr("New chat"), text=True, shortcut=key_text("new"))
        self.new.clicked.connect(self.new_chat)
        self._finding = IconButton("search", tr("Search chats"), shortcut=key_text("search"))
        self._finding.clicked.connect(self._toggle_search)
        self.search, self.list = self._search_field(), self._chat_list()
        self.settings = IconButton("gear", tr("Settings"), text=True, shortcut=key_text("settings"))
        self.more = IconButton("more", tr("More"))
        self._lay_out()
        self._fit()
        self._current: int | None = None
        self._answered: str | None = None
        """The words of which the list shows what was found; "" = it shows all chats, None = nothing yet."""
        self._to_first = False
        self.finder = Finder(store, self)
        self.finder.found.connect(self._found)
        self.finder.noticed.connect(self.noticed)
        self.midnight = Midnight(self)
        self.midnight.passed.connect(self._new_day)

    def _search_field(self) -> QLineEdit:
        field = QLineEdit()
        field.setObjectName("field")
        field.setPlaceholderText(tr("Search chats"))
        field.setAccessibleName(tr("Search chats"))
        field.setClearButtonEnabled(True)
        field.hide()
        field.textChanged.connect(self._words_changed)
        field.returnPressed.connect(self._to_hits)
        field.installEventFilter(self)
        return field

    def _chat_list(self) -> QListView:
        view = QListView()
        view.setModel(self.model)
        view.setAccessibleName(tr("Chats"))
        view.setItemDelegate(ChatRow(self.renamed, self))
        view.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._menu)
        view.clicked.connect(self._open)
        view.activated.connect(self._open)
        return view

    def _lay_out(self) -> None:
        top, bottom = QHBoxLayout(), QHBoxLayout()
        for row, first, last in ((top, self.new, self._finding), (bottom, self.settings, self.more)):
            row.addWidget(first)
            row.addStretch(1)
            row.addWidget(last)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addLayout(top)
        layout.addWidget(self.search)
        layout.addWidget(self.list, 1)
        layout.addLayout(bottom)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.narrow is not None:
            self._fit()
            self.make_room(self.window().width())

    def make_room(self, width: int) -> None:
        """Hide when a window of that width becomes narrow, and come back, if ``wanted``, when it no longer is."""
        narrow = width < lines(self, _WINDOW_FROM)
        if narrow != self.narrow:
            self.narrow = narrow
            self.setVisible(self.wanted and not narrow)

    def _fit(self) -> None:
        self.setMaximumWidth(max(lines(self, 20), self.minimumSizeHint().width()))

    def minimumSizeHint(self) -> QSize:
        """Room for its buttons, in whatever language."""
        return super().minimumSizeHint().expandedTo(QSize(lines(self, 9), 0))

    def start_search(self) -> None:
        """Open the search field; in one that is open, other words can be typed at once."""
        self.search.show()
        self.search.setFocus()
        self.search.selectAll()

    def end_search(self) -> None:
        """Close the search field, and show all chats."""
        self.search.hide()
        self.search.clear()

    def open_nth(self, number: int) -> None:
        """Open one of the chats that are listed, counted from 0."""
        rows = (self.model.index(row) for row in range(self.model.rowCount()))
        chats = (index for index in rows if isinstance(index.data(CHAT), Chat))
        if (index := next(islice(chats, number, None), None)) is not None:
            self._open(index)

    def _toggle_search(self) -> None:
        self.end_search() if self.search.isVisible() else self.start_search()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """From the field down into the list, and out of it. Esc closes the search here, and stops no reply."""
        if not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        does = {Qt.Key.Key_Down: self._to_hits, Qt.Key.Key_Escape: self.end_search}.get(Qt.Key(event.key()))
        if event.type() != QEvent.Type.KeyPress or does is None:
            return super().eventFilter(watched, event)
        does()
        return True

    def refresh(self, chat: int | None = None) -> None:
        """Read the list again, or of one chat what the list says of it."""
        attempt(partial(self._read, chat), self.noticed.emit)

    def _new_day(self) -> None:
        """What was under "Today" no longer is."""
        if self._answered == "":
            self.refresh()

    def _words_changed(self) -> None:
        self._to_first = False  # who types on stays in the field
        self.refresh()

    def mark(self, chat: int | None) -> None:
        """Show which chat is open."""
        self._current = chat
        row = self.model.row_of(chat)
        if row >= 0:
            self.list.setCurrentIndex(self.model.index(row))
        else:
            self.list.clearSelection()
            self.list.setCurrentIndex(QModelIndex())

    def rename_current(self) -> None:
        """Edit the open chat's title in place."""
        index = self.list.currentIndex()
        if index.isValid():
            self.list.edit(index)

    def delete_current(self) -> None:
        """Delete the open chat; undo brings it back."""
        chat = self.list.currentIndex().data(CHAT)
        if isinstance(chat, Chat):
            self.deleted.emit(chat)

    def pin_current(self) -> None:
        """Keep the open chat at the top, or no more."""
        chat = self.list.currentIndex().data(CHAT)
        if isinstance(chat, Chat):
            self.pinned.emit(chat)

    def _read(self, chat: int | None) -> None:
        words = self.search.text().strip()
        if words:
            self.finder.ask(words)
            return
        if self._answered != "" or chat is None:
            self.list.setUniformItemSizes(True)  # so that ten thousand are laid out at once
            self.model.set_chats(self._store.listed())
        else:
            self.model.put(chat, self._store.chat(chat))
        self._answered = ""
        self.mark(self._current)

    def _found(self, words: str, hits: list[Hit]) -> None:
        if words != self.search.text().strip():
            return
        self._answered = words
        self.list.setUniformItemSizes(False)
        self.model.set_hits(hits)
        self.mark(self._current)
        self._go_to_first()

    def _to_hits(self) -> None:
        """The keyboard goes to the first of what is found, once it is."""
        words = self.search.text().strip()
        self._to_first = bool(words)
        if words == self._answered:
            self._go_to_first()

    def _go_to_first(self) -> None:
        if self._to_first and self.model.rowCount() > 1:
            self.list.setCurrentIndex(self.model.index(1))
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        self._to_first = False

    def _open(self, index: QModelIndex) -> None:
        chat, hit = index.data(CHAT), index.data(HIT)
        if isinstance(hit, Hit) and hit.message is not None:
            self.found.emit(hit, self.search.text())
        elif isinstance(chat, Chat):
            self.opened.emit(chat.id)

    def _menu(self, at: QPoint) -> None:
        index = self.list.indexAt(at)
        chat = index.data(CHAT)
        if isinstance(chat, Chat):
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(tr("Unpin") if chat.pinned else tr("Pin"), lambda: self.pinned.emit(chat))
            menu.addAction(tr("Rename"), lambda: self.list.edit(index))
            menu.addAction(tr("Export…"), lambda: self.exported.emit(chat))
            menu.addAction(tr("Delete"), lambda: self.deleted.emit(chat))
            menu.popup(self.list.viewport().mapToGlobal(at))
