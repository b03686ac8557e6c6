"""Finding words in titles and messages: every word must be there, in any case and anywhere in a word.

An index of three-letter pieces (FTS5, trigram) serves all scripts alike, those without spaces too; words of one
or two letters are not in it and are looked for in the messages themselves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from desktop.store import kinds
from desktop.store.records import Chat
from desktop.store.rows import chat_of, clean

Read = Callable[[str, Sequence[Any]], list[sqlite3.Row]]

MOST = 200
"""Chats that are shown of those in which the words were found: the latest."""
_INDEXED = 3
_FEW = 8
"""Words, a condition for each of which is no trouble to SQLite."""
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
    """Chats with these words that are not deleted, the latest first, at most :data:`MOST`.

    Args:
        read: runs a query on a connection that knows ``holds`` (see ``Reader``).
        text: the words.
    """
    words = list(dict.fromkeys(clean(text).replace("\0", " ").split()))  # a NUL ends what SQLite reads of a query
    if not words:
        return []
    found = {row["id"]: row for row in (*_titles(read, words), *_messages(read, words))}
    latest = sorted(found.values(), key=lambda row: (-kinds.moment(row["updated"]), -row["id"]))[:MOST]
    return [_hit(read, row, words) for row in latest]


def _hit(read: Read, row: sqlite3.Row, words: list[str]) -> Hit:
    """With the text around the words, which is read only for what is shown."""
    if row["message"] is None:
        return Hit(chat_of(row), None, "", 0)
    (text,) = read("SELECT content, attached FROM messages WHERE id = ?", [row["message"]])
    return Hit(chat_of(row), int(row["message"]), _around(_place(text, words), words), int(row["n"]) - 1)


def _messages(read: Read, words: list[str]) -> list[sqlite3.Row]:
    """Each chat with its latest message that holds all words, or has attachments that do, and how many do."""
    indexed = [word for word in words if len(word) >= _INDEXED]
    short = [word for word in words if len(word) < _INDEXED]
    source, where, values = "messages m", "", []
    if indexed:
        source = (
            "(SELECT rowid AS id FROM message_text WHERE message_text MATCH ? "
            "UNION SELECT rowid FROM attached_text WHERE attached_text MATCH ?) AS found JOIN messages m USING (id)"
        )
        values += [" AND ".join('"' + word.replace('"', '""') + '"' for word in indexed)] * 2
    if short:
        whole = "m.content || char(10) || coalesce(m.attached, '')"
        has, more = _has("m.content", short, whole, "m.attached IS NULL AND ")
        where, values = f"WHERE {has}", values + more
    return read(
        "SELECT chats.*, message, n FROM "
        f"(SELECT m.chat AS chat, max(m.id) AS message, count(*) AS n FROM {source} {where} GROUP BY m.chat) "
        "JOIN chats ON chats.id = chat WHERE deleted IS NULL",
        values,
    )


def _titles(read: Read, words: list[str]) -> list[sqlite3.Row]:
    has, values = _has("title", words, "title")
    return read(f"SELECT *, NULL AS message FROM chats WHERE deleted IS NULL AND {has}", values)


def _has(text: str, words: list[str], whole: str, besides: str = "") -> tuple[str, list[str]]:
    """The condition that ``whole`` holds all words, and its values.

    SQLite itself looks through a ``text`` of ASCII letters (it is as long in bytes) for such words, in a fifth of the
    time; ``besides``: where that is all there is.
    """
    folded = " ".join(words).casefold()
    held = f"holds(CAST({whole} AS BLOB), ?)"
    if len(words) > _FEW or not folded.isascii():
        return held, [folded]
    plain = " AND ".join(f"instr(lower({text}), ?)" for _ in words)
    only = f"{besides}length({text}) = length(CAST({text} AS BLOB))"
    return f"CASE WHEN {only} THEN {plain} ELSE {held} END", [*folded.split(), folded]


def holds(text: object, words: str) -> bool:
    """Whether all words are in ``text``, in any case; for SQLite, whose own functions know the case of ASCII only.

    However many they are: a condition for each would be more than SQLite takes. A text comes as bytes, for a damaged
    letter of one that comes as text ends the search.
    """
    folded = kinds.text(text).casefold()
    return all(word in folded for word in words.split())


def _place(row: sqlite3.Row, words: list[str]) -> str:
    """What of a message the words stand in: what was written, else what goes with it."""
    content, attached = kinds.text(row["content"]), kinds.text(row["attached"])
    folded = content.casefold() if attached else ""
    return attached if attached and not any(word.casefold() in folded for word in words) else content


def _around(content: str, words: list[str]) -> str:
    folded = content.casefold()
    places = [at for word in words if (at := folded.find(word.casefold())) >= 0]
    at = max(0, _unfolded(content, min(places, default=0)) - _BEFORE)
    cut = content[at : at + _BEFORE + _AFTER]
    return ("…" if at else "") + " ".join(cut.split())


def _unfolded(content: str, at: int) -> int:
    """Where in a text a place of its folded text is: some letters become two of them."""
    size = 0
    for n, letter in enumerate(content):
        size += len(letter.casefold())
        if size > at:
            return n
    return 0
