"""Which of several drafts would gain most on replies that exist.

Each draft reads the replies and is told by how many of their tokens it would have guessed; nothing is generated. What
that promises is ``backend.forecast``'s.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from backend.chats import Reply, kept_replies
from backend.client import EngineClient
from backend.equations import LONGEST
from backend.errors import EngineError, ErrorCode
from backend.forecast import Forecast, forecast
from backend.protocol import CostTable, DraftRequest, ModelInfo, State

CHAT_TOKENS = 2000
"""Tokens of stored replies that are judged: they tell an acceptance to two hundredths either way."""
LEAST_TOKENS = 200
"""Fewer tell it to seven hundredths at best, which is what drafts differ by."""
_ENDS = (ErrorCode.CANCELLED, ErrorCode.WORKER_GONE, ErrorCode.NO_MODEL, ErrorCode.PROTOCOL_MISMATCH)
"""What ends the trial of all drafts; any other failure to load one is that draft's own."""
_SKIPPED = (ErrorCode.CONTEXT_FULL, ErrorCode.TEMPLATE_FAILED, ErrorCode.BAD_REQUEST)
"""What a single reply may have: too long for the draft's context, or of another template."""


@dataclass(frozen=True, slots=True)
class Trying:
    """How far a trial has come."""

    draft: str
    number: int
    """Which draft it is, from 1 on."""
    of: int
    loading: bool
    """Being loaded; else it reads the replies."""
    fraction: float
    """Of the whole trial."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A draft that could not be tried, and why."""

    draft: str
    why: str


async def try_drafts(
    client: EngineClient, drafts: Sequence[str], replies: Sequence[Reply]
) -> AsyncIterator[Trying | Forecast | Failed]:
    """Load one draft after the other beside the target, and judge each; the last one stays loaded.

    To stop, close the iterator or cancel its task: the engine stops when the connection closes.

    Args:
        client: with a loaded target.
        drafts: ids. Where there are several, the one in use is loaded anew like the others: what its steps cost was
            learnt from replies, and only what is measured alike can be compared.
        replies: at least one.
    """
    state = await client.state()
    for number, draft in enumerate(drafts):

        def at(fraction: float, *, loading: bool = False, draft: str = draft, number: int = number) -> Trying:
            return Trying(draft, number + 1, len(drafts), loading, (number + fraction) / len(drafts))

        if len(drafts) > 1 or state.draft is None or state.draft.id != draft:
            yield at(0, loading=True)
            try:
                await _load(client, draft)
            except EngineError as error:
                if error.code in _ENDS:
                    raise
                yield Failed(draft, error.message)
                continue
        hits: list[str] = []
        why = ""
        for n, reply in enumerate(replies):
            yield at(n / len(replies))
            try:
                judged = await client.judge(reply.messages, reply.ids, uuid4().hex, reply.switches)
                hits.append(judged.hits)
            except EngineError as error:
                if error.code not in _SKIPPED:
                    raise
                why = error.message
        state = await client.state()
        yield forecast(draft, hits, state.cost or CostTable(), _longest(state)) if hits else Failed(draft, why)


async def _load(client: EngineClient, draft: str) -> None:
    async with aclosing(client.set_draft(DraftRequest(draft=draft), uuid4().hex)) as steps:  # type: ignore[type-var]
        async for _ in steps:
            pass


def _longest(state: State) -> int:
    """In strict mode only passes that are exact are taken."""
    return LONGEST if state.exact_rows is None else min(LONGEST, state.exact_rows - 1)


def chat_replies(path: Path, target: ModelInfo) -> list[Reply]:
    """The stored replies of ``target`` that drafts are judged by.

    Raises:
        EngineError: BAD_REQUEST, with the number of ``tokens``, when there are too few; what reading the chats raises.
    """
    replies = kept_replies(path, target, CHAT_TOKENS)
    tokens = sum(len(reply.ids) for reply in replies)
    if tokens < LEAST_TOKENS:
        there = f"Only {tokens:,} tokens of" if tokens else "No"
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"{there} replies by {target.id} are stored in the chats; {LEAST_TOKENS} tokens, one or two longer "
            "replies, are needed to judge a draft. Chat with it a little in the window, then try "
            "again.",
            {"tokens": tokens},
        )
    return replies
