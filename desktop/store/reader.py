"""Reading the chats: on the caller's thread, through a connection of its own that cannot write.

Where nothing can be written at all (a full disk, a folder without permission) SQLite lacks what it shares with who
writes, and the file is read as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from desktop.store import damage, kinds
from desktop.store.records import Chat, Draft, Message, order
from desktop.store.rows import attachments_of, chat_of, listed_chat, message_of
from desktop.store.search import Hit, holds, search
from desktop.store.writer import connect, explain

_STEPS = 500
"""Of SQLite's machine, between two looks whether it is still wanted: some milliseconds."""
_LISTED = "FROM chats WHERE deleted IS NULL ORDER BY pinned IS NULL, updated DESC, id DESC"


class Reader:
    """The chats as they are on disk.

    Args:
        path: the database file, which is there and up to date.
        timeout: seconds to wait for another program's lock.

    Raises:
        StoreError: it cannot be opened.
    """

    def __init__(self, path: Path, timeout: float = 5.0) -> None:
        self.path = path
        self._timeout = timeout
        self._unchanging = False
        """What others write from now on is not seen."""
        self._reader = self._connected()

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()

    def give_up_when(self, unwanted: Callable[[], bool]) -> None:
        """What is being read ends with an error as soon as this says so; it is asked now and then."""
        self._reader.set_progress_handler(unwanted, _STEPS)

    def chats(self) -> list[Chat]:
        """Chats that are not deleted: those that are pinned, then the others, the latest first."""
        return [chat_of(row) for row in self._read(f"SELECT * {_LISTED}", ())]

    def listed(self) -> list[Chat]:
        """The same without their settings, which take longer to read than all else of a chat: for a list of them."""
        rows = self._read(f"SELECT id, title, created, updated, tip, pinned {_LISTED}", ())
        chats = [listed_chat(row, {}) for row in rows]
        if any(chat.updated != row["updated"] for chat, row in zip(chats, rows, strict=True)):  # a damaged time
            chats.sort(key=order)
        return chats

    def search(self, text: str) -> list[Hit]:
        """Chats in which all words of ``text`` are found (see ``store.search``)."""
        return search(self._read, text)

    def chat(self, chat: int) -> Chat | None:
        """One chat; None when there is none or it is deleted."""
        rows = self._read("SELECT * FROM chats WHERE id = ? AND deleted IS NULL", [chat])
        return chat_of(rows[0]) if rows else None

    def branch(self, chat: int) -> list[Message]:
        """The messages on screen: from the first to the chat's tip."""
        record = self.chat(chat)
        messages = {m.id: m for m in self.messages(chat)}
        if record is None or not messages:
            return []
        at: int | None = record.tip if record.tip in messages else max(messages)
        path: list[Message] = []
        while at is not None and at in messages:  # a damaged parent ends the branch, in a circle too
            message = messages.pop(at)
            path.append(message)
            at = message.parent
        return path[::-1]

    def messages(self, chat: int) -> list[Message]:
        """Every message of the chat's tree, in the order written."""
        return [message_of(row) for row in self._read("SELECT * FROM messages WHERE chat = ? ORDER BY id", [chat])]

    def siblings(self, message: Message) -> list[int]:
        """Ids of the messages that answer the same parent, in the order written; includes this one."""
        rows = self._read(
            "SELECT id FROM messages WHERE chat = ? AND parent IS ? ORDER BY id", [message.chat, message.parent]
        )
        return [int(row["id"]) for row in rows]

    def leaf_below(self, message: int) -> int:
        """The latest end of the branch that runs through ``message``."""
        later = (
            "SELECT max(id) AS id FROM messages WHERE parent = ? AND id > parent"  # else damaged, and perhaps a circle
        )
        while rows := self._read(later, [message]):
            if rows[0]["id"] is None:
                break
            message = int(rows[0]["id"])
        return message

    def unsent(self, chat: int) -> dict[int, Draft]:
        """What was written in a chat and not sent, by place.

        Args:
            chat: its id; 0 = the page on which one begins. That is the place of the message box, and minus its id that
                of a message that is being written anew.
        """
        own = "place = ? OR -place IN (SELECT id FROM messages WHERE chat = ?)"
        texts = self._read(f"SELECT * FROM unsent WHERE {own}", [chat, chat])
        found = {int(row["place"]): Draft(kinds.text(row["text"])) for row in texts}
        for row in self._read(f"SELECT * FROM unsent_attached WHERE {own}", [chat, chat]):
            text = found.get(int(row["place"]), Draft()).text
            found[int(row["place"])] = Draft(text, attachments_of(row)[0])
        return found

    def _read(self, sql: str, values: Sequence[Any]) -> list[sqlite3.Row]:
        try:
            return self._reader.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            known = explain(error, self.path, reading=True)
            if known.kind == "damaged":
                damage.note(self.path)
            raise known from error

    def _connected(self) -> sqlite3.Connection:
        try:
            return self._opened(unchanging=False)
        except sqlite3.Error as error:
            self._unchanging = "locked" not in str(error) and not _has_log(self.path)
            try:
                if self._unchanging:
                    return self._opened(unchanging=True)
            except sqlite3.Error as second:
                error = second
            raise explain(error, self.path, reading=True) from error

    def _opened(self, *, unchanging: bool) -> sqlite3.Connection:
        db = connect(self.path, timeout=self._timeout, unchanging=unchanging)
        try:
            db.execute("PRAGMA query_only = ON")
            db.execute("PRAGMA user_version").fetchone()  # the first that looks into the file
            db.create_function("holds", 2, holds, deterministic=True)
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")  # a damaged letter costs that letter
        except BaseException:
            db.close()
            raise
        return db


def _has_log(path: Path) -> bool:
    """Whether there may be chats in the file's log; without it the file alone tells all."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        return True
