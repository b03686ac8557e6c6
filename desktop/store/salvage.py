"""What can be read of damaged chats, in a new file; the damaged one is put aside as it is.

The new file is built under a name of its own and takes its place in one step, so that whatever cuts this off, the next
start does it again or ends it. Chats and messages keep their numbers.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, get_args

from desktop.store import damage, pages
from desktop.store.damage import UnwantedError
from desktop.store.records import MessageState, Role
from desktop.store.schema import MIGRATIONS, migrate, newer
from desktop.store.writer import connect, explain

log = logging.getLogger(__name__)
_STATES, _ROLES = get_args(MessageState), get_args(Role)
_FIRST_COLUMNS = {"chats": 7, "messages": 20, "unsent": 2, "unsent_attached": 3}
"""So many at least: a row has those that its table had when it was written."""
_MEND = """
DELETE FROM messages WHERE chat IN (SELECT id FROM chats WHERE deleted IS NOT NULL)

DELETE FROM chats WHERE deleted IS NOT NULL

INSERT OR IGNORE INTO torn
    SELECT chat FROM messages WHERE chat NOT IN (SELECT id FROM chats) OR parent NOT IN (SELECT id FROM messages)
    UNION SELECT id FROM chats WHERE tip NOT IN (SELECT id FROM messages)

INSERT INTO chats (id, title, created, updated)
    SELECT chat, (SELECT title(content) FROM messages f WHERE f.chat = m.chat ORDER BY id LIMIT 1),
        max(min(created), 0), max(created)
    FROM messages m WHERE chat NOT IN (SELECT id FROM chats) GROUP BY chat

UPDATE messages SET parent = (SELECT max(id) FROM messages e WHERE e.chat = messages.chat AND e.id < messages.id)
    WHERE parent NOT IN (SELECT id FROM messages)

UPDATE messages SET created = (SELECT created FROM chats WHERE id = messages.chat) WHERE created < 0

UPDATE chats SET tip = NULL WHERE tip NOT IN (SELECT id FROM messages)
"""
# An answer to what is gone answers the message before that. A chat without its tip shows its latest message.


@dataclass(frozen=True, slots=True)
class Saved:
    """What came of it."""

    chats: int
    """With messages."""
    known: int
    """Chats of which anything was found; 0 where that was not counted (see `finish`)."""
    torn: int
    """Chats that have messages, and lack others."""
    messages: int
    kept: Path
    """The damaged file."""


def finish(path: Path) -> Saved | None:
    """End what was cut off in its last step; None where nothing was.

    Raises:
        StoreError: the folder cannot be written.
    """
    whole = _beside(path, "saved")
    if path.exists() or not whole.exists():
        return None
    aside = [file for file in path.parent.glob(f"{path.stem}.damaged-*") if file.suffix == path.suffix]
    try:
        with closing(connect(whole)) as db:
            saved = replace(_counted(db, max(aside, default=path)), known=0)
        _take_place(path, whole)
    except (sqlite3.Error, OSError) as error:
        raise explain(error, path) from error
    return saved


def salvage(path: Path, title: Callable[[str], str], unwanted: Callable[[], bool] = lambda: False) -> Saved:
    """Put ``path`` aside, and what can be read of it in its place.

    Args:
        path: the damaged database, which nobody has open.
        title: the title of a chat of which only messages are left, from the first of them.
        unwanted: asked at every row; to give up.

    Raises:
        StoreError: it is from a newer version, or there is no room for another file; everything is as it was.
        UnwantedError: it was given up.
    """
    half, whole = _beside(path, "saving"), _beside(path, "saved")
    try:
        if (version := pages.format_of(path)) > len(MIGRATIONS):
            raise newer(path, version, len(MIGRATIONS))
        _remove(half, whole)
        try:
            saved = _build(path, half, title, unwanted)
            half.replace(whole)
        finally:
            _remove(half)
        for end in ("-wal", "-shm"):
            if (log_file := path.with_name(path.name + end)).exists():
                shutil.copy2(log_file, saved.kept.with_name(saved.kept.name + end))
        path.replace(saved.kept)  # from here on `finish` goes on
        _take_place(path, whole)
    except (sqlite3.Error, OSError) as error:
        raise explain(error, path) from error
    log.warning("the chats were damaged: %s", saved)
    return saved


def _take_place(path: Path, whole: Path) -> None:
    for end in ("-wal", "-shm"):  # of the damaged file, and kept with it
        path.with_name(path.name + end).unlink(missing_ok=True)
    whole.replace(path)
    damage.forget(path)


def _build(path: Path, half: Path, title: Callable[[str], str], unwanted: Callable[[], bool]) -> Saved:
    with closing(connect(half)) as db:
        migrate(db, half)
        db.execute("PRAGMA foreign_keys = OFF")
        db.create_function("title", 1, lambda content: title(str(content)))
        db.execute("CREATE TEMP TABLE torn (chat INTEGER PRIMARY KEY)")
        tables = {name: db.execute(f"PRAGMA table_info({name})").fetchall() for name in _FIRST_COLUMNS}
        db.execute("BEGIN")
        for row in pages.rows(path):
            if unwanted():
                raise UnwantedError
            if (table := _table_of(row, tables)) is not None:
                _insert(db, table, tables[table], row)
        for statement in _MEND.strip().split("\n\n"):
            db.execute(statement)
        saved = _counted(db, _free_name(path))
        (torn,) = db.execute("SELECT count(*) FROM torn WHERE chat IN (SELECT chat FROM messages)").fetchone()
        db.execute("COMMIT")
    return replace(saved, torn=torn)


def _table_of(row: pages.Row, tables: dict[str, list[sqlite3.Row]]) -> str | None:
    """Of which table a row is, by its shape; None for those of indexes and of what else there is."""
    fits = [name for name, least in _FIRST_COLUMNS.items() if least <= row.columns <= len(tables[name])]
    if not fits or len(row.values) < 2 or row.values[0] is not None:  # its number stands elsewhere
        return None
    values = row.values[1:]
    looks = {
        "chats": lambda: row.number > 0 and _is_chat(*values),
        "messages": lambda: row.number > 0 and _is_message(*values),
        "unsent": lambda: isinstance(values[0], str),
        "unsent_attached": lambda: all(value is None or isinstance(value, str) for value in values),
    }
    return next((name for name in fits if looks[name]()), None)


def _is_chat(title: Any = None, created: Any = None, updated: Any = None, *_: Any) -> bool:
    return isinstance(title, str) and isinstance(created, int | float) and isinstance(updated, int | float)


def _is_message(chat: Any = None, _parent: Any = None, role: Any = None, content: Any = None, *more: Any) -> bool:
    known = isinstance(chat, int) and role in _ROLES and isinstance(content, str)
    return known and (len(more) < 2 or more[1] in _STATES)


def _insert(db: sqlite3.Connection, table: str, columns: list[sqlite3.Row], row: pages.Row) -> None:
    """A row, without those values that its columns cannot have."""
    found: dict[str, pages.Value] = {
        str(column["name"]): value
        for column, value in zip(columns, (row.number, *row.values[1:]), strict=False)
        if value is not None and (isinstance(value, int | float) or column["type"] not in ("INTEGER", "REAL"))
    }
    if table == "messages":
        found.setdefault("created", -1.0)
        found.setdefault("state", "stopped" if found["role"] == "assistant" else "complete")
        if not row.whole:
            db.execute("INSERT OR IGNORE INTO torn VALUES (?)", (found["chat"],))
    marks = ", ".join("?" * len(found))
    db.execute(f"INSERT OR IGNORE INTO {table} ({', '.join(found)}) VALUES ({marks})", list(found.values()))


def _counted(db: sqlite3.Connection, kept: Path) -> Saved:
    (known,) = db.execute("SELECT count(*) FROM chats").fetchone()
    chats, messages = db.execute("SELECT count(DISTINCT chat), count(*) FROM messages").fetchone()
    return Saved(chats, known, 0, messages, kept)


def _free_name(path: Path) -> Path:
    """Says what it is and of which day."""
    name = f"{path.stem}.damaged-{date.today().isoformat()}"
    kept, number = path.with_name(name + path.suffix), 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{name}-{number}{path.suffix}")
    return kept


def _beside(path: Path, what: str) -> Path:
    return path.with_name(f"{path.stem}.{what}{path.suffix}")


def _remove(*files: Path) -> None:
    for file in files:
        for end in ("", "-journal", "-wal", "-shm"):
            file.with_name(file.name + end).unlink(missing_ok=True)
