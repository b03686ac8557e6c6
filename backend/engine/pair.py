"""A loaded target with, perhaps, a draft: replies, comparisons, and what the worker reports about them.

Everything here runs on the engine thread but for the few members that say otherwise.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from typing import Any

from backend.engine import compare
from backend.engine.cancel import CancelFlag
from backend.engine.context import Rows
from backend.engine.context import Sequence as TokenSequence
from backend.engine.devices import memory_used
from backend.engine.generation import Generation
from backend.engine.load import LoadedModel, Progress
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    CostTable,
    Message,
    PromptProgress,
    ReplyEvent,
    ReplyRequest,
    Side,
    Speculation,
    Timings,
)
from backend.sampling.chain import Chain
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.contracts import Source
from backend.speculation.cost import PassCosts
from backend.speculation.policy import LAST_TOKEN, Policy
from backend.speculation.round import Rounds
from backend.speculation.sources.draft_model import DraftModel, common_prefix
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import Rule, make_rule
from backend.text import TextStream

_TYPICAL_REPLY = 256
_MEASURE_SIZES = (1, 2, 4, 8)
_MEASURE_SECONDS = 1.5


class Pair:
    """The engine's whole state: one target, at most one draft, and what was learnt about both."""

    def __init__(
        self, target: LoadedModel, draft: LoadedModel | None = None, speculation: Speculation | None = None
    ) -> None:
        self.target = target
        self.draft = draft
        self.speculation = speculation or Speculation()
        """Assignable from any thread; read at the start of each round."""
        self.costs = PassCosts()
        self.draft_costs = PassCosts()
        self._lookup = Lookup(BucketCounts(), target.vocab.eog)
        self._calibration = MarginLogistic()
        self._mean_reply = float(_TYPICAL_REPLY)
        self._measured_at = 0
        """Context length at which a plain pass was last measured afresh."""
        self._why = ""
        self._note = ""
        self._offers: list[LoadedModel | None] = []
        self._lock = threading.Lock()

    # -- any thread

    def offer_draft(self, draft: LoadedModel | None) -> None:
        """Hand over a loaded draft (None: unload). Taken over between rounds, or by the next request."""
        with self._lock:
            self._offers.append(draft)

    def withdraw_offers(self) -> bool:
        """Take back and free what was offered and is not taken over yet. False when there is nothing left to take."""
        with self._lock:
            offers, self._offers = self._offers, []
        for offer in offers:
            if offer is not None:
                offer.close()
        return bool(offers)

    def state_fields(self) -> dict[str, Any]:
        """What ``protocol.State`` says about the pair."""
        draft = self.draft  # the engine thread may swap it at any moment
        return {
            "target": self.target.info,
            "draft": draft.info if draft else None,
            "draft_note": self._note,
            "why": self._why,
            "cost": _cost_table(self.costs, self.draft_costs),
            "context_used": self.target.context.sequence().length,
            "memory": memory_used(),
            "threads": self.target.context.threads,
            "speculation": self.speculation,
        }

    # -- engine thread

    def take_offers(self) -> bool:
        """Swap in the draft offered last; the old one is freed here. True when the draft changed."""
        with self._lock:
            offers, self._offers = self._offers, []
        for offer in offers:
            if self.draft is not None:
                self.draft.close()
            self.draft, self._note = offer, ""
            self.draft_costs, self._calibration = PassCosts(), MarginLogistic()
        return bool(offers)

    def measure(self, progress: Progress, flag: CancelFlag) -> None:
        """Time passes of 1, 2, 4 and 8 tokens, and the draft's step, within a second and a half."""
        self.take_offers()
        if not self.costs.known:
            self._measure(self.target, self.costs, _MEASURE_SIZES, progress, flag)
        if self.draft is not None and not self.draft_costs.known:  # else a reply has used it and its memory is of use
            self._measure(self.draft, self.draft_costs, (1, 2), progress, flag)
            self._measure_reading(self.draft, flag)

    def count(self, messages: Sequence[Message], template_kwargs: dict[str, Any]) -> int:
        """Tokens of the rendered prompt."""
        return len(self.target.template.prompt_tokens(messages, template_kwargs))

    def reply(self, request: ReplyRequest, flag: CancelFlag) -> Iterator[ReplyEvent]:
        """One reply, as events; a cancel ends it with a ``Finished`` like any other end.

        Raises:
            EngineError: CONTEXT_FULL when the prompt does not fit, or whatever ended the reply.
        """
        began = time.perf_counter()
        self._prepare(flag)
        timings = Timings()
        prompt = self.target.template.prompt_tokens(request.messages, request.template_kwargs)
        budget = self.budget(prompt, request)
        if not request.reuse_cache:
            self.forget()
        try:
            row = yield from self.read_prompt(prompt, timings)
        except EngineError as error:
            if error.code is not ErrorCode.CANCELLED:
                raise
            yield compare.nothing_said(timings, len(prompt), self.target.vocab.digest)
            return
        timings.request_ms = 1e3 * (time.perf_counter() - began)
        self._why = ""
        generation = self.generation(request, self.target.context.sequence(), prompt, budget, timings)
        yield generation.first(row[-1])
        while generation.reason is None:
            self._follow_settings(generation, request)
            try:
                yield generation.step()
            except EngineError as error:
                if error.code is not ErrorCode.CANCELLED:
                    raise
                yield generation.stop()
        self._learn(generation)
        yield generation.finished(self.note(generation))

    def compare(self, request: ReplyRequest, flag: CancelFlag) -> Iterator[tuple[Side, ReplyEvent] | Comparison]:
        """The same request both ways, from one shared prompt under one seed (see ``engine.compare``)."""
        self._prepare(flag)
        yield from compare.compare(self, request)

    def close(self) -> None:
        """Free both models."""
        self.take_offers()
        if self.draft is not None:
            self.draft.close()
        self.target.close()

    # -- the parts of a reply, shared with compare

    def budget(self, prompt: Sequence[int], request: ReplyRequest) -> int:
        """Tokens that may be emitted.

        Raises:
            EngineError: CONTEXT_FULL, saying by how much the prompt is too long.
        """
        n_ctx = self.target.context.n_ctx
        room = n_ctx - len(prompt)
        if room < 1:
            raise EngineError(
                ErrorCode.CONTEXT_FULL,
                f"The conversation is {len(prompt):,} tokens long, {1 - room:,} more than fit into the context of "
                f"{n_ctx:,}. Shorten the message, start a new chat, or load the model with a longer context.",
                {"tokens": len(prompt), "n_ctx": n_ctx, "over": 1 - room},
            )
        return min(room, request.max_tokens or room)

    def forget(self) -> None:
        """Clear both contexts."""
        self.target.context.sequence().clear()
        if self.draft is not None:
            self.draft.context.sequence().clear()

    def read_prompt(self, prompt: list[int], timings: Timings) -> Generator[PromptProgress, None, Rows]:
        """Read what the target does not hold of ``prompt``, slice by slice; returns the row of its last token."""
        began = time.perf_counter()
        sequence = self.target.context.sequence()
        kept = sequence.keep(min(common_prefix(sequence.tokens, prompt), len(prompt) - 1))
        timings.cache_n, timings.prompt_n = kept, len(prompt) - kept
        row: Rows | None = None
        size = self.target.context.n_batch
        for i in range(kept, len(prompt), size):
            part = prompt[i : i + size]
            row = sequence.append(part, 1 if i + size >= len(prompt) else 0)
            timings.prompt_ms += 1e3 * (time.perf_counter() - began)
            yield PromptProgress(i + len(part), len(prompt), kept)
            began = time.perf_counter()
        assert row is not None
        return row

    def generation(
        self,
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
        settings = fixed or self.speculation
        rule = make_rule(Chain(request.sampling), settings.rule, seed, len(prompt))
        start = len(prompt)
        history = list(prompt)
        policy = Policy(
            lambda: fixed or self.speculation,
            self.costs,
            lambda: self._rest(start + budget - len(history), len(history) - start),
        )
        if abs(start - self._measured_at) > 0.25 * max(self._measured_at, 512):
            self._measured_at = start
            self.costs.settle()
            policy.unmeasured = 2
        if self.target.context.max_rollback == 0:
            policy.blocked = self.target.info.truncate_note
        ends = frozenset() if request.ignore_eos else self.target.vocab.eog
        sources = self._sources(rule) if settings.enabled else []
        rounds = Rounds(sequence, sources, rule, policy, self.costs, history, ends, budget)
        return Generation(
            rounds,
            self.target.vocab,
            TextStream(request.stop),
            timings,
            max_tokens=budget,
            seed=seed,
            probabilities=request.probabilities,
            ignore_eos=request.ignore_eos,
            plain_ms=self._plain_ms,
            decode_seconds=self._decode_seconds,
            on_round=self._tell,
        )

    def renew_sources(self, generation: Generation) -> None:
        """After a swap: a running reply goes on with the new draft from the next round."""
        rounds = generation.rounds
        rounds.sources[:] = self._sources(rounds.rule)
        for source in rounds.sources:
            source.begin(rounds.history)

    def _follow_settings(self, generation: Generation, request: ReplyRequest) -> None:
        """Between rounds: another draft, speculation switched on, another rule (each token is exact under either)."""
        rounds, settings = generation.rounds, request.speculation or self.speculation
        switched_on = settings.enabled and not rounds.sources
        another = rounds.rule.name not in ("greedy", settings.rule)
        if another:
            chain = Chain(request.sampling)
            rounds.rule = make_rule(chain, settings.rule, generation.seed, len(rounds.history))
        if self.take_offers() or switched_on or another:
            self.renew_sources(generation)

    def note(self, generation: Generation) -> str:
        """Why speculation did nothing, where it was wanted and did nothing, or why the draft sat out."""
        wanted = generation.rounds.policy.enabled
        failed = next((s.failed for s in generation.rounds.sources if isinstance(s, DraftModel) and s.failed), "")
        self._note = f"The draft sat out the last reply: {failed}" if failed else ""
        return self._note or (self._why if wanted and generation.timings.draft_n == 0 else "")

    # -- inside

    def _prepare(self, flag: CancelFlag) -> None:
        self.take_offers()
        self.target.context.abort_on(flag)
        if self.draft is not None:
            self.draft.context.abort_on(flag)

    def _sources(self, rule: Rule) -> list[Source]:
        ends = self.target.vocab.eog
        sources: list[Source] = [self._lookup]
        if self.draft is not None:
            sequence = self.draft.context.sequence()
            self.draft.context.abort_on(self.target.context.flag)
            sources.append(
                DraftModel(sequence, rule, self.target.context.n_vocab, ends, self._calibration, self.draft_costs)
            )
        return sources

    def _rest(self, allowed: int, emitted: int) -> int:
        return max(0, min(allowed, max(32, round(self._mean_reply) - emitted)))

    def _decode_seconds(self) -> float:
        models = (self.target, self.draft)
        return sum(model.context.decode_seconds for model in models if model is not None)

    def _plain_ms(self) -> float | None:
        return self.costs.at(1) if self.costs.known else None

    def _learn(self, generation: Generation) -> None:
        if generation.reason == "stop":
            self._mean_reply += 0.2 * (generation.timings.predicted_n - self._mean_reply)

    def _tell(self, why: str) -> None:
        if why != LAST_TOKEN:
            self._why = why

    def _measure(
        self, model: LoadedModel, costs: PassCosts, sizes: Sequence[int], progress: Progress, flag: CancelFlag
    ) -> None:
        sequence = model.context.sequence()
        rollback = model.context.max_rollback
        sizes = [n for n in sizes if rollback is None or n <= max(rollback, 1)]
        token = model.vocab.bos or 0
        model.context.abort_on(flag)
        sequence.clear()
        sequence.read([token] * 16)
        deadline = time.perf_counter() + _MEASURE_SECONDS
        best: dict[int, float] = {}
        for turn in range(3):
            for i, n in enumerate(sizes):
                if turn and time.perf_counter() > deadline:
                    break
                began = time.perf_counter()
                sequence.append([token] * n, n if model is self.target else 1)
                ms = 1e3 * (time.perf_counter() - began)
                # the least of few: whatever else the machine does can only add; later passes correct it by medians
                best[n] = min(ms, best.get(n, ms))
                if rollback != 0:
                    sequence.keep(16)
                progress("measure", (turn * len(sizes) + i + 1) / (3 * len(sizes)))
        sequence.clear()
        for n, ms in best.items():
            costs.observe(n, ms)

    def _measure_reading(self, draft: LoadedModel, flag: CancelFlag) -> None:
        sequence = draft.context.sequence()
        began = time.perf_counter()
        sequence.read([draft.vocab.bos or 0] * 64)
        self.draft_costs.observe(64, 1e3 * (time.perf_counter() - began))
        sequence.clear()


def _cost_table(target: PassCosts, draft: PassCosts) -> CostTable:
    known = draft.known
    return CostTable(
        target=target.table(),
        draft_step=draft.at(1) if known else None,
        draft_prompt_per_token=draft.at(64) / 64 if known else None,
        measured=target.measured,
    )
