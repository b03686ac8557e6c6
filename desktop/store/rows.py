"""Records to rows and back."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import replace
from typing import Any

from desktop.store.records import ROUNDS_KEPT, Chat, Message

_JSON = frozenset({"ids", "settings", "timings", "rounds", "error", "comparison"})
COLUMNS = [
    "parent",
    "role",
    "content",
    "created",
    "state",
    "ids",
    "tokenizer",
    "seed",
    "start",
    "target",
    "draft",
    "settings",
    "timings",
    "rounds",
    "finish",
    "note",
    "error",
    "comparison",
]


def insert_chat(db: sqlite3.Connection, title: str, settings: dict[str, Any] | None) -> Chat:
    """A new chat, as it was written."""
    now, title, settings = time.time(), clean(title), settings or {}
    insert = "INSERT INTO chats (title, created, updated, settings) VALUES (?, ?, ?, ?)"
    return Chat(_new_id(db.execute(insert, (title, now, now, json.dumps(settings)))), title, now, now, settings)


def insert_message(db: sqlite3.Connection, message: Message) -> Message:
    """A new message, as it was written; it becomes its chat's tip."""
    message = replace(message, content=clean(message.content), created=time.time())
    values = [message.chat, *(pack(name, getattr(message, name)) for name in COLUMNS)]
    marks = ", ".join("?" * len(values))
    new = _new_id(db.execute(f"INSERT INTO messages (chat, {', '.join(COLUMNS)}) VALUES ({marks})", values))
    db.execute("UPDATE chats SET tip = ?, updated = ? WHERE id = ?", (new, message.created, message.chat))
    return replace(message, id=new)


def _new_id(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None  # an INSERT always has one
    return cursor.lastrowid


def clean(text: str) -> str:
    """Lone surrogates cannot be stored as UTF-8: each becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def pack(name: str, value: Any) -> Any:
    if name == "rounds":
        return json.dumps(list(value)[-ROUNDS_KEPT:])
    if name in _JSON:
        return None if value is None else json.dumps(value)
    return clean(value) if isinstance(value, str) else value


def chat_of(row: sqlite3.Row) -> Chat:
    return Chat(row["id"], row["title"], row["created"], row["updated"], json.loads(row["settings"]), row["tip"])


def message_of(row: sqlite3.Row) -> Message:
    fields: dict[str, Any] = {name: row[name] for name in COLUMNS}
    for name in _JSON:
        if fields[name] is not None:
            fields[name] = json.loads(fields[name])
    fields["ids"] = None if fields["ids"] is None else tuple(fields["ids"])
    fields["rounds"] = tuple(fields["rounds"])
    return Message(id=row["id"], chat=row["chat"], **fields)
