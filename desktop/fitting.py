"""How many tokens attachments have, and how much of them fits, asked of the engine's own tokenizer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from backend.client import EngineClient
from backend.documents import Attachment, first_part
from backend.protocol import Message

Prompt = Callable[[tuple[Attachment, ...]], list[Message]]
"""What the engine would read with these attachments."""
Switches = dict[str, object]

_REPLY = 1024
"""Tokens left for the reply where the chat's settings limit it no further, but at most a quarter of the context."""
_NEAR = 0.02
_MOST_COUNTS = 14


@dataclass(frozen=True, slots=True)
class Fit:
    """What sending would make."""

    tokens: int
    """Of the whole prompt."""
    bare: int
    """Of the prompt without the attachments."""
    size: int
    """Of the context."""
    reply: int
    """Kept free for the reply."""
    kept: tuple[Attachment, ...]
    """The first part of the attachments that fits."""

    @property
    def whole(self) -> bool:
        """Whether nothing has to be left out."""
        return self.tokens + self.reply <= self.size


async def weigh(client: EngineClient, attachment: Attachment) -> int:
    """Tokens that an attachment adds to a message."""
    with_it, _ = await client.count([Message(role="user", content=f"{attachment.block}\n\n?")], {})
    without, _ = await client.count([Message(role="user", content="?")], {})
    return with_it - without


async def fit(
    client: EngineClient,
    prompt: Prompt,
    attachments: tuple[Attachment, ...],
    max_tokens: int | None,
    switches: Switches,
) -> Fit | None:
    """Whether everything fits beside a reply, and if not, how much does; None = the context's size is not known."""
    tokens, size = await client.count(prompt(attachments), switches)
    if size is None:
        return None
    reply = min(max_tokens or _REPLY, size // 4)
    if tokens + reply <= size:
        return Fit(tokens, 0, size, reply, attachments)

    async def count(length: int) -> int:
        return (await client.count(prompt(first_part(attachments, length)), switches))[0]

    bare = await count(0)
    length = sum(len(attachment.text) for attachment in attachments)
    length = await longest(count, length, bare, tokens, size - reply)
    return Fit(tokens, bare, size, reply, first_part(attachments, length))


async def longest(count: Callable[[int], Awaitable[int]], length: int, least: int, most: int, room: int) -> int:
    """The largest length, or nearly, whose count is within ``room``; 0 when none is.

    Args:
        count: of a beginning of so many characters; grows with it.
        length: whose count is too much.
        least: the count of 0.
        most: the count of ``length``.
        room: the largest count allowed.
    """
    low, high = 0, length
    for turn in range(_MOST_COUNTS):
        if high - low <= 1 or room - least <= _NEAR * room:
            break
        share = (room - least) / max(most - least, 1) * (1 - _NEAR / 2) if turn % 2 == 0 else 0.5
        middle = min(max(low + int(share * (high - low)), low + 1), high - 1)
        counted = await count(middle)
        if counted <= room:
            low, least = middle, counted
        else:
            high, most = middle, counted
    return low
