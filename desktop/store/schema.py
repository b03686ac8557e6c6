"""The database's shape, as an ordered list of migrations. ``PRAGMA user_version`` counts those applied.

Never edit a migration that was released: append one. Before an old database is migrated it is copied aside, each
migration runs in its own transaction, and a database from a newer Tandem is refused and left alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from desktop.language import tr

_V1 = """
CREATE TABLE chats (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    created REAL NOT NULL,
    updated REAL NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}',
    tip INTEGER,
    deleted REAL
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chat INTEGER NOT NULL REFERENCES chats(id) ON DELETE CASCADE,
    parent INTEGER REFERENCES messages(id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    created REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('streaming', 'complete', 'stopped', 'failed')),
    ids TEXT,
    tokenizer TEXT,
    seed INTEGER,
    start INTEGER,
    target TEXT,
    draft TEXT,
    settings TEXT NOT NULL DEFAULT '{}',
    timings TEXT,
    rounds TEXT NOT NULL DEFAULT '[]',
    finish TEXT,
    note TEXT NOT NULL DEFAULT '',
    error TEXT,
    comparison TEXT
);
CREATE INDEX messages_by_chat ON messages(chat, id);
CREATE INDEX messages_by_parent ON messages(parent);
CREATE INDEX chats_by_time ON chats(updated) WHERE deleted IS NULL;
"""

_V2 = """
ALTER TABLE chats ADD COLUMN pinned REAL;
ALTER TABLE messages ADD COLUMN tokens TEXT;
CREATE TABLE unsent (
    place INTEGER PRIMARY KEY,
    text TEXT NOT NULL
);
CREATE VIRTUAL TABLE message_text USING fts5(content, content='messages', content_rowid='id', tokenize='trigram');
INSERT INTO message_text (rowid, content) SELECT id, content FROM messages WHERE state != 'streaming';
CREATE TRIGGER text_of_new AFTER INSERT ON messages WHEN new.state != 'streaming' BEGIN
    INSERT INTO message_text (rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER text_of_gone AFTER DELETE ON messages WHEN old.state != 'streaming' BEGIN
    INSERT INTO message_text (message_text, rowid, content) VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER text_of_changed AFTER UPDATE OF content, state ON messages BEGIN
    INSERT INTO message_text (message_text, rowid, content)
        SELECT 'delete', old.id, old.content WHERE old.state != 'streaming';
    INSERT INTO message_text (rowid, content) SELECT new.id, new.content WHERE new.state != 'streaming';
END;
"""
# A reply that streams is indexed at its end: it is written once a second until then.

_V3 = """
ALTER TABLE messages ADD COLUMN parts TEXT NOT NULL DEFAULT '[]';
"""

_V4 = """
ALTER TABLE messages ADD COLUMN attachments TEXT;
ALTER TABLE messages ADD COLUMN attached TEXT;
CREATE TABLE unsent_attached (
    place INTEGER PRIMARY KEY,
    attachments TEXT,
    attached TEXT
);
CREATE VIRTUAL TABLE attached_text
    USING fts5(content, attached, content='messages', content_rowid='id', tokenize='trigram');
CREATE TRIGGER attached_of_new AFTER INSERT ON messages WHEN new.attached IS NOT NULL BEGIN
    INSERT INTO attached_text (rowid, content, attached) VALUES (new.id, new.content, new.attached);
END;
CREATE TRIGGER attached_of_gone AFTER DELETE ON messages WHEN old.attached IS NOT NULL BEGIN
    INSERT INTO attached_text (attached_text, rowid, content, attached)
        VALUES ('delete', old.id, old.content, old.attached);
END;
CREATE TRIGGER attached_of_changed AFTER UPDATE OF content, attached ON messages BEGIN
    INSERT INTO attached_text (attached_text, rowid, content, attached)
        SELECT 'delete', old.id, old.content, old.attached WHERE old.attached IS NOT NULL;
    INSERT INTO attached_text (rowid, content, attached)
        SELECT new.id, new.content, new.attached WHERE new.attached IS NOT NULL;
END;
"""
# What a message's attachments say (`backend.documents.attachment` splits it) is indexed with the message, so that words
# are found that stand partly in one and partly in the other. What is not sent is kept apart from its text, which is
# written anew at every pause.

_V5 = """
SELECT 1;
"""
# Rounds are packed (`store.rounds`), which earlier versions would take for damaged. Those that were written before stay
# as they are.

MIGRATIONS: tuple[str, ...] = (_V1, _V2, _V3, _V4, _V5)


class StoreError(Exception):
    """The chats cannot be opened, written or read: what, why, and what to do. ``kind`` is for programs."""

    def __init__(self, kind: str, message: str, *, reading: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.reading = reading


def migrate(db: sqlite3.Connection, path: Path, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring ``db`` up to date, with a copy of the old file beside it; raises :class:`StoreError` if it is newer."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(migrations):
        raise newer(path, version, len(migrations))
    if 0 < version < len(migrations):
        _back_up(db, path.with_name(f"{path.stem}-format{version}.bak"))
    for number, script in enumerate(migrations[version:], start=version + 1):
        db.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")


def newer(path: Path, version: int, known: int) -> StoreError:
    """The refusal of a file that another version wrote."""
    why = tr(
        "The chats in {path} were written by a newer version of Tandem (format {version}, this one reads up to "
        "{known}). Nothing was changed. Update Tandem, or set TANDEM_HOME to another folder.",
        path=path,
        version=version,
        known=known,
    )
    return StoreError("newer", why)


def _back_up(db: sqlite3.Connection, path: Path) -> None:
    half = path.with_name(f"{path.name}.part")
    try:
        with closing(sqlite3.connect(half)) as copy:
            db.backup(copy)
        half.replace(path)
    finally:  # a full disk has no room for half a copy
        for end in ("", "-journal"):
            half.with_name(half.name + end).unlink(missing_ok=True)
