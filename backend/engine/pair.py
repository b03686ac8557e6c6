"""A loaded target with, perhaps, a draft: replies, comparisons, and what the worker reports about them.

Everything here runs on the engine thread but for the few members that say otherwise.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from backend.engine import kernels
from backend.engine.cancel import CancelFlag
from backend.engine.compare import compare
from backend.engine.devices import memory_used
from backend.engine.generation import Generation
from backend.engine.judge import judge
from backend.engine.learner import Learner
from backend.engine.learnt import Learnt, model_key, pair_key, told_to_plans
from backend.engine.load import LoadedModel, Progress
from backend.engine.measure import cost_table, measure_passes, measure_reading, sizes_for
from backend.engine.reply import reply
from backend.engine.strict import Strictness
from backend.equations import LONGEST
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Comparison,
    Judged,
    Message,
    ReplyEvent,
    ReplyRequest,
    Side,
    Speculation,
)
from backend.speculation.cost import PassCosts
from backend.speculation.policy import LAST_TOKEN
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.sources.lookahead import Lookahead
from backend.speculation.sources.lookup import Lookup

_LEARNERS = 64
"""Named ones that are remembered."""
_FROM_DISK = 1.1
"""What a pass of the longest draft takes of a one-token pass whose weights come from disk, until it was measured."""
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
        self.prompt: dict[int, float] = {}
        """See ``protocol.CostTable``."""
        self._learners = {"": Learner()}
        self.lookup = Lookup(self._learners[""].copies, target.vocab.eog)
        """One index for all: whoever learns, it is of the conversation."""
        self.lookahead = Lookahead(self._learners[""].said, target.vocab.eog)
        self._learnt = learnt
        self._kept_at = time.monotonic()
        self._why = ""
        self._note = ""
        self._settling = False
        self._strictness = Strictness(target, learnt)
        self._offers: list[LoadedModel | None] = []
        self._lock = threading.Lock()
        if learnt is not None:
            known = learnt.recall(model_key(target, "target"))
            self.costs.restore(known.get("costs"))
            self._learners[""].copies.restore(known.get("copies"))
            self._learners[""].said.restore(known.get("said"))
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
            "cost": cost_table(self.costs, self.draft_costs, self.prompt),
            "context_used": 0 if self._settling else self.target.context.sequence().length,
            "memory": memory_used(),
            "threads": self.target.context.threads,
            "exact_rows": self.target.context.exact_rows,
        }

    # -- engine thread

    def take_offers(self) -> bool:
        """Swap in the draft offered last; the old one is freed here. True when the draft changed."""
        if not self._offers:  # asked every round; an offer that comes just now is taken in the next
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
        kernels.serve(self.target.exact_kernels)
        if self.target.strict:  # only exact passes are of interest then
            self._strictness.settle(self.costs, progress, flag)
        if self.costs.untouched:  # else a reply has used it: its memory is of use
            wanted = (1,) if self.costs.known else sizes_for(self.target)  # the others were measured in an earlier run
            measure_passes(self.target, self.costs, wanted, 0, progress, flag)
            if self.target.streamed:  # there was time for one, of seconds, and the disk takes as long for many tokens
                self.costs.presume_flat(LONGEST + 1, _FROM_DISK)
        if self.draft is not None and self.draft_costs.untouched:
            measure_passes(self.draft, self.draft_costs, (1, 2), 1, progress, flag)
            measure_reading(self.draft, self.draft_costs)

    def settle(self, progress: Progress, flag: CancelFlag) -> None:
        """Whether texts are exact without anybody's wish, where that is not known; not while memory is of use.

        Raises:
            EngineError: CANCELLED; nothing is decided then.
        """
        if self.target.context.sequence().length == 0:
            self._settling = True
            try:
                self.costs = self._strictness.settle(self.costs, progress, flag)
            finally:
                self._settling = False
            self._keep()

    def count(self, messages: Sequence[Message], template_kwargs: dict[str, Any]) -> int:
        """Tokens of the rendered prompt."""
        return len(self.target.template.prompt_tokens(messages, template_kwargs))

    def pieces(self, ids: Sequence[int]) -> tuple[str, list[str]]:
        """The vocabulary's digest, and what each token stands for; half a character becomes a question mark.

        Raises:
            EngineError: BAD_TOKEN for an id outside the vocabulary.
        """
        vocab = self.target.vocab
        return vocab.digest, [vocab.piece(token, special=True).decode("utf-8", "replace") for token in ids]

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
        with self._explained():
            return judge(self.draft, prompt, ids, n_vocab, flag)

    def reply(self, request: ReplyRequest, flag: CancelFlag) -> Iterator[ReplyEvent]:
        """One reply, as events (see ``engine.reply``)."""
        began = time.perf_counter()
        self._prepare(flag)
        yield from reply(self, request, began)
        if time.monotonic() - self._kept_at > _KEEP_EVERY:
            self._keep()

    def compare(self, request: ReplyRequest, flag: CancelFlag) -> Iterator[tuple[Side, ReplyEvent] | Comparison]:
        """The same request both ways, from one shared prompt under one seed (see ``engine.compare``)."""
        self._prepare(flag)
        with self._explained():
            yield from compare(self, request)

    def close(self) -> None:
        """Keep what was learnt, and free both models."""
        self._keep()
        self.take_offers()
        if self.draft is not None:
            self.draft.close()
        self.target.close()

    # -- what a reply asks and tells

    def forget(self) -> None:
        """Clear both contexts."""
        self.target.context.sequence().clear()
        if self.draft is not None:
            self.draft.context.sequence().clear()

    def learner(self, name: str) -> Learner:
        """Who learns from a reply, by the name that its request gives."""
        if name not in self._learners and len(self._learners) > _LEARNERS:
            self._learners = {"": self._learners[""]}
        return self._learners.setdefault(name, Learner())

    def decode_seconds(self) -> float:
        """Time inside llama_decode so far, both contexts together."""
        models = (self.target, self.draft)
        return sum(model.context.decode_seconds for model in models if model is not None)

    def plain_ms(self) -> float | None:
        """What a plain pass costs here lately."""
        return self.costs.at(1) if self.costs.known else None

    def forget_why(self) -> None:
        """A new reply: what speculation did in the last one says nothing of it."""
        self._why = ""

    def tell(self, why: str) -> None:
        """What speculation is doing and why, for the state."""
        if why != LAST_TOKEN:
            self._why = why

    def note(self, generation: Generation) -> str:
        """Why speculation did nothing, where it was wanted and did nothing, or why the draft sat out."""
        wanted = generation.rounds.policy.enabled
        failed = next((s.failed for s in generation.rounds.sources if isinstance(s, DraftModel) and s.failed), "")
        self._note = f"The draft sat out the last reply: {failed}" if failed else ""
        return self._note or (self._why if wanted and generation.timings.draft_n == 0 else "")

    # -- inside

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """A disk that fails stops what runs as a person would; it is not the same."""
        try:
            yield
        except EngineError:
            self.target.context.check_stream()
            raise

    def _recall_draft(self) -> None:
        if self._learnt is not None and self.draft is not None:
            self.draft_costs.restore(self._learnt.recall(model_key(self.draft, "draft")).get("costs"))
            self._learners[""].restore_draft(self._learnt.recall(pair_key(self.target, self.draft)).get("margins"))

    def _keep(self) -> None:
        self._kept_at = time.monotonic()
        if self._learnt is None:
            return
        own = self._learners[""]
        known = {"costs": self.costs.to_json(), "copies": own.copies.to_json(), "said": own.said.to_json()}
        figures = self._strictness.to_json() | told_to_plans(self.target, self.costs)
        key = model_key(self.target, "target")
        figures[key] = figures.get(key, {}) | known
        if self.draft is not None:
            figures[model_key(self.draft, "draft")] = {"costs": self.draft_costs.to_json()}
            figures[pair_key(self.target, self.draft)] = {"margins": self._learners[""].draft_json()}
        self._learnt.keep(figures)

    def _prepare(self, flag: CancelFlag) -> None:
        self.take_offers()
        kernels.serve(self.target.exact_kernels)
        self.target.context.abort_on(flag)
        if self.draft is not None:
            self.draft.context.abort_on(flag)
