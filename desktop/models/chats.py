"""The conversation list as an item model: chats under their days, or those in which words were found."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from desktop.store import Chat, Hit
from desktop.widgets.tips import plain

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
CHAT = Qt.ItemDataRole.UserRole
PINNED = "Pinned"
HIT = Qt.ItemDataRole.UserRole + 1
_Row = str | Chat | Hit


def day_heading(when: float, today: date) -> str:
    """Today, Yesterday, the weekday within a week, then month and year."""
    day = datetime.fromtimestamp(when).date()
    if day >= today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return day.strftime("%A")
    return day.strftime("%B %Y")


class ChatList(QAbstractListModel):
    """Rows are headings (no chat), chats, and chats with what was found in them."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_Row] = []

    def set_chats(self, chats: list[Chat], today: date | None = None) -> None:
        """Show these."""
        rows: list[_Row] = []
        heading = ""
        for chat in chats:
            this = PINNED if chat.pinned else day_heading(chat.updated, today or date.today())
            if this != heading:
                heading = this
                rows.append(heading)
            rows.append(chat)
        self._set(rows)

    def set_hits(self, hits: list[Hit]) -> None:
        """Show what was found."""
        self._set([f"{len(hits)} found" if hits else "Nothing found", *hits])

    def _set(self, rows: list[_Row]) -> None:
        if rows != self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def rowCount(self, parent: _Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        chat = _chat(row)
        if role == CHAT:
            return chat
        if role == HIT:
            return row if isinstance(row, Hit) else None
        text = row if isinstance(row, str) else chat.title if chat is not None else ""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{text}: {row.text}" if isinstance(row, Hit) and row.text else text
        if role == Qt.ItemDataRole.ToolTipRole and chat is not None:
            return plain(f"{chat.title}\n{datetime.fromtimestamp(chat.updated):%d %B %Y, %H:%M}{_others(row)}")
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if index.isValid() and _chat(self._rows[index.row()]) is not None:
            return Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsEditable
        return Qt.ItemFlag.NoItemFlags

    def row_of(self, chat: int | None) -> int:
        """The row of a chat, or -1."""
        rows = ((n, _chat(row)) for n, row in enumerate(self._rows))
        return next((n for n, found in rows if found is not None and found.id == chat), -1)


def _chat(row: _Row) -> Chat | None:
    return row.chat if isinstance(row, Hit) else row if isinstance(row, Chat) else None


def _others(row: _Row) -> str:
    more = row.more if isinstance(row, Hit) else 0
    return f"\n{more} other {'message' if more == 1 else 'messages'} with these words" if more else ""
