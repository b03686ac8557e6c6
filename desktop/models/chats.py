"""The conversation list as an item model: chats, latest first, under the headings of their days."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from desktop.store import Chat
from desktop.widgets.tips import plain

_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
CHAT = Qt.ItemDataRole.UserRole


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
    """Rows are headings (no chat) and chats."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[str | Chat] = []

    def set_chats(self, chats: list[Chat], today: date | None = None) -> None:
        """Show these."""
        rows: list[str | Chat] = []
        heading = ""
        for chat in chats:
            this = day_heading(chat.updated, today or date.today())
            if this != heading:
                heading = this
                rows.append(heading)
            rows.append(chat)
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
        if role == CHAT:
            return row if isinstance(row, Chat) else None
        text = row.title if isinstance(row, Chat) else row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.AccessibleTextRole):
            return text
        if role == Qt.ItemDataRole.ToolTipRole and isinstance(row, Chat):
            return plain(f"{row.title}\n{datetime.fromtimestamp(row.updated):%d %B %Y, %H:%M}")
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if index.isValid() and isinstance(self._rows[index.row()], Chat):
            return Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsEditable
        return Qt.ItemFlag.NoItemFlags

    def row_of(self, chat: int | None) -> int:
        """The row of a chat, or -1."""
        return next((n for n, row in enumerate(self._rows) if isinstance(row, Chat) and row.id == chat), -1)
