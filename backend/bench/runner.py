"""Side-by-side runs: every mode answers every prompt, interleaved, from an empty context.

A machine's speed drifts by a third within minutes, so modes are compared only within one run in which they take turns;
who goes first changes with each prompt and repeat. Figures of our own modes are taken in the worker.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from backend.bench.modes import Mode, baseline
from backend.bench.workloads import Prompt
from backend.client import EngineClient
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, ReplyEvent, ReplyRequest, Sampling, Speculation, Timings

T = TypeVar("T")
WARM_UP_TOKENS = 8


@dataclass(slots=True)
class Run:
    """One reply of one mode. ``tokens`` and ``margins`` are empty where a peer does not tell them."""

    mode: str
    prompt: Prompt
    repeat: int
    seed: int
    timings: Timings
    text: str
    tokens: list[int] = field(default_factory=list)
    margins: list[float | None] = field(default_factory=list)
    finish_reason: str = ""
    note: str = ""
    reliability: dict[str, tuple[tuple[int, float, int], ...]] = field(default_factory=dict)
    wall_ms: float = 0.0
    """From sending the request to its end, as the client sees it."""
    peak_memory: int = 0
    """Bytes that the worker held at most, where that was watched."""
    own: bool = True
    """Measured in our own worker, with every counter; a peer counts passes in its own way or not at all."""

    def to_json(self) -> dict[str, Any]:
        """The record of a benchmark's JSON file."""
        t = self.timings
        return {
            "mode": self.mode,
            "prompt_id": self.prompt.id,
            "category": self.prompt.category,
            "predicted_n": t.predicted_n,
            "predicted_ms": t.predicted_ms,
            "prompt_n": t.prompt_n,
            "prompt_ms": t.prompt_ms,
            "draft_prompt_ms": t.draft_prompt_ms,
            "request_ms": t.request_ms,
            "passes": t.passes if self.own else None,
            "draft_n": t.draft_n,
            "draft_n_accepted": t.draft_n_accepted,
            "rounds_mismatch": t.rounds_mismatch,
            "text_sha256": hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest(),
            "tokens": self.tokens,
            "repeat": self.repeat,
            "seed": self.seed,
            "margins": self.margins,
            "text": self.text,
            "finish_reason": self.finish_reason,
            "note": self.note,
            "wall_ms": self.wall_ms,
            "peak_memory": self.peak_memory or None,
            "draft_ms": t.draft_ms,
            "verify_ms": t.verify_ms,
            "host_ms": t.host_ms,
            "decode_ms": t.decode_ms,
            "plain_ms": t.plain_ms,
            "by_source": t.by_source,
            "reliability": self.reliability,
        }


class Contestant(Protocol):
    """Whoever answers the prompts: a mode of our own worker, or another server."""

    @property
    def name(self) -> str:
        """The mode's name in the results."""

    async def answer(self, prompt: Prompt, sampling: Sampling, repeat: int = 0) -> Run:
        """One reply, from an empty context and with what was learnt from earlier prompts of this repeat alone."""


@dataclass(frozen=True, slots=True)
class OwnMode:
    """A mode of our own worker."""

    client: EngineClient
    mode: Mode
    max_tokens: int
    ignore_eos: bool = False
    series: str = ""
    """Tells this benchmark from others of the same engine, so that none uses what another has learnt."""

    @property
    def name(self) -> str:
        """See :class:`Contestant`."""
        return self.mode.name

    async def answer(self, prompt: Prompt, sampling: Sampling, repeat: int = 0) -> Run:
        """See :class:`Contestant`."""
        learner = f"bench {self.series}{repeat} {self.name}"[:100]
        request = reply_request(prompt, sampling, self.max_tokens, self.ignore_eos, self.mode.speculation, learner)
        return await collect(self.client.reply(request, new_job()), self.name, prompt, sampling)


def new_job() -> str:
    """An id for one piece of work, never used again: the worker may take a moment to forget one that has ended."""
    return uuid.uuid4().hex


def reply_request(
    prompt: Prompt,
    sampling: Sampling,
    max_tokens: int,
    ignore_eos: bool,
    speculation: Speculation | None,
    learner: str = "bench",
) -> ReplyRequest:
    """A turn, measured from empty contexts; what it teaches is not for the person's chats."""
    return ReplyRequest(
        messages=prompt.messages,
        sampling=sampling,
        max_tokens=prompt.tokens or max_tokens,
        speculation=speculation,
        reuse_cache=False,
        ignore_eos=ignore_eos,
        learner=learner,
    )


async def collect(events: AsyncIterator[ReplyEvent], mode: str, prompt: Prompt, sampling: Sampling) -> Run:
    """A reply's events as one run.

    Raises:
        EngineError: CANCELLED when it was stopped; whatever ended the reply, with the prompt named.
    """
    began = time.perf_counter()
    text: list[str] = []
    tokens: list[int] = []
    margins: list[float | None] = []
    try:
        async for event in events:
            if isinstance(event, Delta):
                text.append(event.text)
                tokens += [token.id for token in event.tokens]
                margins += [token.margin for token in event.tokens]
            elif isinstance(event, Finished):
                if event.reason == "cancelled":
                    raise EngineError(ErrorCode.CANCELLED, "Stopped.")
                return Run(
                    mode=mode,
                    prompt=prompt,
                    repeat=0,
                    seed=sampling.seed or 0,
                    timings=event.timings,
                    text="".join(text),
                    tokens=tokens,
                    margins=margins,
                    finish_reason=event.reason,
                    note=event.note,
                    reliability=event.reliability,
                    wall_ms=1e3 * (time.perf_counter() - began),
                )
    except EngineError as error:
        if error.code is ErrorCode.CANCELLED:
            raise
        raise EngineError(error.code, f"{mode}, prompt {prompt.id}: {error.message}", error.details) from error
    raise EngineError(ErrorCode.WORKER_GONE, f"{mode}, prompt {prompt.id}: the reply ended too early.")


def order(contestants: Sequence[T], turn: int) -> list[T]:
    """Who goes when in this turn: everybody comes first and last equally often, in both directions."""
    start = (turn // 2) % max(1, len(contestants))
    turned = [*contestants[start:], *contestants[:start]]
    return turned[::-1] if turn % 2 else turned


def schedule(
    prompts: Sequence[Prompt], contestants: Sequence[T], repeats: int
) -> Iterator[tuple[int, int, Prompt, list[T]]]:
    """(repeat, index of the prompt, prompt, contestants in their order), in the order of measuring."""
    for repeat in range(repeats):
        for index, prompt in enumerate(prompts):
            yield repeat, index, prompt, order(contestants, index + repeat)


async def measure(
    prompts: Sequence[Prompt], contestants: Sequence[Contestant], repeats: int, sampling: Sampling
) -> AsyncIterator[Run]:
    """All runs, one after another. Within a repeat every contestant answers a prompt under the same seed.

    Where a prompt has later turns, the first plain contestant's replies stand before them for everybody, so that all
    answer the same; without one only first turns are asked.
    """
    base = sampling.seed or 0
    for repeat, index, first, turned in schedule(prompts, contestants, repeats):
        seeded = sampling.model_copy(update={"seed": base + repeat * len(prompts) + index})
        plain = baseline(contestant.name for contestant in contestants)
        prompt: Prompt | None = first
        while prompt is not None:
            following = None
            for contestant in turned:
                run = await contestant.answer(prompt, seeded, repeat)
                run.repeat = repeat
                if run.mode == plain and prompt.later:
                    following = prompt.next_turn(run.text)
                yield run
            prompt = following


async def warm_up(client: EngineClient, prompt: Prompt, sampling: Sampling, speculation: Speculation) -> None:
    """A short reply that is not counted: it brings both models' weights into memory."""
    request = reply_request(prompt, sampling, WARM_UP_TOKENS, True, speculation)
    await collect(client.reply(request, new_job()), "warming up", prompt, sampling)
