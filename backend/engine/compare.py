"""Compare: the same request with and without speculation, now, from one shared prompt under one seed.

Where the model can hold two sequences the two replies advance in turn, whichever has used less time going next, so
that a machine whose speed drifts slows both alike. Both start from copies of the same row.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from backend.engine.context import Context
from backend.engine.differing import explanation
from backend.engine.generation import Generation, copy_timings
from backend.engine.reply import budget_for, prepare, prompt_of, read_prompt
from backend.engine.sequence import Sequence
from backend.protocol import (
    Comparison,
    Delta,
    Difference,
    ReplyEvent,
    ReplyRequest,
    Side,
    Timings,
)
from backend.sampling.chain import Row
from backend.speculation.sources.draft_model import common_prefix

if TYPE_CHECKING:
    from backend.engine.pair import Pair

T = TypeVar("T")

_DEFAULT_TOKENS = 512
_OTHER = 1
"""Sequence id of the plain side while both are held."""


class _Transcript:
    """What one side said, with the margins needed to explain a difference."""

    def __init__(self) -> None:
        self.text = ""
        self.ids: list[int] = []
        self.margins: list[float | None] = []

    def add(self, delta: Delta) -> None:
        self.text += delta.text
        self.ids += [t.id for t in delta.tokens]
        self.margins += [t.margin for t in delta.tokens]


def compare(pair: Pair, request: ReplyRequest) -> Iterator[tuple[Side, ReplyEvent] | Comparison]:
    """Both ways; yields each side's events and at the end the comparison.

    Raises:
        EngineError: CANCELLED, or what a reply raises.
    """
    prompt, _ = prompt_of(pair, request)
    budget = min(budget_for(pair, prompt, request), request.max_tokens or _DEFAULT_TOKENS)
    wanted = (request.speculation or pair.speculation).model_copy(update={"enabled": True})
    shared = Timings()
    if not request.reuse_cache:
        pair.forget()
    rows, _ = yield from _tagged(read_prompt(pair, prompt, shared))
    row = rows[-1].copy()
    shared.request_ms = shared.prompt_ms

    context = pair.target.context
    main, interleaved = context.sequence(), _may_take_turns(context, len(prompt) + 2 * budget + 1)
    said: dict[Side, _Transcript] = {"plain": _Transcript(), "speculation": _Transcript()}
    seed = request.sampling.seed
    runs: dict[Side, Generation] = {}

    def start(side: Side) -> Generation:
        nonlocal seed
        sequence = main.fork(_OTHER) if interleaved and side == "plain" else main
        settings = wanted.model_copy(update={"enabled": side == "speculation"})
        runs[side] = prepare(pair, request, sequence, prompt, budget, copy_timings(shared), settings, seed)
        seed = runs[side].seed
        if side == "plain":  # its sources would cut the draft's memory back to where the plain side is
            runs[side].rounds.sources.clear()
            runs[side].on_round = lambda _: None  # what speculation does is the other side's to tell
        return runs[side]

    try:
        if interleaved:
            plain = start("plain")
            yield from _alternate({"plain": plain, "speculation": start("speculation")}, row, said)
        else:
            for side in ("plain", "speculation"):
                if (held := main.keep(len(prompt))) < len(prompt):  # a memory that does not roll back
                    main.read(prompt[held:])
                yield from _alternate({side: start(side)}, row, said)
        read = context.sequence(_OTHER) if interleaved else main  # the former: what plain decoding itself has read
        difference = _difference(pair, read, request, prompt, runs["plain"].seed, said["plain"], said["speculation"])
    finally:
        if interleaved:
            context.sequence(_OTHER).clear()
    for side, run in runs.items():
        yield side, run.finished()
    yield _result(runs, said, difference, interleaved)


def _may_take_turns(context: Context, cells: int) -> bool:
    """Whether both sides can be held at once; not in strict mode: another place in the cache sums in another order."""
    return context.n_seq > _OTHER and context.exact_rows is None and cells <= context.n_ctx


def _tagged(reading: Generator[ReplyEvent, None, T]) -> Generator[tuple[Side, ReplyEvent], None, T]:
    while True:
        try:
            yield "plain", next(reading)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def _alternate(
    runs: dict[Side, Generation], row: np.ndarray, said: dict[Side, _Transcript]
) -> Iterator[tuple[Side, ReplyEvent]]:
    for side, run in runs.items():
        delta = run.first(row)
        run.pause()
        said[side].add(delta)
        yield side, delta
    while running := {s: r for s, r in runs.items() if r.reason is None}:
        side = min(running, key=lambda s: running[s].timings.predicted_ms + running[s].timings.draft_prompt_ms)
        delta = running[side].step()
        running[side].pause()
        said[side].add(delta)
        yield side, delta


def _result(
    runs: dict[Side, Generation], said: dict[Side, _Transcript], difference: Difference | None, interleaved: bool
) -> Comparison:
    plain, other = runs["plain"].timings, runs["speculation"].timings
    return Comparison(
        plain=copy_timings(plain),
        speculation=copy_timings(other),
        generation_ratio=_per_token(plain, _generation(plain)) / _per_token(other, _generation(other)),
        request_ratio=_per_token(plain, plain.request_ms) / _per_token(other, other.request_ms),
        identical=difference is None,
        difference=difference,
        plain_text=said["plain"].text,
        speculation_text=said["speculation"].text,
        seed=runs["plain"].seed,
        interleaved=interleaved,
    )


def _generation(timings: Timings) -> float:
    # the person waits for the draft's reading of the prompt between two tokens like for anything else
    return timings.predicted_ms + timings.draft_prompt_ms


def _per_token(timings: Timings, ms: float) -> float:
    # texts may end at different lengths after a near-tie, so times are compared per token
    return max(ms, 1e-6) / max(1, timings.predicted_n - 1)


def _difference(
    pair: Pair,
    sequence: Sequence,
    request: ReplyRequest,
    prompt: list[int],
    seed: int,
    plain: _Transcript,
    other: _Transcript,
) -> Difference | None:
    """The first token at which two transcripts differ, with both leads, and what they mean."""
    n = min(len(plain.ids), len(other.ids))
    at = next((i for i in range(n) if plain.ids[i] != other.ids[i]), n)
    if at == n and len(plain.ids) == len(other.ids):
        return None
    vocab = pair.target.vocab

    def side(t: _Transcript) -> tuple[int, str, float]:
        if at >= len(t.ids):
            return -1, "", 0.0
        return t.ids[at], vocab.piece(t.ids[at]).decode("utf-8", "replace"), t.margins[at] or 0.0

    (a, text_a, margin_a), (b, text_b, margin_b) = side(plain), side(other)
    if at == n:
        why = "One text ended where the other went on."
    elif plain.margins[at] is None or other.margins[at] is None:
        why = "The rejection rule draws anew with speculation on: texts differ by chance, their law does not."
    else:
        history = [*prompt, *plain.ids[:at]]
        row = _row_after(sequence, history)
        why = explanation(row, history, request.sampling, seed, a, b, (margin_a, margin_b))
    return Difference(at, a, text_a, b, text_b, margin_a, margin_b, why)


def _row_after(sequence: Sequence, history: list[int]) -> Row:
    """The scores after ``history``, by a pass of one token where the memory goes back so far."""
    held = sequence.keep(min(common_prefix(sequence.tokens, history), len(history) - 1))
    if len(history) - held > 1:
        sequence.read(history[held:-1])
    row: Row = sequence.decode(history[-1:])[0]
    return row
