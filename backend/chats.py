"""Kept conversations as the engine takes them: what a reply answered, and the replies in the window's store.

The store is read only, also while the window writes to it, and what cannot be read of it is left out.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from backend.documents import asked
from backend.documents.attachment import from_columns
from backend.errors import EngineError, ErrorCode
from backend.protocol import Message, ModelInfo

FORMAT = 5
"""Of the window's database, as this module reads it (``desktop.store.schema``)."""
_REPLIES = """
SELECT m.* FROM messages m JOIN chats c ON c.id = m.chat
WHERE c.deleted IS NULL AND m.role = 'assistant' AND m.target = ? AND m.tokenizer = ? AND m.ids IS NOT NULL
ORDER BY m.id DESC
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that exists: what it answered, its tokens, and how its template was set."""

    messages: tuple[Message, ...]
    ids: tuple[int, ...]
    switches: dict[str, Any] = field(default_factory=dict)


def as_asked(said: Iterable[Message], system: str = "") -> list[Message]:
    """The messages as the engine takes them.

    A reply that never got a word is left out, and the person's messages around it become one: many templates refuse
    two of them in a row.
    """
    system = system.strip().encode("utf-8", "replace").decode("utf-8")
    made = [Message(role="system", content=system)] if system else []
    for message in said:
        if message.role == "assistant" and not message.content:
            continue
        if made and made[-1].role == message.role == "user":
            message = Message(role="user", content=f"{made.pop().content}\n\n{message.content}")
        made.append(message)
    return made


def kept_replies(path: Path, target: ModelInfo, most: int) -> list[Reply]:
    """What ``target`` has written in the chats: the newest replies that fit its context, chat by chat.

    Args:
        path: the window's database; none there = no replies.
        target: as loaded; replies of the same name with another vocabulary are not its own.
        most: tokens of replies in all; the oldest of them may be cut.

    Raises:
        EngineError: FILE_DAMAGED when the database cannot be read.
    """
    if not path.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            if (version := int(db.execute("PRAGMA user_version").fetchone()[0])) > FORMAT:
                raise EngineError(
                    ErrorCode.FILE_DAMAGED,
                    f"The chats in {path} were written by a newer version of Tandem (format {version}, this one reads "
                    f"up to {FORMAT}). Update Tandem.",
                    {"path": str(path)},
                )
            db.row_factory = sqlite3.Row
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")
            found = sorted(_newest(db, target, most), key=lambda one: one[0])
    except (sqlite3.Error, IndexError) as error:  # IndexError: a column is not there
        why = f"The chats in {path} could not be read ({error})."
        raise EngineError(ErrorCode.FILE_DAMAGED, why, {"path": str(path)}) from error
    return [reply for _, reply in found]


def _newest(db: sqlite3.Connection, target: ModelInfo, most: int) -> Iterator[tuple[tuple[int, int], Reply]]:
    """The replies with their places, the newest first."""
    chats: dict[int, dict[int, sqlite3.Row]] = {}
    for row in db.execute(_REPLIES, (target.id, target.tokenizer)):
        chat = row["chat"]
        if chat not in chats:
            rows = db.execute("SELECT * FROM messages WHERE chat = ?", (chat,))
            chats[chat] = {m["id"]: m for m in rows}
        try:
            reply = _reply(row, chats[chat], target)
        except (ValidationError, TypeError, ValueError, ArithmeticError):  # a damaged row costs what is damaged in it
            continue
        if reply is not None:
            yield (chat, row["id"]), replace(reply, ids=reply.ids[:most])
            most -= len(reply.ids)
        if most < 2:
            return


def _reply(row: sqlite3.Row, chat: dict[int, sqlite3.Row], target: ModelInfo) -> Reply | None:
    ids = _ids(row["ids"])
    if len(ids) < 2 or max(ids) >= target.n_vocab:  # the first token comes with the prompt
        return None
    if int(row["start"] or 0) + len(ids) > target.n_ctx or not _all_its_own(row, target):
        return None
    made_with = _object(row["settings"])
    asked = as_asked(_before(chat, row), str(made_with.get("system_prompt") or ""))
    switches = _object(made_with.get("template_kwargs"))
    known = {name: value for name, value in switches.items() if name in target.template_variables}
    return Reply(tuple(asked), ids, known) if asked else None


def _all_its_own(row: sqlite3.Row, target: ModelInfo) -> bool:
    """Whether all of a reply that went on is by this model, and nothing by a person."""
    parts = json.loads(row["parts"]) if "parts" in row.keys() else []  # noqa: SIM118 - a row is no mapping
    return all(isinstance(p, dict) and p.get("target") == target.id and not p.get("edited") for p in parts)


def _before(messages: dict[int, sqlite3.Row], reply: sqlite3.Row) -> list[Message]:
    """The branch that ends where ``reply`` begins."""
    branch: list[Message] = []
    at, upto = reply["parent"], reply["id"]
    while at in messages and at < upto:  # what is answered was written before: else a damaged file goes in circles
        row, upto = messages[at], at
        ids = _ids(row["ids"]) or None
        branch.append(Message(role=row["role"], content=_content(row), x_ids=ids, x_tokenizer=row["tokenizer"]))
        at = row["parent"]
    return branch[::-1]


def _content(row: sqlite3.Row) -> Any:
    """What was said, and what went along with it; what was written before there were attachments has none."""
    if "attached" not in row.keys() or row["attached"] is None:  # noqa: SIM118 - `in` a Row looks among its values
        return row["content"]
    return asked(row["content"], from_columns(row["attachments"], row["attached"]))


def _ids(text: str | None) -> tuple[int, ...]:
    try:
        value = json.loads(text or "[]")
    except (ValueError, TypeError, RecursionError):
        return ()
    whole = isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)
    return tuple(value) if whole else ()


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
