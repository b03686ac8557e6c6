"""Chats as files: Markdown to read, JSON with everything to keep and to bring in again.

A file that is brought in is not trusted: all of it is read and checked before anything is written, and then all of it
is written or nothing. However large it is, a chat of it is held at a time.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from backend.documents import asked
from desktop.language import tr
from desktop.store.chunks import Chunks, TooLongError
from desktop.store.damage import UnwantedError
from desktop.store.records import Chat, Message
from desktop.store.schema import StoreError
from desktop.store.shapes import OneChat

FORMAT = "tandem-chats"
_VERSION = 2
"""1 had no attachments."""
_LARGEST = 250_000_000
"""Letters of a chat in a file that is brought in: some hundred of the longest replies with all their rounds."""
_DEEPEST = 40


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    format: Literal["tandem-chats"]
    version: int
    chats: list[Any]


def to_json(chats: Iterable[tuple[Chat, list[Message]]]) -> Iterator[str]:
    """Everything that is known of the chats, piece by piece: a line for each thing that is known."""
    yield f'{{\n"format": {json.dumps(FORMAT)},\n"version": {_VERSION},\n"chats": ['
    comma = ""
    for chat, messages in chats:
        facts = {name: getattr(chat, name) for name in ("title", "created", "updated", "pinned", "settings", "tip")}
        yield f'{comma}\n{{\n{_lines(facts)},\n"messages": ['
        comma = ""
        for message in messages:
            yield f"{comma}\n{{\n{_lines(_message(message))}\n}}"
            comma = ","
        yield "\n]\n}"
        comma = ","
    yield "\n]\n}\n"


def to_markdown(
    chat: Chat, branch: list[Message], author: Callable[[Message], str], text: Callable[[Message], str]
) -> str:
    """The branch that is on screen, to be read: who said it, and the text of it."""
    parts = [f"# {' '.join(chat.title.split())}"]
    said = [(author(message), asked(text(message).strip(), message.attachments)) for message in branch]
    parts += [f"**{who}**\n\n{what}" for who, what in said if what]
    return "\n\n".join(parts) + "\n"


def read(path: Path, unwanted: Callable[[], bool] = lambda: False) -> Iterator[OneChat]:
    """The chats of a file that :func:`to_json` made: all of it is checked, then they are read once more, one by one.

    Args:
        path: the file.
        unwanted: asked at every chat; to give up.

    Raises:
        StoreError: it cannot be read, or is none; what is wrong with it is said.
        UnwantedError: it was given up.
    """
    for _ in _chats(path, unwanted):
        pass
    return _chats(path, unwanted)


def _chats(path: Path, unwanted: Callable[[], bool]) -> Iterator[OneChat]:
    name = path.name
    try:
        kind = path.stat().st_mode
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):  # reading a pipe may never end
            why = tr("{name} could not be read: it is a device or a pipe. Choose a file.", name=name)
            raise StoreError("foreign", why)
        with path.open(encoding="utf-8") as file:
            chunks = Chunks(file, "chats", _LARGEST)
            for number, raw in enumerate(chunks.items(), start=1):
                if number == 1 and "format" in chunks.others:  # as in our own, where it stands first
                    _check_head(name, chunks)
                if unwanted():
                    raise UnwantedError
                yield _one(name, number, raw)
            _check_head(name, chunks)
    except OSError as error:
        why = tr("{name} could not be read ({error}).", name=name, error=error.strerror or error)
        raise StoreError("foreign", why) from error
    except TooLongError as error:
        why = tr(
            "{name} could not be read: a chat in it is larger than {size} MB. Export the other chats one at a time.",
            name=name,
            size=_LARGEST // 1_000_000,
        )
        raise StoreError("foreign", why) from error
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is one
        raise _foreign(name, str(error)) from error


def _check_head(name: str, chunks: Chunks) -> None:
    raw = chunks.others
    if raw.get("format") == FORMAT and raw.get("version") not in range(_VERSION + 1):
        why = tr("{name} was written by another version of Tandem. Update Tandem.", name=name)
        raise StoreError("foreign", why)
    try:
        _File.model_validate(raw | ({"chats": []} if chunks.found else {}))
    except ValidationError as error:
        raise _invalid(name, error) from error


def _one(name: str, number: int, raw: Any) -> OneChat:
    if not _tame(raw):
        why = tr("{name} is no file of chats: it holds numbers or depths that no chat has.", name=name)
        raise StoreError("foreign", why)
    try:
        chat = OneChat.model_validate(raw)
    except ValidationError as error:
        raise _invalid(name, error, "chats", number - 1) from error
    _check(name, number, chat)
    return chat


def _invalid(name: str, error: ValidationError, *inside: str | int) -> StoreError:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in (*inside, *first["loc"]))
    return _foreign(name, f"{where}: {first['msg']}")


def _foreign(name: str, error: str) -> StoreError:
    why = tr("{name} is no file of Tandem's chats, or is damaged: {error}.", name=name, error=error)
    return StoreError("foreign", why)


def _tame(raw: Any) -> bool:
    """Whether all numbers are ones that can be stored and shown, and nothing lies deeper than a chat has levels."""
    level, depth = [raw], 0
    while level:
        depth += 1
        for value in level:
            if isinstance(value, int | float) and not -(2**63) <= value < 2**63:  # infinities and no-numbers too
                return False
        lists = [value for value in level if isinstance(value, list)]
        lists += [list(value.values()) for value in level if isinstance(value, dict)]
        level = [value for values in lists for value in values]
    return depth <= _DEEPEST


def _check(name: str, number: int, chat: OneChat) -> None:
    seen: set[int] = set()
    for message in chat.messages:
        if message.id in seen or (message.parent is not None and message.parent not in seen):
            why = tr(
                "{name} is damaged: in chat {number} message {message} answers none before it, or is double.",
                name=name,
                number=number,
                message=message.id,
            )
            raise StoreError("foreign", why)
        seen.add(message.id)


def _lines(facts: dict[str, Any]) -> str:
    """Long lists of numbers without spaces."""
    packed = {"ids", "rounds", "tokens"}
    values = {
        name: json.dumps(value, ensure_ascii=False, separators=(",", ":") if name in packed else None)
        for name, value in facts.items()
    }
    return ",\n".join(f'"{name}": {value}' for name, value in values.items())


def _message(message: Message) -> dict[str, Any]:
    """Without what is as it always is."""
    out: dict[str, Any] = {"id": message.id, "role": message.role, "content": message.content}
    for field in fields(Message):
        value: Any = getattr(message, field.name)
        if field.name == "rounds":
            value = tuple(value)
        if field.name == "attachments":
            value = [asdict(attachment) for attachment in value]
        if field.name not in (*out, "chat", "damaged") and value not in (None, "", (), {}, []):
            out[field.name] = value
    return out
