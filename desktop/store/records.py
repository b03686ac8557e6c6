"""What the store keeps: a chat, and a message that remembers how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from backend.documents import Attachment

MessageState = Literal["streaming", "complete", "stopped", "failed"]
Role = Literal["system", "user", "assistant"]

ROUNDS_KEPT = 2000
"""Rounds stored with a reply: the last ones win, so that a very long reply cannot swell the database."""


@dataclass(slots=True, frozen=True)
class Chat:
    """One conversation. ``settings`` is the JSON object behind the chat-settings dialog."""

    id: int
    title: str
    created: float
    updated: float
    settings: dict[str, Any] = field(default_factory=dict)
    tip: int | None = None
    """The last message of the branch on screen."""
    pinned: bool = False
    """Stays at the top of the list."""


def order(chat: Chat) -> tuple[bool, float, int]:
    """A list of chats goes by this: those that are pinned, then the others, the latest first."""
    return not chat.pinned, -chat.updated, -chat.id


@dataclass(slots=True, frozen=True)
class NewChat:
    """A chat that is made with its first message."""

    title: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, frozen=True)
class Message:
    """One message of the tree; ``parent`` is None for the first. A reply carries all that reproduces it."""

    id: int
    chat: int
    parent: int | None
    role: Role
    content: str
    created: float
    state: MessageState = "complete"
    ids: tuple[int, ...] | None = None
    tokenizer: str | None = None
    seed: int | None = None
    start: int | None = None
    target: str | None = None
    draft: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] | None = None
    rounds: Sequence[dict[str, Any]] = ()
    tokens: dict[str, Any] | None = None
    """Where each token came from (see ``models.origins``)."""
    finish: str | None = None
    note: str = ""
    error: dict[str, Any] | None = None
    comparison: dict[str, Any] | None = None
    parts: tuple[dict[str, Any], ...] = ()
    """What was known before it went on, or was changed (see ``models.parts``)."""
    attachments: tuple[Attachment, ...] = ()
    """What a person's message brought along."""
    damaged: tuple[str, ...] = ()
    """Fields that cannot be read from the file any more; here they have their defaults."""


@dataclass(slots=True, frozen=True)
class Draft:
    """What is written and not sent; false = nothing."""

    text: str = ""
    attachments: tuple[Attachment, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.attachments)
