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
from backend.engine.exact import exact_rows, exact_to
from backend.engine.generation import Generation
from backend.engine.judge import judge
from backend.engine.learner import Learner
from backend.engine.learnt import Learnt, model_key, pair_key
from backend.engine.load import LoadedModel, Progress
from backend.engine.measure import cost_table, measure_passes, measure_reading
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    Judged,
    Message,
    PromptProgress,
    ReplyEvent,
    ReplyRequest,
    Side,
    Speculation,
    Timings,
)
from backend.sampling.chain import Chain
from backend.speculation.contracts import Source
from backend.speculation.cost import PassCosts
from backend.speculation.policy import LAST_TOKEN, Policy
from backend.speculation.round import Rounds
from backend.speculation.sources.draft_model import DraftModel, common_prefix
from backend.speculation.verify import Rule, make_rule
from backend.text import TextStream

_LEARNERS = 64
"""Named ones that are remembered."""
_KEEP_EVERY = 30.0
"""Seconds between two writings of what was learnt, at least; a worker that is killed loses no more."""


class Pair:
    """The engine's whole state: one target, at most one draft, and what was learnt about both.

    Args:
        learnt: where that is kept between runs; None = nowhere.
    """

    def __init__(
        self,
        target: LoadedModel,
        draft: LoadedModel | None = None,
        speculation: Speculation | None = None,
        learnt: Learnt | None = None,
    ) -> None:
        self.target = target
        self.draft = draft
        self.speculation = speculation or Speculation()
        """Assignable from any thread; read at the start of each round."""
        self.costs = PassCosts()
        self.draft_costs = PassCosts()
        self._learners = {"": Learner(target.vocab)}
        self._learnt = learnt
        self._kept_at = time.monotonic()
        self._why = ""
        self._note = ""
        self._offers: list[LoadedModel | None] = []
        self._lock = threading.Lock()
        if learnt is not None:
            known = learnt.recall(model_key(target, "target"))
            self.costs.restore(known.get("costs"))
            self._learners[""].copies.restore(known.get("copies"))
            self._recall_draft()

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
            "cost": cost_table(self.costs, self.draft_costs),
            "context_used": self.target.context.sequence().length,
            "memory": memory_used(),
            "threads": self.target.context.threads,
            "exact_rows": self.target.context.exact_rows,
            "speculation": self.speculation,
        }

    # -- engine thread

    def take_offers(self) -> bool:
        """Swap in the draft offered last; the old one is freed here. True when the draft changed."""
        if not self._offers:
            return False
        with self._lock:
            offers, self._offers = self._offers, []
        if offers:
            self._keep()  # of the draft that goes
        for offer in offers:
            if self.draft is not None:
                self.draft.close()
            self.draft, self._note = offer, ""
            self.draft_costs = PassCosts()
            for learner in self._learners.values():
                learner.forget_draft()
            self._recall_draft()
        return bool(offers)

    def measure(self, progress: Progress, flag: CancelFlag) -> None:
        """Time passes of 1, 2, 4, 8 and 16 tokens, and the draft's step, within a second and a half."""
        self.take_offers()
        if self.target.strict and self.target.context.exact_rows is None:
            self._find_exact(progress, flag)
        if self.costs.untouched:  # else a reply has used it: its memory is of use
            sizes = (1,) if self.costs.known else (1, 2, 4, 8, 16)  # the others were measured in an earlier run
            measure_passes(self.target, self.costs, sizes, 0, progress, flag)
        if self.draft is not None and self.draft_costs.untouched:
            measure_passes(self.draft, self.draft_costs, (1, 2), 1, progress, flag)
            measure_reading(self.draft, self.draft_costs)

    def count(self, messages: Sequence[Message], template_kwargs: dict[str, Any]) -> int:
        """Tokens of the rendered prompt."""
        return len(self.target.template.prompt_tokens(messages, template_kwargs))

    def judge(
        self, messages: Sequence[Message], ids: Sequence[int], kwargs: dict[str, Any], flag: CancelFlag
    ) -> Judged:
        """Which tokens of a reply the loaded draft would have guessed (see ``engine.judge``).

        Raises:
            EngineError: BAD_REQUEST without a draft or for ids that the target does not have; CONTEXT_FULL, CANCELLED.
        """
        self._prepare(flag)
        if self.draft is None:
            raise EngineError(ErrorCode.BAD_REQUEST, "No draft model is loaded; choose one first.")
        n_vocab = self.target.context.n_vocab
        if not ids or min(ids) < 0 or max(ids) >= n_vocab:
            raise EngineError(ErrorCode.BAD_REQUEST, f"The reply must be token ids from 0 to {n_vocab - 1}.")
        prompt = self.target.template.prompt_tokens(messages, kwargs)
        return judge(self.draft, prompt, ids, n_vocab, flag)

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
        if generation.reason != "cancelled":
            self._learner(request.learner).ended(generation.timings.predicted_n, generation.reason == "length")
        yield generation.finished(self.note(generation))
        if time.monotonic() - self._kept_at > _KEEP_EVERY:
            self._keep()

    def compare(self, request: ReplyRequest, flag: CancelFlag) -> Iterator[tuple[Side, ReplyEvent] | Comparison]:
        """The same request both ways, from one shared prompt under one seed (see ``engine.compare``)."""
        self._prepare(flag)
        yield from compare.compare(self, request)

    def close(self) -> None:
        """Keep what was learnt, and free both models."""
        self._keep()
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
        sequence.mark()
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
        learner = self._learner(request.learner)
        start = len(prompt)
        history = list(prompt)
        policy = Policy(
            lambda: fixed or self.speculation,
            self.costs,
            lambda: min(max(0, start + budget - len(history)), learner.rest(len(history) - start)),
            start,
        )
        if self.target.context.max_rollback == 0 or self.target.context.exact_rows == 1:
            policy.blocked = self.target.info.truncate_note
        ends = frozenset() if request.ignore_eos else self.target.vocab.eog
        sources = self._sources(rule, learner) if settings.enabled else []
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

    def renew_sources(self, generation: Generation, learner: str = "") -> None:
        """After a swap: a running reply goes on with the new draft from the next round."""
        rounds = generation.rounds
        rounds.sources[:] = self._sources(rounds.rule, self._learner(learner))
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
            self.renew_sources(generation, request.learner)

    def note(self, generation: Generation) -> str:
        """Why speculation did nothing, where it was wanted and did nothing, or why the draft sat out."""
        wanted = generation.rounds.policy.enabled
        failed = next((s.failed for s in generation.rounds.sources if isinstance(s, DraftModel) and s.failed), "")
        self._note = f"The draft sat out the last reply: {failed}" if failed else ""
        return self._note or (self._why if wanted and generation.timings.draft_n == 0 else "")

    # -- inside

    def _find_exact(self, progress: Progress, flag: CancelFlag) -> None:
        """Once for a file, build and setting; then it is known."""
        kept = self._learnt.recall(model_key(self.target, "target")) if self._learnt is not None else {}
        known = kept.get("exact_rows")
        fits = isinstance(known, int) and 1 <= known <= self.target.context.max_rows
        if not fits or kept.get("exact_to") != exact_to(self.target):
            known = exact_rows(self.target, lambda f: progress("exact", f), flag)
        assert isinstance(known, int)
        self.target.context.exact_rows = known
        if known == 1:
            self.target.info = self.target.info.model_copy(
                update={"truncate_note": "here only one-token passes give plain decoding's text to the bit"}
            )

    def _recall_draft(self) -> None:
        if self._learnt is not None and self.draft is not None:
            self.draft_costs.restore(self._learnt.recall(model_key(self.draft, "draft")).get("costs"))
            self._learners[""].restore_draft(self._learnt.recall(pair_key(self.target, self.draft)).get("margins"))

    def _keep(self) -> None:
        self._kept_at = time.monotonic()
        if self._learnt is None:
            return
        known: dict[str, Any] = {"costs": self.costs.to_json(), "copies": self._learners[""].copies.to_json()}
        if self.target.context.exact_rows is not None:
            known |= {"exact_rows": self.target.context.exact_rows, "exact_to": exact_to(self.target)}
        figures = {model_key(self.target, "target"): known}
        if self.draft is not None:
            figures[model_key(self.draft, "draft")] = {"costs": self.draft_costs.to_json()}
            figures[pair_key(self.target, self.draft)] = {"margins": self._learners[""].draft_json()}
        self._learnt.keep(figures)

    def _prepare(self, flag: CancelFlag) -> None:
        self.take_offers()
        self.target.context.abort_on(flag)
        if self.draft is not None:
            self.draft.context.abort_on(flag)

    def _learner(self, name: str) -> Learner:
        if name not in self._learners and len(self._learners) > _LEARNERS:
            self._learners = {"": self._learners[""]}
        return self._learners.setdefault(name, Learner(self.target.vocab))

    def _sources(self, rule: Rule, learner: Learner) -> list[Source]:
        ends = self.target.vocab.eog
        sources: list[Source] = [learner.lookup]
        if self.draft is not None:
            sequence = self.draft.context.sequence()
            self.draft.context.abort_on(self.target.context.flag)
            sources.append(
                DraftModel(sequence, rule, self.target.context.n_vocab, ends, learner.margins(rule), self.draft_costs)
            )
        return sources

    def _decode_seconds(self) -> float:
        models = (self.target, self.draft)
        return sum(model.context.decode_seconds for model in models if model is not None)

    def _plain_ms(self) -> float | None:
        return self.costs.at(1) if self.costs.known else None

    def _tell(self, why: str) -> None:
        if why != LAST_TOKEN:
            self._why = why
