"""Chats as files: Markdown to read, JSON with everything to keep and to bring in again.

A file that is brought in is not trusted: it is read whole and checked before anything is written, and then all of it is
written or nothing.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from backend import wire
from backend.documents import Attachment, asked
from backend.protocol import Timings
from desktop.language import tr
from desktop.store.records import Chat, Message, MessageState, Role
from desktop.store.schema import StoreError

FORMAT = "tandem-chats"
_VERSION = 2
"""1 had no attachments."""
_LARGEST = 100_000_000
"""Bytes of a file that is brought in."""
_DEEPEST = 40
_Time = Field(default=0.0, ge=0.0, le=3e10, allow_inf_nan=False)


def _reckoned_with(raw: dict[str, Any]) -> dict[str, Any]:
    """Counters and times: counts are not below zero, and nothing is beyond all measure, as text could be."""
    known = wire.read(Timings, raw)  # None = of another shape, which is not shown
    if known is not None:
        of_sources = known.by_source.values()
        values = [*asdict(known).values(), *known.accepted_per_position, *known.drafted_per_position]
        for value in [*values, *(count for counts in of_sources for count in counts)]:
            if isinstance(value, int | float) and not (0 if isinstance(value, int) else -(2**63)) <= value < 2**63:
                raise ValueError("a counter or a time is out of bounds")
        if any(len(counts) != 3 for counts in of_sources):
            raise ValueError("by_source needs three counts for each source")
    return raw


_Figures = Annotated[dict[str, Any], AfterValidator(_reckoned_with)]


class _Recipe(BaseModel):
    """What the program reads of a reply's settings; anything else is kept as it is."""

    model_config = ConfigDict(extra="allow", strict=True)
    system_prompt: str = ""
    sampling: dict[str, Any] = {}
    max_tokens: int | None = Field(default=None, ge=1, lt=2**31)
    template_kwargs: dict[str, Any] = {}


class _Comparison(BaseModel):
    """The same of a comparison."""

    model_config = ConfigDict(extra="allow", strict=True)
    generation_ratio: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    request_ratio: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    plain: _Figures | None = None
    speculation: _Figures | None = None


class _Round(BaseModel):
    """A round, as the window reads it."""

    model_config = ConfigDict(extra="ignore", strict=True)
    round: int = 0
    pos: int = 0
    source: str | None = None
    proposed: list[int] = []
    targets: list[int] = []
    accepted: int = 0
    outcome: str = ""
    emitted: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    host_ms: float = 0.0
    reason: str = ""
    p: list[float] = []


class _Tokens(BaseModel):
    """Where tokens came from (see ``models.origins``)."""

    model_config = ConfigDict(extra="ignore", strict=True)
    bytes: list[int]
    origins: str
    rounds: list[int]


class _Part(BaseModel):
    """What is read of a part of a reply that went on; anything else is kept as it is."""

    model_config = ConfigDict(extra="allow", strict=True)
    bytes: int = Field(ge=0)
    rounds: int = Field(default=0, ge=0)
    ids: int | None = Field(default=None, ge=0)
    edited: bool = False
    target: str | None = None
    tokenizer: str | None = None


class _Attachment(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    name: str
    language: str = ""
    text: str
    size: int = Field(default=0, ge=0)
    part: str = ""
    note: str = ""


class OneMessage(BaseModel):
    """A message as it stands in a file; ``id`` and ``parent`` are the file's own numbers."""

    model_config = ConfigDict(extra="ignore", strict=True)
    id: int
    parent: int | None = None
    role: Role
    content: str
    created: float = _Time
    state: MessageState = "complete"
    ids: list[int] | None = None
    tokenizer: str | None = None
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    start: int | None = Field(default=None, ge=0, lt=2**63)
    target: str | None = None
    draft: str | None = None
    settings: _Recipe = _Recipe()
    timings: _Figures | None = None
    rounds: list[_Round] = []
    tokens: _Tokens | None = None
    finish: str | None = None
    note: str = ""
    error: dict[str, Any] | None = None
    comparison: _Comparison | None = None
    parts: list[_Part] = []
    attachments: list[_Attachment] = []


class OneChat(BaseModel):
    """A chat as it stands in a file; its messages come after those that they answer."""

    model_config = ConfigDict(extra="ignore", strict=True)
    title: str
    created: float = _Time
    updated: float = _Time
    pinned: bool = False
    settings: dict[str, Any] = {}
    tip: int | None = None
    messages: list[OneMessage]


class _File(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    format: Literal["tandem-chats"]
    version: int
    chats: list[OneChat]


def to_json(chats: Iterable[tuple[Chat, list[Message]]]) -> str:
    """Everything that is known of the chats."""
    return json.dumps(
        {"format": FORMAT, "version": _VERSION, "chats": [_chat(chat, messages) for chat, messages in chats]},
        ensure_ascii=False,
        indent=1,
    )


def to_markdown(chat: Chat, branch: list[Message], author: Callable[[Message], str]) -> str:
    """The branch that is on screen, to be read."""
    parts = [f"# {' '.join(chat.title.split())}"]
    texts = [(author(message), asked(message.content.strip(), message.attachments)) for message in branch]
    parts += [f"**{who}**\n\n{text}" for who, text in texts if text]
    return "\n\n".join(parts) + "\n"


def read(path: Path) -> list[OneChat]:
    """The chats of a file that :func:`to_json` made.

    Raises:
        StoreError: it cannot be read, or is none; what is wrong with it is said.
    """
    name = path.name
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):  # reading a pipe may never end
            why = tr("{name} could not be read: it is a device or a pipe. Choose a file.", name=name)
            raise StoreError("foreign", why)
        if found.st_size > _LARGEST:
            raise StoreError("foreign", tr("{name} is larger than 100 MB. Export fewer chats to one file.", name=name))
        raw = json.loads(path.read_text("utf-8"))
    except OSError as error:
        why = tr("{name} could not be read ({error}).", name=name, error=error.strerror or error)
        raise StoreError("foreign", why) from error
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is one
        why = tr("{name} is no file of chats: it is not JSON ({error}).", name=name, error=error)
        raise StoreError("foreign", why) from error
    if not _tame(raw):
        why = tr("{name} is no file of chats: it holds numbers or depths that no chat has.", name=name)
        raise StoreError("foreign", why)
    if isinstance(raw, dict) and raw.get("format") == FORMAT and raw.get("version") not in range(_VERSION + 1):
        why = tr("{name} was written by another version of Tandem. Update Tandem.", name=name)
        raise StoreError("foreign", why)
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or tr("its beginning", note="of a file")
        why = tr(
            "{name} is no file of Tandem's chats, or is damaged: {where}: {error}.",
            name=name,
            where=where,
            error=first["msg"],
        )
        raise StoreError("foreign", why) from error
    for number, chat in enumerate(file.chats, start=1):
        _check(path, number, chat)
    return file.chats


def record(message: OneMessage, chat: int, parent: int | None) -> Message:
    """As the store takes it, under the number that the message it answers has there."""
    values = {name: getattr(message, name) for name in OneMessage.model_fields}
    values |= {"id": 0, "chat": chat, "parent": parent}
    values["rounds"] = tuple(one.model_dump(exclude_unset=True) for one in message.rounds)
    values["parts"] = tuple(one.model_dump(exclude_unset=True) for one in message.parts)
    values["settings"] = message.settings.model_dump(exclude_unset=True)
    if message.comparison is not None:
        values["comparison"] = message.comparison.model_dump(exclude_unset=True)
    if message.tokens is not None:
        values["tokens"] = message.tokens.model_dump()
    values["attachments"] = tuple(Attachment(**one.model_dump()) for one in message.attachments)
    values["ids"] = None if message.ids is None else tuple(message.ids)
    if message.state == "streaming":
        values["state"] = "stopped"
    return Message(**values)


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


def _check(path: Path, number: int, chat: OneChat) -> None:
    seen: set[int] = set()
    for message in chat.messages:
        if message.id in seen or (message.parent is not None and message.parent not in seen):
            why = tr(
                "{name} is damaged: in chat {number} message {message} answers none before it, or is double.",
                name=path.name,
                number=number,
                message=message.id,
            )
            raise StoreError("foreign", why)
        seen.add(message.id)


def _chat(chat: Chat, messages: list[Message]) -> dict[str, Any]:
    out = {name: getattr(chat, name) for name in ("title", "created", "updated", "pinned", "settings", "tip")}
    return out | {"messages": [_message(message) for message in messages]}


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
