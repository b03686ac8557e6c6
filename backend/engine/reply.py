"""One reply of a pair, from the request to its end; comparing shares the parts.

The prompt is read slice by slice, only what the memory does not hold of it; then round after round, each with the
settings and the draft of that moment.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from backend.engine.generation import Generation
from backend.engine.learner import Learner
from backend.engine.prompt import opens_thinking
from backend.engine.sequence import Rows
from backend.engine.sequence import Sequence as TokenSequence
from backend.engine.text_stream import TextStream
from backend.errors import EngineError, ErrorCode
from backend.protocol import Finished, PromptProgress, ReplyEvent, ReplyRequest, Speculation, Timings
from backend.sampling.chain import Chain
from backend.speculation.contracts import Source
from backend.speculation.policy import Policy
from backend.speculation.round import Passenger, Rounds
from backend.speculation.sources.draft_model import DraftModel, common_prefix
from backend.speculation.sources.lookahead import CHEAP
from backend.speculation.verify import Rule, make_rule

if TYPE_CHECKING:
    from backend.engine.pair import Pair

Ride = Callable[[int], Passenger | None]
"""Asked for a first proposal of at most so many tokens (see ``Rounds.passenger``)."""
_TELLING = 32
"""Tokens of a prompt from which on its time tells how long others take."""


def reply(pair: Pair, request: ReplyRequest, began: float) -> Iterator[ReplyEvent]:
    """One reply, as events; a cancel ends it with a ``Finished`` like any other end.

    Args:
        pair: ready for the request.
        request: what is asked.
        began: when it came (``time.perf_counter``).

    Raises:
        EngineError: CONTEXT_FULL when the prompt does not fit, or whatever ended the reply.
    """
    timings = Timings()
    prompt, prefix = prompt_of(pair, request)
    budget = budget_for(pair, prompt, request)
    if not request.reuse_cache:
        pair.forget()
    pair.forget_why()
    generation = prepare(pair, request, pair.target.context.sequence(), prompt, budget, timings)
    ride = generation.rounds.passenger if _may_ride(pair) else None
    try:
        rows, passenger = yield from read_prompt(pair, prompt, timings, ride)
    except EngineError as error:
        pair.target.context.check_stream()  # a disk that fails stops the draft too, as a person would
        if error.code is not ErrorCode.CANCELLED:
            raise
        yield Finished("cancelled", timings, 0, len(prompt), (), pair.target.vocab.digest, prefix=prefix)
        return
    timings.request_ms = 1e3 * (time.perf_counter() - began)
    yield generation.first(rows[-1]) if passenger is None else generation.arrive(rows, passenger)
    while generation.reason is None:
        _follow_settings(pair, generation, request)
        try:
            yield generation.step()
        except EngineError as error:
            pair.target.context.check_stream()
            if error.code is not ErrorCode.CANCELLED:
                raise
            yield generation.stop()
    if generation.reason != "cancelled":
        pair.learner(request.learner).ended(generation.timings.predicted_n, generation.reason == "length")
    yield replace(generation.finished(pair.note(generation)), prefix=prefix)


def prompt_of(pair: Pair, request: ReplyRequest) -> tuple[list[int], tuple[int, ...]]:
    """What the target reads before it writes, and which tokens at its end are of the text that it goes on from."""
    template, messages = pair.target.template, request.messages
    if not request.continue_final_message:
        return template.prompt_tokens(messages, request.template_kwargs), ()
    prefix = template.text_tokens(messages[-1])
    return [*template.prompt_tokens(messages[:-1], request.template_kwargs), *prefix], tuple(prefix)


def _may_ride(pair: Pair) -> bool:
    """Whether tokens that ride in the prompt's last pass can be taken back, and its logits may round differently."""
    return pair.target.context.max_rollback is None and pair.target.context.exact_rows is None


def budget_for(pair: Pair, prompt: Sequence[int], request: ReplyRequest) -> int:
    """Tokens that may be emitted.

    Raises:
        EngineError: CONTEXT_FULL, saying by how much the prompt is too long.
    """
    n_ctx = pair.target.context.n_ctx
    room = n_ctx - len(prompt)
    if room < 1:
        raise EngineError(
            ErrorCode.CONTEXT_FULL,
            f"The conversation is {len(prompt):,} tokens long, {1 - room:,} more than fit into the context of "
            f"{n_ctx:,}. Shorten the message, start a new chat, or load the model with a longer context.",
            {"tokens": len(prompt), "n_ctx": n_ctx, "over": 1 - room},
        )
    return min(room, request.max_tokens or room)


def read_prompt(
    pair: Pair, prompt: list[int], timings: Timings, ride: Ride | None = None
) -> Generator[PromptProgress, None, tuple[Rows, Passenger | None]]:
    """Read what the target does not hold of ``prompt``, slice by slice.

    Returns the row of its last token; with a passenger in the last slice also the rows of the passenger's tokens.
    """
    began = time.perf_counter()
    thinking = opens_thinking(pair.target.vocab, prompt)
    context, sequence = pair.target.context, pair.target.context.sequence()
    kept = sequence.keep(min(common_prefix(sequence.tokens, prompt), len(prompt) - 1))
    timings.cache_n, timings.prompt_n = kept, len(prompt) - kept
    rows: Rows | None = None
    passenger: Passenger | None = None
    size = context.n_batch
    for i in range(kept, len(prompt), size):
        part = prompt[i : i + size]
        last = i + size >= len(prompt)
        if last and ride is not None:
            passenger = ride(min(context.max_rows - 1, size - len(part), sequence.room - len(part)))
            began += passenger.ms / 1e3 if passenger else 0.0
        along = passenger.proposal.tokens if passenger else []
        rows = sequence.append([*part, *along], 1 + len(along) if last else 0)
        timings.prompt_ms += 1e3 * (time.perf_counter() - began)
        yield PromptProgress(i + len(part), len(prompt), kept, thinking)
        began = time.perf_counter()
    assert rows is not None
    if timings.prompt_n >= _TELLING:
        pair.prompt = {timings.prompt_n: timings.prompt_ms}
    if passenger is None:
        sequence.mark()
    return rows, passenger


def prepare(
    pair: Pair,
    request: ReplyRequest,
    sequence: TokenSequence,
    prompt: Sequence[int],
    budget: int,
    timings: Timings,
    speculation: Speculation | None = None,
    seed: int | None = None,
) -> Generation:
    """A reply ready to start on ``sequence``, which holds the prompt."""
    if seed is None:
        seed = secrets.randbits(53) if request.sampling.seed is None else request.sampling.seed
    fixed = speculation or request.speculation
    settings = fixed or pair.speculation
    rule = make_rule(Chain(request.sampling), _rule_name(pair, settings), seed, len(prompt))
    learner = pair.learner(request.learner)
    start = len(prompt)
    history = list(prompt)
    policy = Policy(
        lambda: fixed or pair.speculation,
        pair.costs,
        lambda: min(max(0, start + budget - len(history)), learner.rest(len(history) - start)),
        start,
    )
    if pair.target.context.max_rollback == 0 or pair.target.context.exact_rows == 1:
        policy.blocked = pair.target.info.truncate_note
    ends = frozenset() if request.ignore_eos else pair.target.vocab.eog
    sources = sources_of(pair, rule, learner) if settings.enabled else []
    return Generation(
        Rounds(sequence, sources, rule, policy, pair.costs, history, ends, budget),
        pair.target.vocab,
        TextStream(request.stop),
        timings,
        max_tokens=budget,
        seed=seed,
        probabilities=request.probabilities,
        ignore_eos=request.ignore_eos,
        plain_ms=pair.plain_ms,
        decode_seconds=pair.decode_seconds,
        on_round=pair.tell,
    )


def sources_of(pair: Pair, rule: Rule, learner: Learner) -> list[Source]:
    """Lookup, and the draft; without one what the target has said, where checking costs next to nothing."""
    pair.lookup.counts, pair.lookahead.counts = learner.copies, learner.said
    sources: list[Source] = [pair.lookup]
    if pair.draft is not None:
        sequence = pair.draft.context.sequence()
        pair.draft.context.abort_on(pair.target.context.flag)
        n_vocab, ends = pair.target.context.n_vocab, pair.target.vocab.eog
        sources.append(DraftModel(sequence, rule, n_vocab, ends, learner.margins(rule), pair.draft_costs))
    elif pair.costs.known and pair.costs.at(2) < CHEAP * pair.costs.at(1):
        sources.append(pair.lookahead)  # beside a draft model it only gets in the way
    return sources


def _rule_name(pair: Pair, settings: Speculation) -> str:
    """In strict mode texts are plain decoding's: the rejection rule keeps their law, not them."""
    return "coupled" if pair.target.context.exact_rows is not None else settings.rule


def _follow_settings(pair: Pair, generation: Generation, request: ReplyRequest) -> None:
    """Between rounds: another draft, speculation switched on, another rule (each token is exact under either)."""
    rounds, settings = generation.rounds, request.speculation or pair.speculation
    switched_on = settings.enabled and not rounds.sources
    wanted = _rule_name(pair, settings)
    another = rounds.rule.name not in ("greedy", wanted)
    if another:
        rounds.rule = make_rule(Chain(request.sampling), wanted, generation.seed, len(rounds.history))
    if pair.take_offers() or switched_on or another:
        rounds.sources[:] = sources_of(pair, rounds.rule, pair.learner(request.learner))
        for source in rounds.sources:
            source.begin(rounds.history)
