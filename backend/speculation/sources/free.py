"""What sources have in common that follow the history for nothing: no model, nothing to read, nothing to take back."""

from __future__ import annotations

from collections.abc import Sequence

from backend.speculation.contracts import Proposal
from backend.speculation.tree import Budget


class FreeSource:
    """The parts of :class:`Source` in which there is nothing to do."""

    may_follow = False
    """Every guess is scored anyway."""
    may_branch = False

    def branch(self, history: list[int], budget: Budget) -> Proposal:
        """Not to be called: see :attr:`may_branch`."""
        raise NotImplementedError

    def walked(self, path: Sequence[int]) -> None:
        """There is no tree."""

    def truncate(self, n: int) -> None:
        """Only emitted tokens are ever learnt as the history."""

    def unseen(self, history: Sequence[int]) -> int:
        """Always 0."""
        return 0

    def cost(self, k: int, unseen: int) -> float:
        """Nothing that could be measured."""
        return 0.0

    def read(self, history: Sequence[int], end: int) -> int:
        """Nothing is ever unseen."""
        return 0

    def follow(self, history: Sequence[int]) -> None:
        """See :attr:`may_follow`."""
