"""Engine events as OpenAI-shaped answers, and the merging that keeps a fast engine from flooding a slow reader."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.protocol import Delta, Finished, PromptProgress, ReplyEvent, Timings
from backend.wire import dump


def merge(events: Iterable[ReplyEvent]) -> list[ReplyEvent]:
    """Neighbours of one kind become one event: the newest progress, one delta with all text and tokens."""
    merged: list[ReplyEvent] = []
    run: list[Delta] = []
    for event in events:
        if isinstance(event, Delta):
            run.append(event)
            continue
        if run:
            merged.append(_join(run))
            run = []
        if isinstance(event, PromptProgress) and merged and isinstance(merged[-1], PromptProgress):
            merged.pop()
        merged.append(event)
    if run:
        merged.append(_join(run))
    return merged


def _join(run: Sequence[Delta]) -> Delta:
    if len(run) == 1:
        return run[0]
    return Delta(
        text="".join(d.text for d in run),
        tokens=tuple(token for d in run for token in d.tokens),
        timings=run[-1].timings,
        rounds=tuple(r for d in run for r in d.rounds),
    )


def usage(timings: Timings) -> dict[str, Any]:
    """OpenAI's token counts; the cached part of the prompt is counted in, as OpenAI does."""
    prompt = timings.prompt_n + timings.cache_n
    return {
        "prompt_tokens": prompt,
        "completion_tokens": timings.predicted_n,
        "total_tokens": prompt + timings.predicted_n,
        "prompt_tokens_details": {"cached_tokens": timings.cache_n},
    }


def finished_fields(event: Finished) -> dict[str, Any]:
    """``x_finished``: the end of a reply without its timings, which travel beside it."""
    return {
        "reason": event.reason,
        "seed": event.seed,
        "start": event.start,
        "ids": list(event.ids),
        "tokenizer": event.tokenizer,
        "note": event.note,
        "reliability": event.reliability,
        "prefix": list(event.prefix),
    }


def finish_reason(event: Finished) -> str:
    """OpenAI's word for the end; a cancelled reply is a stopped one there."""
    return "length" if event.reason == "length" else "stop"


@dataclass(slots=True)
class Completion:
    """Builds the chunks of one streamed answer, or the whole of one that is not streamed."""

    id: str
    model: str
    created: int = field(default_factory=lambda: int(time.time()))
    _begun: bool = False

    def chunk(self, event: ReplyEvent) -> dict[str, Any]:
        """One ``chat.completion.chunk``."""
        if isinstance(event, PromptProgress):
            return self._chunk({}, None, {"x_prompt": dump(event)})
        if isinstance(event, Delta):
            extras = {"timings": dump(event.timings), "x_tokens": [dump(t) for t in event.tokens]}
            return self._chunk({"content": event.text}, None, extras)
        extras = {"timings": dump(event.timings), "x_finished": finished_fields(event)}
        return self._chunk({}, finish_reason(event), extras)

    def usage_chunk(self, timings: Timings) -> dict[str, Any]:
        """The last chunk of ``stream_options.include_usage``: no choices, only counts."""
        return self._head("chat.completion.chunk") | {"choices": [], "usage": usage(timings)}

    def whole(self, events: Sequence[ReplyEvent]) -> dict[str, Any]:
        """A ``chat.completion`` from all events of a reply; the last one is its end."""
        deltas = [e for e in events if isinstance(e, Delta)]
        end = events[-1]
        assert isinstance(end, Finished), "a reply ends with Finished or an error"
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": "".join(d.text for d in deltas)},
            "finish_reason": finish_reason(end),
            "x_tokens": [dump(t) for d in deltas for t in d.tokens],
            "x_finished": finished_fields(end),
        }
        return self._head("chat.completion") | {
            "choices": [choice],
            "usage": usage(end.timings),
            "timings": dump(end.timings),
        }

    def _chunk(self, delta: dict[str, Any], reason: str | None, extras: dict[str, Any]) -> dict[str, Any]:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant", "content": ""} | delta
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return self._head("chat.completion.chunk") | {"choices": [choice]} | extras

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}
