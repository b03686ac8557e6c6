"""The three verification rules, each exact for the law of the whole sampler chain on the target.

* greedy: a draft token stands only if it is the target's top choice.
* coupled (default): y = argmax(log p + G(seed, position, token)), Gumbel noise keyed by position (Daliri et al.,
  arXiv 2408.07978). The draft draws with the same noise; a token stands while equal. y never depends on the draft, so
  every source, stopping rule and tree is exact, and text is the same with speculation on or off.
* rejection (Leviathan et al. 2211.17192; Chen et al. 2302.01318): keep x with min(1, p(x)/q(x)), else draw from
  normalised max(0, p - q). Exact only if a drawn token is never dropped: the decision to stop comes before the draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from backend.sampling.chain import Chain, Law, Row
from backend.sampling.noise import gumbel, noise_key


class Draw(NamedTuple):
    """A draft token that may yet be dropped.

    Attributes:
        margin: lead of the best over the second best (of the perturbed scores under the coupled rule); the calibration
            feature. Under rejection it is a property of the law alone, so that stopping does not look at the token.
        token: the token.
        law: what it was drawn from (None = chosen without chance).
    """

    margin: float
    token: int
    law: Law | None = None


class Verdict(NamedTuple):
    """The token emitted at a position, and its lead over the second best (None where chance decided otherwise)."""

    token: int
    margin: float | None


CAP = 99.0
"""Margins are capped here: a law of one token has no second best."""
WIDTH = 8
"""Tokens that may follow another in a tree."""


class Rule(Protocol):
    """How a token is chosen from the target's row, and how a draft token is judged against it."""

    name: str
    may_drop: bool
    """Whether drafted tokens may be dropped after they were seen."""

    def choose(self, row: Row, history: Sequence[int], position: int) -> Verdict:
        """The target's own token (plain decoding, bonus)."""

    def judge(self, row: Row, history: Sequence[int], position: int, token: int, drawn_from: Law | None) -> Verdict:
        """The token that is emitted at this position; the draft stands exactly if it equals ``token``."""

    def draft(self, row: Row, history: Sequence[int], position: int) -> Draw:
        """The draft model's token from its own row."""

    def choices(self, row: Row, history: Sequence[int], position: int) -> tuple[list[int], list[float]]:
        """The draft model's first tokens, likeliest first, and their scores. Only where :attr:`may_drop`."""

    def probability(self, row: Row, history: Sequence[int], token: int) -> float:
        """The target's chance for ``token`` under the whole chain."""


class _ChainRule:
    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    def probability(self, row: Row, history: Sequence[int], token: int) -> float:
        """See :class:`Rule`."""
        return self._chain.probability(row, history, token)


class Greedy(_ChainRule):
    """Temperature 0."""

    name = "greedy"
    may_drop = True

    def choose(self, row: Row, history: Sequence[int], position: int) -> Verdict:
        """See :class:`Rule`."""
        best, lead = self._chain.top_two(row, history)
        return Verdict(best, lead if lead < CAP else CAP)

    def judge(self, row: Row, history: Sequence[int], position: int, token: int, drawn_from: Law | None) -> Verdict:
        """See :class:`Rule`."""
        best, lead = self._chain.top_two(row, history)
        return Verdict(best, lead if lead < CAP else CAP)

    def draft(self, row: Row, history: Sequence[int], position: int) -> Draw:
        """See :class:`Rule`."""
        best, lead = self._chain.top_two(row, history)
        return Draw(lead if lead < CAP else CAP, best)

    def choices(self, row: Row, history: Sequence[int], position: int) -> tuple[list[int], list[float]]:
        """See :class:`Rule`."""
        ids, scores = self._chain.first(row, history, WIDTH)
        return ids.tolist(), scores.tolist()


class Coupled(_ChainRule):
    """Position-keyed Gumbel noise shared by target and draft."""

    name = "coupled"
    may_drop = True

    def __init__(self, chain: Chain, seed: int) -> None:
        super().__init__(chain)
        self.seed = seed

    def choose(self, row: Row, history: Sequence[int], position: int) -> Verdict:
        """See :class:`Rule`."""
        return Verdict(*self._best(row, history, position))

    def judge(self, row: Row, history: Sequence[int], position: int, token: int, drawn_from: Law | None) -> Verdict:
        """See :class:`Rule`."""
        return self.choose(row, history, position)

    def draft(self, row: Row, history: Sequence[int], position: int) -> Draw:
        """See :class:`Rule`."""
        token, margin = self._best(row, history, position)
        return Draw(margin, token)

    def choices(self, row: Row, history: Sequence[int], position: int) -> tuple[list[int], list[float]]:
        """See :class:`Rule`: by perturbed scores, so another token is likely where its noise is large too."""
        law = self._chain.law(row, history)
        scores = law.logp + gumbel(noise_key(self.seed, position), law.ids)
        order = np.argsort(-scores)[:WIDTH]
        return law.ids[order].tolist(), scores[order].tolist()

    def _best(self, row: Row, history: Sequence[int], position: int) -> tuple[int, float]:
        law = self._chain.law(row, history)
        scores = law.logp + gumbel(noise_key(self.seed, position), law.ids)
        at = int(scores.argmax())
        best = float(scores[at])
        scores[at] = -np.inf
        return int(law.ids[at]), min(best - float(scores.max()), CAP)


class Randomness(Protocol):
    """The rejection rule's whole use of chance: two calls, so that a test can replay every branch."""

    def bernoulli(self, p: float) -> bool:
        """True with probability ``p``."""

    def categorical(self, p: NDArray[np.float64]) -> int:
        """An index drawn with probabilities ``p`` (normalised)."""


class GeneratorRandomness:
    """:class:`Randomness` from a numpy generator, seeded by request and by where in the text its use begins."""

    def __init__(self, seed: int, position: int = 0) -> None:
        self._rng = np.random.Generator(np.random.PCG64([seed, position]))

    def bernoulli(self, p: float) -> bool:
        """See :class:`Randomness`."""
        return bool(self._rng.random() < p)

    def categorical(self, p: NDArray[np.float64]) -> int:
        """See :class:`Randomness`."""
        cumulative = np.cumsum(p)
        return min(int(np.searchsorted(cumulative, self._rng.random() * cumulative[-1], side="right")), len(p) - 1)


class Rejection(_ChainRule):
    """Speculative sampling with min(1, p/q)."""

    name = "rejection"
    may_drop = False

    def __init__(self, chain: Chain, randomness: Randomness) -> None:
        super().__init__(chain)
        self._random = randomness

    def choose(self, row: Row, history: Sequence[int], position: int) -> Verdict:
        """See :class:`Rule`."""
        return Verdict(self._draw(self._chain.law(row, history)), None)

    def judge(self, row: Row, history: Sequence[int], position: int, token: int, drawn_from: Law | None) -> Verdict:
        """See :class:`Rule`."""
        law = self._chain.law(row, history)
        p = np.exp(law.logp)
        if drawn_from is None:
            q_token, q = 1.0, (law.ids == np.uint64(token)).astype(np.float64)
        else:
            q_token, q = drawn_from.p(token), _aligned(drawn_from, law)
        if self._random.bernoulli(min(1.0, law.p(token) / q_token)):
            return Verdict(token, None)
        residual = np.maximum(0.0, p - q)
        return Verdict(int(law.ids[self._random.categorical(residual / residual.sum())]), None)

    def draft(self, row: Row, history: Sequence[int], position: int) -> Draw:
        """See :class:`Rule`."""
        law = self._chain.law(row, history)
        lead = CAP
        if len(law.logp) > 1:  # an unfiltered law is in order of ids
            second, first = np.partition(law.logp, -2)[-2:]
            lead = float(first - second)
        return Draw(min(lead, CAP), self._draw(law), law)

    def choices(self, row: Row, history: Sequence[int], position: int) -> tuple[list[int], list[float]]:
        """Not to be called: a choice that was not drawn cannot be judged by this rule."""
        raise NotImplementedError

    def _draw(self, law: Law) -> int:
        return int(law.ids[self._random.categorical(np.exp(law.logp))])


def _aligned(law: Law, onto: Law) -> NDArray[np.float64]:
    """Probabilities of ``law`` at the ids of ``onto`` (0 where absent)."""
    order = np.argsort(law.ids)
    ids = law.ids[order]
    at = np.minimum(np.searchsorted(ids, onto.ids), len(ids) - 1)
    found = ids[at] == onto.ids
    return np.where(found, np.exp(law.logp[order][at]), 0.0)


def make_rule(chain: Chain, name: str, seed: int, position: int = 0) -> Rule:
    """The rule for a request, in use from ``position`` on: greedy at temperature 0, else the named one."""
    if chain.greedy:
        return Greedy(chain)
    return Coupled(chain, seed) if name == "coupled" else Rejection(chain, GeneratorRandomness(seed, position))
