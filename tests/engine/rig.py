"""Loading real models for tests, and talking to a pair as the worker does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.context import Context
from backend.engine.learnt import Learnt
from backend.engine.load import LoadedModel, load_draft, load_target
from backend.engine.pair import Pair
from backend.engine.sequence import Sequence as TokenSequence
from backend.protocol import (
    Comparison,
    Delta,
    Finished,
    LoadOptions,
    Message,
    PromptProgress,
    ReplyRequest,
    RoundRecord,
    Sampling,
    Speculation,
    TokenRecord,
)

GREEDY = Sampling(temperature=0)
OFF = Speculation(enabled=False)
DRAFT_4 = Speculation(source="draft", length=4)
LOOKUP_4 = Speculation(source="lookup", length=4)
COUNT = "Count from one to fifty, in digits."
STORY = "Tell me a story about a fox and a lighthouse."
EDIT = "Repeat this, with y for x: def f(x):\n    return x * x + x\n\ndef g(x):\n    return f(x) - x\n"


def quietly(phase: str, fraction: float) -> None:
    """Progress that nobody watches."""


def options(**more: Any) -> LoadOptions:
    """One thread: ggml's threads wait for each other by spinning, which a busy machine makes many times slower."""
    return LoadOptions(**{"n_ctx": 512, "threads": 1, "gpu_layers": 0, "draft_gpu_layers": 0, "strict": False} | more)


def load(path: Path, **more: Any) -> LoadedModel:
    return load_target(path, path.stem, options(**more), quietly, CancelFlag())


@contextmanager
def loaded(path: Path, **more: Any) -> Iterator[LoadedModel]:
    """A target for the length of a with block."""
    model = load(path, **more)
    try:
        yield model
    finally:
        model.close()


@contextmanager
def pair(target: Path, draft: Path | None = None, learnt: Learnt | None = None, **more: Any) -> Iterator[Pair]:
    """A measured and settled pair for the length of a with block."""
    model = load(target, **more)
    small = load_draft(draft, draft.stem, options(**more), model, quietly, CancelFlag()) if draft else None
    both = Pair(model, small, learnt=learnt)
    try:
        both.measure(quietly, CancelFlag())
        both.settle(quietly, CancelFlag())
        yield both
    finally:
        both.close()


def with_draft(both: Pair, draft: Path, **more: Any) -> LoadedModel:
    return load_draft(draft, draft.stem, options(**more), both.target, quietly, CancelFlag())


@dataclass
class Reply:
    """Everything one reply said."""

    text: str = ""
    tokens: list[TokenRecord] = field(default_factory=list)
    rounds: list[RoundRecord] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    progress: list[PromptProgress] = field(default_factory=list)
    end: Finished = None  # type: ignore[assignment]

    @property
    def ids(self) -> list[int]:
        return [t.id for t in self.tokens]

    @property
    def margins(self) -> list[float]:
        return [t.margin or 0.0 for t in self.tokens]


def request(prompt: str | Sequence[Message], **more: Any) -> ReplyRequest:
    messages = (Message(role="user", content=prompt),) if isinstance(prompt, str) else tuple(prompt)
    fields: dict[str, Any] = {"sampling": GREEDY, "max_tokens": 32} | more
    return ReplyRequest(messages=messages, **fields)


def say(
    both: Pair,
    prompt: str | Sequence[Message],
    *,
    flag: CancelFlag | None = None,
    each: Callable[[Any, Reply], None] | None = None,
    **more: Any,
) -> Reply:
    """One reply; ``each`` is called after every event. What must hold of every reply is checked here."""
    reply = Reply()
    for event in both.reply(request(prompt, **more), flag or CancelFlag()):
        if isinstance(event, Delta):
            reply.text += event.text
            reply.tokens += event.tokens
            reply.rounds += event.rounds
            reply.deltas.append(event)
        elif isinstance(event, PromptProgress):
            reply.progress.append(event)
        else:
            reply.end = event
        if each:
            each(event, reply)
    check(both, reply)
    return reply


def both_ways(
    both: Pair, prompt: str | Sequence[Message], flag: CancelFlag | None = None, **more: Any
) -> tuple[Comparison, list]:
    """Compare, and the events before its result."""
    events = list(both.compare(request(prompt, **more), flag or CancelFlag()))
    assert isinstance(events[-1], Comparison)
    return events[-1], events[:-1]


def check(both: Pair, reply: Reply) -> None:
    """Text, token ids, caches and counters of a finished reply agree."""
    end, timings = reply.end, reply.end.timings
    vocab = both.target.vocab
    assert sum(t.n_bytes for t in reply.tokens) == len(reply.text.encode())
    said = vocab.detokenize(end.ids)
    # a token cut by a stop string shows part of itself and is in no memory; else ids and text are the same bytes
    assert reply.text.encode().startswith(said.decode("utf-8", "replace").encode()[: len(said)]) or b"\xef" in said
    assert timings.predicted_n + timings.discarded == (
        timings.draft_n_accepted + timings.corrections + timings.bonuses + timings.plain
    )
    assert timings.draft_n_accepted <= timings.verified <= timings.proposed
    # usage counts what was shown, an end-of-generation token included
    assert timings.predicted_n - len(end.ids) in (0, 1)
    held = both.target.context.sequence()
    assert kv_end(held) == held.length
    if both.draft is not None:
        small = both.draft.context.sequence()
        assert kv_end(small) == small.length
        n = min(small.length, held.length)
        assert small.tokens[:n] == held.tokens[:n] or timings.draft_n == 0


def kv_end(sequence: TokenSequence) -> int:
    """Tokens that llama.cpp itself says the cache holds."""
    return int(llama_cpp.llama_memory_seq_pos_max(sequence.context.memory, sequence.index)) + 1


def fresh_row(model: LoadedModel, tokens: Sequence[int], index: int = 63) -> np.ndarray:
    """The last row of ``tokens`` read from nothing into a sequence of its own."""
    sequence = model.context.sequence(index)
    sequence.clear()
    try:
        return sequence.read(list(tokens))[-1].copy()
    finally:
        sequence.clear()


def milliseconds(action: Callable[[], Any]) -> float:
    began = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - began)


@contextmanager
def abort_inside(context: Context, flag: CancelFlag, fits: Callable[[int], bool], n: int) -> Iterator[list[float]]:
    """Sets a flag just as llama.cpp starts the n-th pass of a size that fits; yields when that was."""
    real, count = llama_cpp.llama_decode, [0]
    when: list[float] = []

    def decode(pointer: Any, batch: Any) -> int:
        if pointer == context._pointer and fits(batch.n_tokens) and not when:
            count[0] += 1
            if count[0] == n:
                when.append(time.perf_counter())
                flag.set()
        return real(pointer, batch)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llama_cpp, "llama_decode", decode)
        yield when


def continued(prompt: str, reply: Reply, then: str, tokenizer: str) -> list[Message]:
    """The conversation after ``reply``, with the reply's own ids as the worker stores them."""
    return [
        Message(role="user", content=prompt),
        Message(role="assistant", content=reply.text, x_ids=reply.end.ids, x_tokenizer=tokenizer),
        Message(role="user", content=then),
    ]


def first_difference(a: Reply, b: Reply) -> int | None:
    """Index of the first token that differs; None when the shorter one is a prefix of the longer."""
    n = min(len(a.ids), len(b.ids))
    return next((i for i in range(n) if a.ids[i] != b.ids[i]), None)


NEAR_TIE = 0.5
"""Where the choice at a position changes between pass sizes, rounding moved the difference of two logits by the sum of
both leads. On Q4_K_M leads of up to 0.27 were seen to flip on the default build; twice that is the limit here."""


def same_up_to_near_ties(plain: Reply, other: Reply, temperature: float = 1.0) -> None:
    """Equal, or first different where the choice was a near-tie; scores are logits over the temperature."""
    at = first_difference(plain, other)
    if at is None:
        assert abs(len(plain.ids) - len(other.ids)) == 0
    else:
        assert min(plain.margins[at], other.margins[at]) < NEAR_TIE / temperature, (at, plain.text, other.text)
