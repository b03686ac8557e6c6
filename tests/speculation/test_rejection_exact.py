"""Rejection is exact: every branch of its randomness is replayed through the real loop, and the law compared."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest

from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from backend.speculation.contracts import Proposal
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.verify import Rejection
from tests.speculation.loop import costs, make, run
from tests.speculation.tables import MixedDraft, TableModel


class Replay:
    """Takes the branches it is told to, and remembers which others there are and how likely this path was."""

    def __init__(self, path: list[int]) -> None:
        self.path = path
        self.at = 0
        self.weight = 1.0
        self.branches: list[int] = []

    def _choose(self, p: np.ndarray) -> int:
        possible = [int(i) for i in np.flatnonzero(p > 0)]
        want = self.path[self.at] if self.at < len(self.path) else 0
        self.branches.append(len(possible))
        if self.at >= len(self.path):
            self.path.append(0)
        self.at += 1
        self.weight *= float(p[possible[want]])
        return possible[want]

    def bernoulli(self, p: float) -> bool:
        return self._choose(np.array([1 - p, p])) == 1

    def categorical(self, p: np.ndarray) -> int:
        assert p.sum() == pytest.approx(1, abs=1e-9)
        return self._choose(p)


def enumerate_law(make_rounds, n: int) -> dict[tuple[int, ...], float]:
    """The exact law of the first n tokens, by depth-first replay of every branch."""
    law: dict[tuple[int, ...], float] = defaultdict(float)
    path: list[int] = []
    while True:
        replay = Replay(list(path))
        tokens, _ = run(make_rounds(replay), n)
        law[tuple(tokens)] += replay.weight
        path = replay.path[: replay.at]
        while path and path[-1] + 1 >= replay.branches[len(path) - 1]:
            path.pop()
        if not path:
            return law
        path[-1] += 1


def plain_law(target: TableModel, prompt: list[int], n: int, chain: Chain) -> dict[tuple[int, ...], float]:
    law: dict[tuple[int, ...], float] = {}
    for tokens in itertools.product(range(target.n_vocab), repeat=n):
        p = 1.0
        for i in range(n):
            history = [*prompt, *tokens[:i]]
            p *= chain.law(target.row(history), history).p(tokens[i])
        if p > 0:
            law[tokens] = p
    return law


def variation(a: dict, b: dict) -> float:
    return 0.5 * sum(abs(a.get(k, 0.0) - b.get(k, 0.0)) for k in a.keys() | b.keys())


SAMPLINGS = {
    "unfiltered": Sampling(temperature=1.0, top_k=0, top_p=1.0),
    "truncated": Sampling(temperature=0.8, top_k=3, top_p=0.9),
    "penalised": Sampling(temperature=1.2, top_k=0, top_p=1.0, min_p=0.1, repeat_penalty=1.4),
}
SETTINGS = {
    "draft-1": Speculation(source="draft", length=1, rule="rejection"),
    "draft-3": Speculation(source="draft", length=3, rule="rejection"),
    "lookup-2": Speculation(source="lookup", length=2, rule="rejection"),
    "lookup+draft-2": Speculation(source="lookup+draft", length=2, rule="rejection"),
    "auto": Speculation(rule="rejection"),
    "plain": Speculation(enabled=False, rule="rejection"),
}


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("widths", [(3, 3), (3, 4), (4, 3)], ids=["same", "draft-longer", "target-longer"])
def test_law_is_the_targets(sampling: str, settings: str, widths: tuple[int, int]) -> None:
    chain = Chain(SAMPLINGS[sampling])
    prompt, n = [0, 1, 2, 0, 1], 3

    def make_rounds(replay: Replay):
        target = TableModel(widths[0], seed=5)
        draft = MixedDraft(target, noise=0.8, n_vocab=widths[1])
        rule = Rejection(chain, replay)
        return make(target, draft, prompt, SETTINGS[settings], rule=rule, budget=n, sampling=SAMPLINGS[sampling])

    law = enumerate_law(make_rounds, n)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert variation(law, plain_law(TableModel(widths[0], seed=5), prompt, n, chain)) < 1e-12


@pytest.mark.parametrize("draft_step", [0.2, 4.0], ids=["cheap", "dear"])
def test_four_tokens_with_early_stops(draft_step: float) -> None:
    """Automatic lengths stop early for reasons that depend on the law, never on the token drawn."""
    chain, prompt, n = Chain(SAMPLINGS["unfiltered"]), [0, 1, 2, 0, 1], 4
    lengths: set[int] = set()

    def make_rounds(replay: Replay):
        target = TableModel(3, seed=8, scale=2.5)
        draft = MixedDraft(target, noise=0.6)
        rounds = make(
            target,
            draft,
            prompt,
            Speculation(source="draft", rule="rejection"),
            rule=Rejection(chain, replay),
            budget=n,
            draft_costs=costs(n1=draft_step, n2=draft_step, n16=2 * draft_step),
        )
        source = rounds.sources[1]
        original = source.propose

        def spy(history, k, go_on):
            proposal = original(history, k, go_on)
            lengths.add(len(proposal.tokens))
            return proposal

        source.propose = spy
        return rounds

    law = enumerate_law(make_rounds, n)
    assert len(lengths) > 1 or draft_step < 1, "the test means to see drafts of different lengths"
    assert variation(law, plain_law(TableModel(3, seed=8, scale=2.5), prompt, n, chain)) < 1e-12


class Dropping(DraftModel):
    """The trap: a drawn token with a small draft probability is dropped and drafting stops (p_min, n_min)."""

    p_min = 0.6
    n_min = 0

    def propose(self, history: list[int], k: int, go_on) -> Proposal:
        out = super().propose(history, k, go_on)
        assert out.laws is not None
        for i, (token, law) in enumerate(zip(out.tokens, out.laws, strict=True)):
            assert law is not None
            if law.p(token) < self.p_min:
                del out.tokens[i:], out.laws[i:]
                break
        if len(out.tokens) < self.n_min:
            out.tokens.clear()
            out.laws.clear()
        return out


class Minimum(Dropping):
    p_min = 0.0
    n_min = 2

    def propose(self, history: list[int], k: int, go_on) -> Proposal:
        out = DraftModel.propose(self, history, k, go_on)
        keep = next((i + 1 for i, t in enumerate(out.tokens) if out.laws[i].p(t) < 0.35), len(out.tokens))
        del out.tokens[keep:], out.laws[keep:]
        if len(out.tokens) < self.n_min:
            out.tokens.clear()
            out.laws.clear()
        return out


@pytest.mark.parametrize("biased", [Dropping, Minimum])
def test_negative_control_biased_policies_are_caught(biased: type[DraftModel]) -> None:
    """If this test's method could not see a bias, the tests above would prove nothing."""
    chain, prompt, n = Chain(SAMPLINGS["unfiltered"]), [0, 1, 2, 0, 1], 4

    def make_rounds(replay: Replay):
        target = TableModel(3, seed=8, scale=2.5)
        draft = MixedDraft(target, noise=0.6)
        settings = Speculation(source="draft", length=3, rule="rejection")
        rounds = make(target, draft, prompt, settings, rule=Rejection(chain, replay), budget=n)
        rounds.sources[1].__class__ = biased
        return rounds

    law = enumerate_law(make_rounds, n)
    assert variation(law, plain_law(TableModel(3, seed=8, scale=2.5), prompt, n, chain)) > 0.01
