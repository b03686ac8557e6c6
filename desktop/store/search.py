"""Finding words in titles and messages: every word must be there, in any case and anywhere in a word.

An index of three-letter pieces (FTS5, trigram) serves all scripts alike, those without spaces too; words of one
or two letters are not in it and are looked for in the messages themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.store.records import Chat
from desktop.store.rows import chat_of

Read = Callable[[str, Sequence[Any]], list[sqlite3.Row]]

_INDEXED = 3
_MOST = 500
"""Messages looked at, the latest first: nobody reads more."""
_BEFORE, _AFTER = 24, 120
"""Letters of a message shown around a word."""


@dataclass(slots=True, frozen=True)
class Hit:
    """A chat in which all words were found: in the latest such message, or (None) in its title alone."""

    chat: Chat
    message: int | None
    text: str
    """The message around the first of the words, in one line."""
    more: int
    """Other messages of the chat with the words."""


def search(read: Read, text: str) -> list[Hit]:
    """Chats with these words that are not deleted, the latest first."""
    words = text.split()
    if not words:
        return []
    found: dict[int, Hit] = {}
    for row in _messages(read, words):
        hit = found.get(row["chat"])
        if hit is None:
            found[row["chat"]] = Hit(chat_of(row), int(row["message"]), _around(str(row["content"]), words), 0)
        else:
            found[row["chat"]] = Hit(hit.chat, hit.message, hit.text, hit.more + 1)
    for row in _titles(read, words):
        found.setdefault(row["id"], Hit(chat_of(row), None, "", 0))
    return sorted(found.values(), key=lambda hit: (-hit.chat.updated, -hit.chat.id))


def _messages(read: Read, words: list[str]) -> list[sqlite3.Row]:
    indexed = [word for word in words if len(word) >= _INDEXED]
    short = [word for word in words if len(word) < _INDEXED]
    where, values = ["chats.deleted IS NULL"], []
    source, number = "messages", "messages.id"
    if indexed:
        source, number = "message_text JOIN messages ON messages.id = message_text.rowid", "message_text.rowid"
        where.append("message_text MATCH ?")
        values.append(" AND ".join('"' + word.replace('"', '""') + '"' for word in indexed))
    for word in short:
        where.append("messages.content LIKE ? ESCAPE '\\'")
        values.append(_like(word))
    return read(
        f"SELECT chats.*, messages.id AS message, messages.chat AS chat, messages.content AS content FROM {source} "
        f"JOIN chats ON chats.id = messages.chat WHERE {' AND '.join(where)} ORDER BY {number} DESC LIMIT {_MOST}",
        values,
    )


def _titles(read: Read, words: list[str]) -> list[sqlite3.Row]:
    all_words = " AND ".join("title LIKE ? ESCAPE '\\'" for _ in words)
    return read(f"SELECT * FROM chats WHERE deleted IS NULL AND {all_words}", [_like(word) for word in words])


def _like(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _around(content: str, words: list[str]) -> str:
    folded = content.casefold()
    places = [at for word in words if (at := folded.find(word.casefold())) >= 0]
    at = max(0, min(places, default=0) - _BEFORE)
    cut = content[at : at + _BEFORE + _AFTER]
    return ("…" if at else "") + " ".join(cut.split())
