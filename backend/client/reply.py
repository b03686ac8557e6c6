"""A reply on the wire: the body that asks for it, and a tolerant reader of the chunks that come back.

Foreign servers leave fields out, add their own, send usage in a chunk without choices, an error as a chunk, reasoning
under two names, or no ``[DONE]``; all of that reads as a reply. What they do not measure is measured here.
"""

from __future__ import annotations

import json
import time
from dataclasses import fields
from typing import Any, get_args

from backend.client.http import gone
from backend.errors import EngineError
from backend.protocol import (
    Comparison,
    Delta,
    Finished,
    FinishReason,
    PromptProgress,
    ReplyEvent,
    ReplyRequest,
    Sampling,
    Side,
    Timings,
    TokenRecord,
)
from backend.wire import dump, read

_MOST = 1e9
"""Of any figure: that many milliseconds are eleven days."""
_NEUTRAL = {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0}


def reply_body(request: ReplyRequest, job: str, model: str | None) -> dict[str, Any]:
    """The chat-completions body.

    Args:
        request: what to ask.
        job: its id.
        model: a foreign server's model; it then gets standard fields only, beside those that are not neutral. None =
            Tandem's own worker, which gets everything.
    """
    native = model is None
    fields = {"role", "content", "reasoning_content"} | ({"x_ids", "x_tokenizer"} if native else set())
    body: dict[str, Any] = {
        "messages": [m.model_dump(mode="json", include=fields, exclude_none=True) for m in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    body |= _sampling(request.sampling, native)
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    if request.template_kwargs:
        body["chat_template_kwargs"] = request.template_kwargs
    if request.continue_final_message:
        body |= {"continue_final_message": True, "add_generation_prompt": False}  # as vLLM wants them
    if model is not None:
        return body | {"model": model}
    if request.speculation is not None:
        body["x_speculation"] = dump(request.speculation)
    return body | {
        "x_job": job,
        "x_cache": request.reuse_cache,
        "x_probabilities": request.probabilities,
        "x_ignore_eos": request.ignore_eos,
        "x_learner": request.learner,
    }


def _sampling(sampling: Sampling, native: bool) -> dict[str, Any]:
    fields = sampling.model_dump(exclude_none=True)
    if native:
        return fields
    fields.pop("repeat_last_n")
    return {name: value for name, value in fields.items() if value != _NEUTRAL.get(name, object())}


class ReplyReader:
    """Turns the data of a chat-completions stream into events."""

    def __init__(self) -> None:
        self.ended = False
        """Finished was given, or ``[DONE]`` was read."""
        self._timings = Timings()
        self._own_timings = True
        self._began = time.perf_counter()
        self._first: float | None = None
        self._reason: FinishReason | None = None
        self._reasoning = False

    def feed(self, data: str) -> list[ReplyEvent]:
        """Events of one message.

        Raises:
            EngineError: the server sent an error in the stream.
        """
        if data.strip() == "[DONE]":
            return [] if self.ended else [self.end()]
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            return []
        if not isinstance(chunk, dict) or self.ended:
            return []
        if chunk.get("error"):
            raise EngineError.from_wire(chunk)
        self._count(chunk)
        return self._events(chunk)

    def end(self, *, cancelled: bool = False) -> Finished:
        """The end of a stream that did not say how the reply ended.

        Raises:
            EngineError: ``worker_gone`` when it broke off.
        """
        if cancelled:
            self._reason = "cancelled"
        if self._reason is None:
            raise gone()
        self.ended = True
        return Finished(self._reason, self._timings, seed=0, start=0, ids=(), tokenizer="")

    def _events(self, chunk: dict[str, Any]) -> list[ReplyEvent]:
        events: list[ReplyEvent] = []
        if (progress := read(PromptProgress, chunk.get("x_prompt"))) is not None:
            events.append(progress)
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        text = self._text(choice)
        if text or "x_tokens" in chunk:
            self._time()
            tokens = read(tuple[TokenRecord, ...], chunk.get("x_tokens") or choice.get("x_tokens")) or ()
            events.append(Delta(text, tokens, self._timings))
        self._reason = _reason(choice) or self._reason
        finished = chunk.get("x_finished") or choice.get("x_finished")
        if isinstance(finished, dict) and (end := read(Finished, finished | {"timings": self._timings})) is not None:
            self.ended = True
            events.append(end)
        return events

    def _text(self, choice: dict[str, Any]) -> str:
        """New text; reasoning that a server sends apart is put between the tags that the models themselves use."""
        part = choice.get("delta") or choice.get("message") or {}
        if not isinstance(part, dict):
            return ""
        reasoning = part.get("reasoning_content") or part.get("reasoning")
        content = part.get("content")
        text = ""
        if isinstance(reasoning, str) and reasoning:
            text = reasoning if self._reasoning else f"<think>\n{reasoning}"
            self._reasoning = True
        if isinstance(content, str) and content:
            text += f"\n</think>\n\n{content}" if self._reasoning else content
            self._reasoning = False
        return text

    def _count(self, chunk: dict[str, Any]) -> None:
        if (timings := read(Timings, chunk.get("timings"))) is not None and _can_be(timings):
            self._timings, self._own_timings = timings, False
        usage = chunk.get("usage")
        if self._own_timings and isinstance(usage, dict):
            self._timings.prompt_n = _whole(usage.get("prompt_tokens"))
            self._timings.predicted_n = _whole(usage.get("completion_tokens"))

    def _time(self) -> None:
        """Without the server's own figures: the clock on this side, from the first text on."""
        if not self._own_timings:
            return
        now = time.perf_counter()
        if self._first is None:
            self._first = now
            self._timings.prompt_ms = 1e3 * (now - self._began)
        self._timings.predicted_ms = 1e3 * (now - self._first)
        self._timings.request_ms = 1e3 * (now - self._began)


def compare_event(name: str, raw: dict[str, Any]) -> tuple[Side, ReplyEvent] | Comparison | None:
    """One message of ``/x/compare``; None for one that is not known."""
    if name == "result":
        return read(Comparison, raw)
    side: Side = raw.get("side")  # type: ignore[assignment]
    if side not in get_args(Side):
        return None
    timings = read(Timings, raw.get("timings")) or Timings()
    event: ReplyEvent | None = None
    if name == "delta":
        event = Delta(str(raw.get("text", "")), (), timings)
    elif name == "progress":
        event = read(PromptProgress, raw)
    elif name == "finished":
        event = read(Finished, raw | {"timings": timings})
    return (side, event) if event is not None else None


def _reason(choice: dict[str, Any]) -> FinishReason | None:
    raw = choice.get("finish_reason")
    if not isinstance(raw, str):
        return None
    return "length" if raw == "length" else "stop"


def _can_be(timings: Timings) -> bool:
    """Of another server anything may come: what cannot have been measured was not."""
    values = [getattr(timings, field.name) for field in fields(timings)]
    return all(0 <= value < _MOST for value in values if isinstance(value, (int, float)))


def _whole(value: object) -> int:
    return value if type(value) is int and 0 <= value < 2**31 else 0
