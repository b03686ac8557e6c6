"""The conversation list as an item model: chats under their days, or those in which words were found."""

from __future__ import annotations

from bisect import bisect_left
from datetime import date, datetime, timedelta
from typing import Any

from PySide6.QtCore import QDate, QDateTime, QModelIndex, QObject, QPersistentModelIndex, QStringListModel, Qt

from desktop.language import counted, locale, marked, tr
from desktop.store import Chat, Hit
from desktop.store.records import order
from desktop.store.search import MOST
from desktop.widgets.tips import plain

_Index = QModelIndex | QPersistentModelIndex
CHAT = Qt.ItemDataRole.UserRole
PINNED = marked("Pinned")
HIT = Qt.ItemDataRole.UserRole + 1
_Row = str | Chat | Hit
_FORM = "form of a date, in the letters that Qt has for it"


def day_heading(when: float, today: date) -> str:
    """Today, Yesterday, the weekday within a week, then month and year."""
    day = datetime.fromtimestamp(when).date()
    if day >= today:
        return tr("Today")
    if day == today - timedelta(days=1):
        return tr("Yesterday")
    if day > today - timedelta(days=7):
        return locale().toString(QDate(day.year, day.month, day.day), "dddd")
    return locale().toString(QDate(day.year, day.month, day.day), tr("MMMM yyyy", note=_FORM))


def _since(when: float, today: date) -> float:
    """The earliest moment that stands under the same heading."""
    day = min(datetime.fromtimestamp(when).date(), today)
    first = day if day > today - timedelta(days=7) else day.replace(day=1)
    return datetime(first.year, first.month, first.day).timestamp()


class ChatList(QStringListModel):
    """Rows are headings (no chat), chats, and chats with what was found in them.

    It holds their texts too: a view asks for the number of rows at every row, and here Qt answers that by itself.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats: list[Chat] = []
        self._rows: list[_Row] = []

    def set_chats(self, chats: list[Chat], today: date | None = None) -> None:
        """Show these, which are in order."""
        self._chats = chats
        self._set(_under_headings(chats, today or date.today()))

    def put(self, number: int, chat: Chat | None) -> None:
        """One of the chats is new or has changed, and stands in its new place now, or (None) is gone."""
        chats = [other for other in self._chats if other.id != number]
        if chat is not None:
            chats.insert(bisect_left(chats, order(chat), key=order), chat)
        self.set_chats(chats)

    def set_hits(self, hits: list[Hit]) -> None:
        """Show what was found."""
        n = len(hits)
        found = tr("The latest {most} found", most=MOST) if n >= MOST else counted("%n found", "%n found", n)
        self._set([found if hits else tr("Nothing found"), *hits])

    def _set(self, rows: list[_Row]) -> None:
        if rows != self._rows:
            self._rows = rows
            self.setStringList([_text(row) for row in rows])

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        chat = _chat(row)
        if role == CHAT:
            return chat
        if role == HIT:
            return row if isinstance(row, Hit) else None
        text = _text(row)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return tr("{title}: {text}", title=text, text=row.text) if isinstance(row, Hit) and row.text else text
        if role == Qt.ItemDataRole.ToolTipRole and chat is not None:
            changed = QDateTime.fromSecsSinceEpoch(int(chat.updated))
            when = locale().toString(changed, tr("dd MMMM yyyy, HH:mm", note=_FORM))
            return plain("\n".join([chat.title, when, *_others(row)]))
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if index.isValid() and _chat(self._rows[index.row()]) is not None:
            return Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsEditable
        return Qt.ItemFlag.NoItemFlags

    def row_of(self, chat: int | None) -> int:
        """The row of a chat, or -1."""
        rows = ((n, _chat(row)) for n, row in enumerate(self._rows))
        return next((n for n, found in rows if found is not None and found.id == chat), -1)


def _under_headings(chats: list[Chat], today: date) -> list[_Row]:
    """With a heading before the first of each time; only there the calendar is asked."""
    rows: list[_Row] = []
    heading, since = "", float("inf")
    for chat in chats:
        if chat.pinned:
            this = tr(PINNED)
        elif chat.updated < since:
            this, since = day_heading(chat.updated, today), _since(chat.updated, today)
        if this != heading:
            heading = this
            rows.append(heading)
        rows.append(chat)
    return rows


def _text(row: _Row) -> str:
    return row if isinstance(row, str) else row.title if isinstance(row, Chat) else row.chat.title


def _chat(row: _Row) -> Chat | None:
    return row.chat if isinstance(row, Hit) else row if isinstance(row, Chat) else None


def _others(row: _Row) -> list[str]:
    more = row.more if isinstance(row, Hit) else 0
    said = counted("%n other message with these words", "%n other messages with these words", more)
    return [said] if more else []
