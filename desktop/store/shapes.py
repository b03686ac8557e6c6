"""A chat as it stands in a file (``exchange``), with what may stand in each place."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from backend import wire
from backend.documents import Attachment
from backend.protocol import Timings
from desktop.language import tr
from desktop.store.kinds import LATEST
from desktop.store.records import Message, MessageState, Role

_Many = Annotated[list[int], Field(max_length=5_000)]
"""Tokens of a round: far more than a pass takes, and no more than a table shows."""
_Name = Annotated[str, Field(max_length=1_000)]
_LONGEST_TITLE = 1_000
_Time = Field(default=0.0, ge=0.0, le=LATEST, allow_inf_nan=False)


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
    thinking_opened: bool = False


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
    proposed: _Many = []
    targets: _Many = []
    accepted: int = 0
    outcome: str = ""
    emitted: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    host_ms: float = 0.0
    reason: str = ""
    p: Annotated[list[float], Field(max_length=5_000)] = []


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
    target: _Name | None = None
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
    tokenizer: _Name | None = None
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    start: int | None = Field(default=None, ge=0, lt=2**63)
    target: _Name | None = None
    draft: _Name | None = None
    settings: _Recipe = _Recipe()
    timings: _Figures | None = None
    rounds: list[_Round] = []
    tokens: _Tokens | None = None
    finish: _Name | None = None
    note: str = ""
    error: dict[str, Any] | None = None
    comparison: _Comparison | None = None
    parts: list[_Part] = []
    attachments: list[_Attachment] = []


def _listed(title: str) -> str:
    """A file may say a whole book, at which each look at the list of chats would take a while, or nothing."""
    return title[:_LONGEST_TITLE] if title.strip() else tr("New chat")


class OneChat(BaseModel):
    """A chat as it stands in a file; its messages come after those that they answer."""

    model_config = ConfigDict(extra="ignore", strict=True)
    title: Annotated[str, AfterValidator(_listed)]
    created: float = _Time
    updated: float = _Time
    pinned: bool = False
    settings: dict[str, Any] = {}
    tip: int | None = None
    messages: list[OneMessage]


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
