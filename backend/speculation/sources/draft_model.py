"""Drafts from a small model that keeps its own KV cache.

Only what the draft has not seen is decoded: after a mismatch one token, after a fully accepted round two (its own last
draft token and the bonus). More than a few tokens, at the start of a reply or after a pause, are read when the policy
says so; and while it is paused it may follow the text at a distance, being asked what it would have said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

from backend.equations import SLICE
from backend.errors import EngineError, ErrorCode
from backend.sampling.chain import Row
from backend.speculation.calibration import MarginLogistic
from backend.speculation.contracts import LAG, SMALL_READ, GoOn, Model, Proposal, Rows
from backend.speculation.cost import PassCosts
from backend.speculation.sources.draft_tree import DraftTree
from backend.speculation.tree import Budget
from backend.speculation.verify import Rule


class DraftModel:
    """A draft model as a source.

    Args:
        model: the draft's context.
        rule: the request's rule; the draft draws with it, from the same chain and noise.
        n_vocab: the target's vocabulary size; ids beyond it are never proposed.
        ends: end-of-generation ids; drafting ends after one.
        calibration: acceptance from margins, shared between replies.
        costs: the draft's pass costs, shared between replies.
    """

    name = "draft"

    def __init__(
        self,
        model: Model,
        rule: Rule,
        n_vocab: int,
        ends: Collection[int],
        calibration: MarginLogistic,
        costs: PassCosts,
    ) -> None:
        self._model = model
        self._rule = rule
        self._width = min(n_vocab, model.n_vocab)
        self._narrow = self._width < model.n_vocab
        self._ends = ends
        self._calibration = calibration
        self._costs = costs
        self.failed = ""
        """Why the draft sits out, if it does (until the next reply)."""
        self._stumbled = False
        self._drawn: list[int] = []
        """Tokens drawn for the last proposal, those not put to the target included."""
        self._tree: DraftTree | None = None
        """The last proposal's, where it was one."""

    @property
    def may_follow(self) -> bool:
        """Not under the rejection rule: how likely a token stands depends on the target's row, which nobody kept."""
        return self._rule.may_drop

    def begin(self, history: Sequence[int]) -> None:
        """Keep the common prefix of what the draft holds and the new prompt."""
        self._calibration.new_text()
        self._costs.enter(len(history))
        keep = min(common_prefix(self._model.tokens, history), len(history) - 1)
        self._guard(lambda: self._model.keep(keep))

    def truncate(self, n: int) -> None:
        """See :class:`Source`."""
        if not self.failed and self._model.length > n:
            self._guard(lambda: self._model.keep(n))

    def unseen(self, history: Sequence[int]) -> int:
        """See :class:`Source`."""
        return len(history) - self._model.length

    def cost(self, k: int, unseen: int) -> float:
        """See :class:`Source`. Nothing while nothing was measured: what is tried is measured."""
        if not self._costs.known or k <= 0:
            return 0.0
        return self._costs.at(max(1, unseen)) + (k - 1) * self._costs.at(1)

    def expect(self, history: Sequence[int], k: int) -> list[float]:
        """See :class:`Source`: the recent average, the margins not being known yet."""
        room = self._model.room - self.unseen(history) + 1
        return [self._calibration.mean] * min(k, room) if not self.failed and room > 0 else []

    def read(self, history: Sequence[int], end: int) -> int:
        """See :class:`Source`."""
        part = history[self._model.length : min(end, self._model.length + SLICE)]
        return len(part) if self._trying(lambda: self._timed(part)) else 0

    def follow(self, history: Sequence[int]) -> None:
        """See :class:`Source`."""
        self._trying(lambda: self._judge(history))

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        """See :class:`Source`. A failing draft is cleared and tried once more, then sits out."""
        out = Proposal([], self.name)
        self._drawn, self._tree = [], None
        if k > 0:
            self._trying(lambda: self._propose(history, k, go_on, out))
        return out

    @property
    def may_branch(self) -> bool:
        """See :class:`Source`. Under the rejection rule a token that was not drawn cannot be judged."""
        return self._rule.may_drop and self._model.branches > 1

    def branch(self, history: list[int], budget: Budget) -> Proposal:
        """See :class:`Source`. Fails like :meth:`propose`."""
        out = Proposal([], self.name)
        self._drawn, self._tree = [], None
        self._trying(lambda: self._branch(history, budget, out))
        return out

    def walked(self, path: Sequence[int]) -> None:
        """See :class:`Source`."""
        if self._tree is not None and not self.failed:
            held = self._tree.held_of(path)
            self._guard(lambda: self._model.settle(held))

    def observe(self, history: Sequence[int], start: int, proposal: Proposal | None, accepted: int) -> None:
        """Learn from each drafted token up to the first that the text did not confirm, verified or not."""
        self._costs.enter(len(history))
        if proposal is None:
            return
        if self._tree is not None:
            self._tree.learn(history[start:], self._calibration)
            return
        for feature, drawn, emitted in zip(proposal.features, self._drawn, history[start:], strict=False):
            self._calibration.observe(feature, drawn == emitted)
            if drawn != emitted:
                break

    def hear(self, history: Sequence[int], start: int, tokens: Sequence[int], rows: Rows, accepted: int) -> None:
        """Nothing to do: the draft has said its own."""

    def _propose(self, history: list[int], k: int, go_on: GoOn | None, out: Proposal) -> None:
        start = len(history)
        missed = history[self._model.length :]
        if len(missed) > SMALL_READ:
            return  # its memory was lost since the policy looked: it must read first
        laws = out.laws = []
        began = time.perf_counter()
        try:
            row = self._next(missed)
            k = min(k, 1 + self._model.room)
            while True:
                draw = self._rule.draft(row[: self._width] if self._narrow else row, history, len(history))
                # the whole step: an unfiltered row takes longer to draw from than to compute
                ended = time.perf_counter()
                if out.drafted == 0:
                    first = ended
                out.drafted += 1
                expected = self._calibration(draw.margin)
                # the rejection rule forbids dropping a drawn token: there this decision, made before the draw, is final
                enough = go_on is not None and not go_on([*out.expected, expected])
                if enough and not self._rule.may_drop:
                    if not out.tokens:
                        self._calibration.decline(expected)
                    break
                token = draw.token
                self._drawn.append(token)
                out.features.append(draw.margin)
                if enough:
                    break
                history.append(token)
                out.tokens.append(token)
                out.expected.append(expected)
                laws.append(draw.law)
                if len(out.tokens) >= k or token in self._ends:
                    break
                if len(out.tokens) == 1:
                    self._model.mark()
                row = self._model.decode((token,))[0]
            self._learn_costs(len(missed), 1e3 * (first - began), 1e3 * (ended - first), out.drafted - 1)
        finally:
            del history[start:]

    def _branch(self, history: list[int], budget: Budget, out: Proposal) -> None:
        missed = history[self._model.length :]
        if len(missed) > SMALL_READ:
            return
        began = time.perf_counter()
        row = self._next(missed)
        self._costs.observe(len(missed), 1e3 * (time.perf_counter() - began))
        tree = DraftTree(self._model, self._rule, self._width, self._ends, self._calibration, self._costs)
        tree.grow(history, row, budget, began, out)
        self._tree = tree

    def _next(self, tokens: Sequence[int]) -> Row:
        self._check(tokens)
        row: Row = self._model.read(tokens)[-1]
        return row

    def _timed(self, part: Sequence[int]) -> None:
        if part:
            began = time.perf_counter()
            self._next(part)
            if len(part) == SLICE:
                self._costs.observe(SLICE, 1e3 * (time.perf_counter() - began))

    def _judge(self, history: Sequence[int]) -> None:
        start = self._model.length
        part = history[start : min(len(history) - 1, start + min(LAG, self._model.most_rows))]
        if not part:
            return
        self._check(part)
        for i, row in enumerate(self._model.decode(part), start=start + 1):
            draw = self._rule.draft(row[: self._width], history[:i], i)
            self._calibration.observe(draw.margin, draw.token == history[i])

    def _check(self, tokens: Sequence[int]) -> None:
        if max(tokens) >= self._model.n_vocab:
            raise EngineError(ErrorCode.BAD_TOKEN, "this reply contains a token that the draft does not have")

    def _learn_costs(self, read: int, first: float, others: float, n: int) -> None:
        """Of the first step, which read ``read`` tokens, and of the ``n`` others together, one each. Milliseconds."""
        if read > 1:
            self._costs.observe(read, first)
        singles = n + (read == 1)
        if singles:
            self._costs.observe(1, (others + first * (read == 1)) / singles)

    def _trying(self, action: Callable[[], None]) -> bool:
        """A failing draft is cleared, and tried again when it has read anew; at its second failure it sits out."""
        if self.failed:
            return False
        try:
            action()
            return True
        except EngineError as error:
            if error.code is ErrorCode.CANCELLED:
                raise
            if self._stumbled or error.code is ErrorCode.BAD_TOKEN:
                self.failed = error.message
            else:
                self._stumbled = True
                self._guard(self._model.clear)
            return False

    def _guard(self, action: Callable[[], object]) -> None:
        """A draft's memory that cannot be truncated must never stop the reply: forget it all, or sit out."""
        try:
            action()
        except EngineError as error:
            try:
                self._model.clear()
            except EngineError:
                self.failed = error.message


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    n = min(len(a), len(b))
    if list(a[:n]) == list(b[:n]):
        return n
    return next(i for i in range(n) if a[i] != b[i])
