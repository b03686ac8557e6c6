"""A job's events as the text of a stream: OpenAI's chunks, or named messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from backend.errors import EngineError
from backend.protocol import Comparison, Finished, LoadProgress, PromptProgress, ReplyEvent
from backend.server import sse
from backend.server.jobs import Job
from backend.server.shapes import Completion, finished_fields, merge
from backend.wire import dump


async def chunks(
    completion: Completion, first: list[ReplyEvent], batches: AsyncIterator[list[ReplyEvent]], usage: bool
) -> AsyncIterator[str]:
    """The stream of one answer: chunks, perhaps the usage, ``[DONE]``; or an error and nothing after it."""
    batch = first
    try:
        while True:
            for event in merge(batch):
                yield sse.data(completion.chunk(event))
                if usage and isinstance(event, Finished):
                    yield sse.data(completion.usage_chunk(event.timings))
            if not batch:
                yield sse.PING
            try:
                batch = await anext(batches)
            except StopAsyncIteration:
                break
    except EngineError as error:
        yield sse.data(error.to_wire())
        return
    yield sse.DONE


async def named(job: Job, messages: Callable[[list[Any]], list[tuple[str, Any]]]) -> AsyncIterator[str]:
    """A job's events as named messages; an error is the last one."""
    try:
        async with aclosing(job.outbox.batches()) as batches:
            async for batch in batches:
                if not batch:
                    yield sse.PING
                for name, value in messages(batch):
                    yield sse.event(name, value)
    except EngineError as error:
        yield sse.event("error", error.to_wire())


def newest_progress(batch: list[LoadProgress]) -> list[tuple[str, Any]]:
    """A load's messages for :func:`named`: of each phase the last word."""
    newest = {progress.phase: progress for progress in batch}
    return [("progress", dump(progress)) for progress in newest.values()]


def compare_messages(batch: list[tuple[str, ReplyEvent] | Comparison]) -> list[tuple[str, Any]]:
    """A comparison's messages for :func:`named`: each side's, and the result."""
    sides: dict[str, list[ReplyEvent]] = {}
    for item in batch:
        if isinstance(item, tuple):
            sides.setdefault(item[0], []).append(item[1])
    said = [_side_message(side, event) for side, events in sides.items() for event in merge(events)]
    return said + [("result", dump(item)) for item in batch if isinstance(item, Comparison)]


def _side_message(side: str, event: ReplyEvent) -> tuple[str, Any]:
    if isinstance(event, PromptProgress):
        return "progress", {"side": side} | dump(event)
    if isinstance(event, Finished):
        return "finished", {"side": side, "timings": dump(event.timings)} | finished_fields(event)
    return "delta", {"side": side, "text": event.text, "timings": dump(event.timings)}
