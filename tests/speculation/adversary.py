"""A source that proposes right tokens only as far as it is told, and a policy that follows a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.speculation.contracts import GoOn, Proposal, Rows, Source
from backend.speculation.policy import Plan
from backend.speculation.tree import Budget


@dataclass(frozen=True)
class Step:
    """One round: who proposes, how many tokens, and (adversary) how many of them are right."""

    source: str
    k: int
    right: int = 0


class Adversary:
    """Proposes ``right`` right tokens, then wrong ones."""

    name = "adversary"

    def __init__(self, said: Callable[[Sequence[int], int], list[int]], n_vocab: int) -> None:
        self._said = said
        self._n_vocab = n_vocab
        self.right = 0

    def begin(self, history: Sequence[int]) -> None: ...

    def expect(self, history: Sequence[int], k: int) -> list[float]:
        return [0.5] * k

    def cost(self, k: int, unseen: int) -> float:
        return 0.0

    def unseen(self, history: Sequence[int]) -> int:
        return 0

    def read(self, history: Sequence[int], end: int) -> int:
        return 0

    may_follow = True
    may_branch = False

    def branch(self, history: list[int], budget: Budget) -> Proposal:
        raise NotImplementedError

    def walked(self, path: Sequence[int]) -> None: ...

    def follow(self, history: Sequence[int]) -> None: ...

    def propose(self, history: list[int], k: int, go_on: GoOn | None) -> Proposal:
        true = self._said(history, k)
        tokens = [t if i < self.right else (t + 1) % self._n_vocab for i, t in enumerate(true)]
        return Proposal(tokens, self.name, None, [0.5] * len(tokens), len(tokens))

    def observe(self, history: Sequence[int], start: int, proposal: Proposal | None, accepted: int) -> None: ...

    def hear(self, history: Sequence[int], start: int, tokens: Sequence[int], rows: Rows, accepted: int) -> None: ...

    def truncate(self, n: int) -> None: ...


class Planned:
    """Stands where the policy does, and takes the given steps one after the other; then decodes plainly."""

    enabled = True

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self.taken: list[Step] = []

    def plan(self, history: Sequence[int], sources: Sequence[Source], room: int, nodes: int = 0) -> Plan:
        step = self._steps.pop(0) if self._steps else Step("plain", 0)
        self.taken.append(step)
        for source in sources:
            if source.name == step.source and room > 0 and step.k:
                if isinstance(source, Adversary):
                    source.right = step.right
                return Plan(source, min(step.k, room))
        return Plan(None, 0, reason="planned")

    def spent(self, ms: float, read_ms: float, tokens: int) -> None: ...
