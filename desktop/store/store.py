"""Chats on disk: SQLite in WAL mode, one writing thread, reads on the caller's thread.

Nothing typed or received is lost: a message is written before its request is sent, a reply while it streams. Writes
return futures; those that must be on disk before the next step (sending) are awaited by the caller.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from backend.documents import Attachment
from desktop.store import damage
from desktop.store.reader import Reader
from desktop.store.records import Chat, Message, MessageState, NewChat, Role
from desktop.store.rows import COLUMNS, attached, clean, insert_chat, insert_message, insert_whole, pack
from desktop.store.schema import MIGRATIONS, StoreError, migrate
from desktop.store.shapes import OneChat
from desktop.store.writer import Writer, connect, explain

_READ_PATIENCE = 0.2
"""Seconds that the caller's thread waits to read: nobody who writes keeps it waiting, but for moments."""


class Store(Reader):
    """The chats of one data folder. Where they can be read and nothing can be written, that is its ``problem``.

    Args:
        path: the database file; made when missing.
        migrations: the schema's history (tests pass their own).
        timeout: seconds to wait for another program's lock.

    Raises:
        StoreError: they cannot be opened.
    """

    def __init__(self, path: Path, migrations: Sequence[str] = MIGRATIONS, timeout: float = 5.0) -> None:
        self.problem: StoreError | None = None
        """Why nothing could be written at the start, although there are chats to be read; each write tries again."""
        self._writer = Writer(path, lambda: self._prepared(path, migrations, timeout))
        try:
            self.flush()
            super().__init__(path, min(timeout, _READ_PATIENCE))
        except StoreError as error:
            if error.kind not in ("full", "readonly") or not self._can_read(path, len(migrations)):
                self._writer.close()
                raise
            self.problem = error

    def _can_read(self, path: Path, version: int) -> bool:
        try:
            super().__init__(path, _READ_PATIENCE)
            if self._read("PRAGMA user_version", ())[0][0] == version:
                return True
            super().close()
        except StoreError:
            pass
        return False

    def _prepared(self, path: Path, migrations: Sequence[str], timeout: float) -> sqlite3.Connection:
        db, gone = self._open(path, migrations, timeout)
        if gone:  # pieces of what was deleted stay in the indexes until they are merged
            self._merge("message_text")
            self._merge("attached_text")
        return db

    @staticmethod
    def _open(path: Path, migrations: Sequence[str], timeout: float) -> tuple[sqlite3.Connection, int]:
        """The writing connection, and how many deleted chats were removed for good."""
        if damage.obvious(path):
            raise explain(sqlite3.DatabaseError("not a database"), path)
        db: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            db = connect(path, timeout=timeout)
            migrate(db, path, migrations)  # before anything that writes: a newer file stays as it is
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # what is committed is on disk, also when the power goes
            with db:  # probe that it can be written, and settle what an earlier run left unfinished
                db.execute("BEGIN IMMEDIATE")
                gone = db.execute("DELETE FROM chats WHERE deleted IS NOT NULL").rowcount
                for table in ("unsent", "unsent_attached"):
                    db.execute(f"DELETE FROM {table} WHERE place > 0 AND place NOT IN (SELECT id FROM chats)")
                    db.execute(f"DELETE FROM {table} WHERE place < 0 AND -place NOT IN (SELECT id FROM messages)")
                db.execute("UPDATE messages SET state = 'stopped' WHERE state = 'streaming'")
        except (sqlite3.Error, OSError, StoreError) as error:
            if db is not None:
                with contextlib.suppress(sqlite3.Error):
                    db.close()
            raise error if isinstance(error, StoreError) else explain(error, path) from error
        return db, gone

    def close(self) -> None:
        """Write what is queued and close."""
        self._writer.close()
        super().close()

    def _read(self, sql: str, values: Sequence[Any]) -> list[sqlite3.Row]:
        if self._unchanging and self._writer.ready:
            self._reader.close()
            self._unchanging = False
            self._reader = self._connected()
        return super()._read(sql, values)

    def _merge(self, index: str, pages: int = -64) -> None:
        """A search index in one piece, some pages at a time: other writing goes between.

        Begun with a negative number, and gone on with until hardly a row changes, as the manual of FTS5 has it.
        """

        def step(db: sqlite3.Connection) -> bool:
            before = db.total_changes
            db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', ?)", (pages,))
            return db.total_changes - before >= 2

        def go_on(done: Future[bool]) -> None:
            if done.exception() is None and done.result():
                self._merge(index, abs(pages))

        self._writer.submit(step).add_done_callback(go_on)

    def another_reader(self) -> Reader:
        """For another thread."""
        return Reader(self.path)

    # -- chats ----------------------------------------------------------------------------------------------------

    def add_chat(self, title: str, settings: dict[str, Any] | None = None) -> Future[Chat]:
        """A new chat."""
        return self._writer.submit(lambda db: insert_chat(db, title, settings))

    def add_whole(self, chat: OneChat, *, hidden: bool = False) -> Future[int]:
        """A chat from a file; its id here. ``hidden`` = as if deleted: :meth:`undelete_chat` shows it."""
        return self._writer.submit(lambda db: insert_whole(db, chat, hidden=hidden))

    def rename_chat(self, chat: int, title: str) -> Future[None]:
        """A new title; the chat keeps its place."""
        return self._run("UPDATE chats SET title = ? WHERE id = ?", clean(title), chat)

    def set_chat_settings(self, chat: int, settings: dict[str, Any]) -> Future[None]:
        """The chat's own settings."""
        return self._run("UPDATE chats SET settings = ? WHERE id = ?", json.dumps(settings), chat)

    def set_tip(self, chat: int, tip: int | None) -> Future[None]:
        """Which branch is on screen."""
        return self._run("UPDATE chats SET tip = ? WHERE id = ?", tip, chat)

    def pin_chat(self, chat: int, pinned: bool) -> Future[None]:
        """Keep the chat at the top of the list, or no more."""
        return self._run("UPDATE chats SET pinned = ? WHERE id = ?", time.time() if pinned else None, chat)

    def delete_chat(self, chat: int) -> Future[None]:
        """Hide the chat; :meth:`undelete_chat` brings it back until the next start, when it is removed."""
        return self._run("UPDATE chats SET deleted = ? WHERE id = ?", time.time(), chat)

    def undelete_chat(self, *chats: int) -> Future[None]:
        """Undo :meth:`delete_chat`: all of them come back, or none."""

        def task(db: sqlite3.Connection) -> None:
            db.executemany("UPDATE chats SET deleted = NULL WHERE id = ?", [(chat,) for chat in chats])

        return self._writer.submit(task)

    def discard_hidden(self, *chats: int) -> Future[None]:
        """Remove for good what was added ``hidden`` and is not wanted any more."""

        def task(db: sqlite3.Connection) -> None:
            db.executemany("DELETE FROM chats WHERE id = ? AND deleted IS NOT NULL", [(chat,) for chat in chats])

        return self._writer.submit(task)

    # -- messages -------------------------------------------------------------------------------------------------

    def add_message(
        self, chat: int, parent: int | None, role: Role, content: str, state: MessageState = "complete", **fields: Any
    ) -> Future[Message]:
        """A new message, which becomes the chat's tip."""
        message = Message(0, chat, parent, role, content, 0.0, state, **fields)
        return self._writer.submit(lambda db: insert_message(db, message))

    def add_turn(
        self,
        chat: Chat | NewChat,
        parent: int | None,
        content: str,
        attachments: Sequence[Attachment] = (),
        **fields: Any,
    ) -> Future[tuple[Chat, Message, Message]]:
        """A person's message and the empty reply to it (``fields`` are the reply's): all of it or nothing.

        With a :class:`NewChat` also the chat that the message begins.
        """

        def task(db: sqlite3.Connection) -> tuple[Chat, Message, Message]:
            its = insert_chat(db, chat.title, chat.settings) if isinstance(chat, NewChat) else chat
            own = Message(0, its.id, parent, "user", content, 0.0, attachments=tuple(attachments))
            asked = insert_message(db, own)
            reply = insert_message(db, Message(0, its.id, asked.id, "assistant", "", 0.0, "streaming", **fields))
            return its, asked, reply

        return self._writer.submit(task)

    def update_message(self, message: int, **fields: Any) -> Future[None]:
        """Change some of a message's fields (names as in :class:`Message`)."""
        unknown = set(fields) - set(COLUMNS)
        if unknown:
            raise ValueError(f"a message has no {', '.join(sorted(unknown))}")
        names = ", ".join(f"{name} = ?" for name in fields)

        def task(db: sqlite3.Connection) -> None:  # long lists are packed on the writing thread too
            values = [pack(name, value) for name, value in fields.items()]
            db.execute(f"UPDATE messages SET {names} WHERE id = ?", (*values, message))

        return self._writer.submit(task)

    # -- what was written and not sent ----------------------------------------------------------------------------

    def keep_unsent(self, place: int, text: str, attachments: Sequence[Attachment] | None = ()) -> Future[None]:
        """Keep it until it is sent or changed.

        Args:
            place: as :meth:`unsent` gives them.
            text: "" = none.
            attachments: None = as they are there.
        """

        def task(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM unsent WHERE place = ?", (place,))
            if text:
                db.execute("INSERT INTO unsent (place, text) VALUES (?, ?)", (place, clean(text)))
            if attachments is not None:
                db.execute("DELETE FROM unsent_attached WHERE place = ?", (place,))
            if attachments:
                db.execute("INSERT INTO unsent_attached VALUES (?, ?, ?)", (place, *attached(attachments)))

        return self._writer.submit(task)

    # -- plumbing -------------------------------------------------------------------------------------------------

    def try_writing(self) -> Future[None]:
        """Done when everything queued is written; fails where nothing can be."""
        return self._writer.submit(lambda _: None)

    def flush(self) -> None:
        """Wait until everything queued is written."""
        self.try_writing().result()

    def _run(self, sql: str, *values: Any) -> Future[None]:
        def task(db: sqlite3.Connection) -> None:
            db.execute(sql, values)

        return self._writer.submit(task)
