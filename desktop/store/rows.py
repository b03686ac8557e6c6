"""Records to rows and back: what of a row is damaged costs that part, not the message, and not the chat."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from backend.documents import Attachment
from backend.documents.attachment import from_columns, to_columns
from desktop.store import kinds
from desktop.store.records import ROUNDS_KEPT, Chat, Message
from desktop.store.rounds import Rounds, packed
from desktop.store.shapes import OneChat, record

log = logging.getLogger(__name__)
_JSON: dict[str, type[Any]] = {
    "ids": list,
    "settings": dict,
    "timings": dict,
    "rounds": list,
    "tokens": dict,
    "error": dict,
    "comparison": dict,
    "parts": list,
}
_READ = [name for name in _JSON if name != "rounds"]
_ITEMS: dict[str, type[Any]] = {"ids": int, "parts": dict}
_KINDS: dict[str, Callable[[Any], Any]] = {
    "parent": kinds.number,
    "content": kinds.text,
    "created": kinds.moment,
    "state": kinds.state,
    "tokenizer": kinds.some_text,
    "seed": kinds.number,
    "start": kinds.number,
    "target": kinds.some_text,
    "draft": kinds.some_text,
    "finish": kinds.some_text,
    "note": kinds.text,
}
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
    "tokens",
    "finish",
    "note",
    "error",
    "comparison",
    "parts",
]


def insert_chat(db: sqlite3.Connection, title: str, settings: dict[str, Any] | None) -> Chat:
    """A new chat, as it was written."""
    now, title, settings = time.time(), clean(title), settings or {}
    insert = "INSERT INTO chats (title, created, updated, settings) VALUES (?, ?, ?, ?)"
    return Chat(_new_id(db.execute(insert, (title, now, now, json.dumps(settings)))), title, now, now, settings)


def insert_message(db: sqlite3.Connection, message: Message) -> Message:
    """A new message, as it was written; it becomes its chat's tip."""
    message = write_message(db, replace(message, created=time.time()))
    db.execute("UPDATE chats SET tip = ?, updated = ? WHERE id = ?", (message.id, message.created, message.chat))
    return message


def insert_whole(db: sqlite3.Connection, chat: OneChat, *, hidden: bool) -> int:
    """A chat from a file, with all its messages; a hidden one is as if it were deleted."""
    now = time.time()
    insert = "INSERT INTO chats (title, created, updated, settings, pinned, deleted) VALUES (?, ?, ?, ?, ?, ?)"
    values = (clean(chat.title), chat.created, min(chat.updated, now), json.dumps(chat.settings))
    new = _new_id(db.execute(insert, (*values, now if chat.pinned else None, now if hidden else None)))
    numbers: dict[int, int] = {}
    for message in chat.messages:
        parent = None if message.parent is None else numbers[message.parent]
        numbers[message.id] = write_message(db, record(message, new, parent)).id
    if chat.tip in numbers:
        db.execute("UPDATE chats SET tip = ? WHERE id = ?", (numbers[chat.tip], new))
    return new


def write_message(db: sqlite3.Connection, message: Message) -> Message:
    """A message's row, and nothing of its chat's."""
    message = replace(message, content=clean(message.content))
    values = [message.chat, *attached(message.attachments), *(pack(name, getattr(message, name)) for name in COLUMNS)]
    marks = ", ".join("?" * len(values))
    names = ", ".join(["chat", "attachments", "attached", *COLUMNS])
    new = _new_id(db.execute(f"INSERT INTO messages ({names}) VALUES ({marks})", values))
    return replace(message, id=new)


def _new_id(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None  # an INSERT always has one
    return cursor.lastrowid


def clean(text: str) -> str:
    """Lone surrogates cannot be stored as UTF-8: each becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def attached(attachments: Sequence[Attachment]) -> tuple[str | None, str | None]:
    """As two columns have it."""
    facts, texts = to_columns(attachments)
    return facts, texts if texts is None else clean(texts)


def attachments_of(row: sqlite3.Row) -> tuple[tuple[Attachment, ...], bool]:
    """The reverse, and whether all of it could be read: where the facts are damaged, the texts become one."""
    try:
        return from_columns(row["attachments"], row["attached"]), True
    except ValueError as error:
        log.warning("attachments are damaged (%s)", error)
        text = kinds.text(row["attached"])
        return (Attachment("Attached text", "", text, len(text.encode())),), False


def pack(name: str, value: Any) -> Any:
    if name == "rounds":
        return packed(list(value)[-ROUNDS_KEPT:])
    if name in _JSON:
        return None if value is None else json.dumps(value)
    return clean(value) if isinstance(value, str) else value


def chat_of(row: sqlite3.Row) -> Chat:
    settings, _ = _unpack(row, ["settings"], "chat")
    return listed_chat(row, settings["settings"] or {})


def listed_chat(row: sqlite3.Row, settings: dict[str, Any]) -> Chat:
    """A chat with these settings."""
    made, last = kinds.moment(row["created"]), kinds.moment(row["updated"])
    tip = kinds.number(row["tip"])
    return Chat(row["id"], kinds.text(row["title"]), made, last, settings, tip, row["pinned"] is not None)


def message_of(row: sqlite3.Row) -> Message:
    unpacked, damaged = _unpack(row, _READ, "message")
    fields: dict[str, Any] = {name: row[name] for name in COLUMNS} | unpacked
    readable = {name: kind(row[name]) for name, kind in _KINDS.items()}
    readable["role"] = kinds.role(row["role"], made=bool(row["target"] or row["ids"]))
    damaged += tuple(name for name, value in readable.items() if value != row[name])
    fields |= readable
    fields["ids"] = None if fields["ids"] is None else tuple(fields["ids"])
    fields["rounds"] = Rounds(row["rounds"])
    fields["parts"] = tuple(fields["parts"] or ())
    fields["settings"] = fields["settings"] or {}
    fields["attachments"], whole = attachments_of(row)
    damaged += () if whole else ("attachments",)
    return Message(id=row["id"], chat=row["chat"], damaged=damaged, **fields)


def _unpack(row: sqlite3.Row, names: Iterable[str], what: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The JSON columns, None for those that cannot be read, and the names of these."""
    fields: dict[str, Any] = {}
    damaged: list[str] = []
    for name in names:
        try:
            fields[name] = None if row[name] is None else _value(name, row[name])
        except (ValueError, RecursionError) as error:
            log.warning("%s %d: %s is damaged (%s)", what, row["id"], name, error)
            fields[name] = None
            damaged.append(name)
    return fields, tuple(damaged)


def _value(name: str, text: str) -> Any:
    value = json.loads(text)
    items = _ITEMS.get(name, object)
    if not isinstance(value, _JSON[name]) or not all(isinstance(item, items) for item in value):
        raise ValueError("of another kind")
    return value
