"""Coupled and greedy: speculation never changes a token; the plain sampler's law is the chain's."""

from __future__ import annotations

import numpy as np
import pytest

from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from backend.sampling.noise import gumbel, noise_key
from backend.speculation.verify import Coupled, make_rule
from tests.speculation.loop import PLAIN, costs, make, run
from tests.speculation.tables import MixedDraft, TableModel

SETTINGS = {
    "draft-1": Speculation(source="draft", length=1),
    "draft-4": Speculation(source="draft", length=4),
    "lookup-3": Speculation(source="lookup", length=3),
    "lookup+draft-3": Speculation(source="lookup+draft", length=3),
    "auto": Speculation(),
    "auto-lookup": Speculation(source="lookup"),
    "auto-draft": Speculation(source="draft"),
}
SAMPLING = Sampling(temperature=0.9, top_k=5, top_p=0.95, repeat_penalty=1.2)


def tokens_of(settings: Speculation, seed: int, sampling: Sampling, n: int = 8, noise: float = 0.7) -> list[int]:
    target = TableModel(8, seed=3)
    rounds = make(
        target,
        MixedDraft(target, noise),
        [1, 2, 3, 1, 2],
        settings,
        sampling=sampling,
        seed=seed,
        budget=n,
        target_costs=costs(n1=10, n2=10.5, n4=11, n8=12, n16=13),
    )
    return run(rounds, n)[0]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.timeout(600)
def test_ten_thousand_seeds(settings: str, plain_tokens: list[list[int]]) -> None:
    for seed, plain in enumerate(plain_tokens):
        assert tokens_of(SETTINGS[settings], seed, SAMPLING, n=4) == plain, f"seed {seed}"


@pytest.fixture(scope="module")
def plain_tokens() -> list[list[int]]:
    return [tokens_of(PLAIN, seed, SAMPLING, n=4) for seed in range(10_000)]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("noise", [0.0, 0.7, 50.0], ids=["perfect", "good", "random"])
def test_greedy_equals_always(settings: str, noise: float) -> None:
    sampling = Sampling(temperature=0, repeat_penalty=1.1)
    for seed in range(20):
        assert tokens_of(SETTINGS[settings], seed, sampling, 24, noise) == tokens_of(PLAIN, seed, sampling, 24)


def test_plain_law_is_the_chains() -> None:
    """Chi-square of the coupled rule's plain choice over seeds and over positions."""
    chain = Chain(Sampling(temperature=0.8, top_k=6, top_p=1.0))
    row = TableModel(12, seed=4).row([1, 2])
    law = chain.law(row, [])
    expected = np.exp(law.logp)
    for draw in (lambda i: Coupled(chain, i).choose(row, [], 7), lambda i: Coupled(chain, 7).choose(row, [], i)):
        n = 20_000
        counts = {int(t): 0 for t in law.ids}
        for i in range(n):
            counts[draw(i).token] += 1
        observed = np.array([counts[int(t)] for t in law.ids])
        chi2 = float(((observed - n * expected) ** 2 / (n * expected)).sum())
        assert chi2 < 20.5, chi2  # 5 degrees of freedom, p = 0.001


def test_positions_are_independent() -> None:
    """The joint law of two neighbouring positions is the product."""
    p = np.array([0.5, 0.3, 0.2])
    ids = np.arange(3, dtype=np.uint64)
    counts = np.zeros((3, 3))
    n = 30_000
    for seed in range(n):
        a = int((np.log(p) + gumbel(noise_key(seed, 10), ids)).argmax())
        b = int((np.log(p) + gumbel(noise_key(seed, 11), ids)).argmax())
        counts[a, b] += 1
    expected = n * np.outer(p, p)
    assert float(((counts - expected) ** 2 / expected).sum()) < 26.1  # 8 degrees of freedom, p = 0.001


def test_match_rate_is_the_theorys() -> None:
    """P(match) = sum_i 1 / sum_k max(p_k/p_i, q_k/q_i)."""
    chain = Chain(Sampling(temperature=1.0, top_k=0, top_p=1.0))
    target = TableModel(6, seed=11)
    draft = MixedDraft(target, noise=1.0)
    row_p, row_q = target.row([1, 2]), draft.row([1, 2])
    p, q = (np.exp(chain.law(r, []).logp) for r in (row_p, row_q))
    theory = sum(1.0 / np.maximum(p / p[i], q / q[i]).sum() for i in range(6))
    n = 40_000
    rule = [Coupled(chain, seed) for seed in range(n)]
    hits = sum(r.choose(row_p, [], 3).token == r.draft(row_q, [], 3).token for r in rule)
    assert hits / n == pytest.approx(theory, abs=4 * (theory * (1 - theory) / n) ** 0.5)


def test_gumbel_noise_is_standard() -> None:
    sample = gumbel(noise_key(1, 2), np.arange(200_000, dtype=np.uint64))
    assert sample.mean() == pytest.approx(0.57722, abs=0.01)
    assert sample.var() == pytest.approx(np.pi**2 / 6, abs=0.03)


def test_coupled_accepts_more_than_a_greedy_draft() -> None:
    """Coupling is what it is for: at temperature 1 the shared noise beats the draft's top choice."""
    sampling = Sampling(temperature=1.0, top_k=0, top_p=1.0)
    chain = Chain(sampling)
    target = TableModel(20, seed=21)
    draft = MixedDraft(target, noise=0.3)
    coupled = greedy = 0
    for seed in range(3000):
        rule = make_rule(chain, "coupled", seed)
        history = [seed % 20, seed // 20 % 20]
        token = rule.choose(target.row(history), history, 5).token
        coupled += token == rule.draft(draft.row(history), history, 5).token
        greedy += token == int(draft.row(history).argmax())
    assert coupled > greedy * 1.2
