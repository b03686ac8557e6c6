"""The sampler chain against a slow one written from its description, and the noise that seeds stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling
from backend.sampling import chain as chain_module
from backend.sampling.chain import Chain, Law
from backend.sampling.noise import gumbel, noise_key

# -- the slow chain: lists, sorting, and one loop for each step


def slow_law(row: np.ndarray, history: list[int], s: Sampling) -> dict[int, float]:
    scores = [float(x) for x in row]
    if s.repeat_last_n and s.repeat_penalty != 1.0:
        penalty = float(np.float32(s.repeat_penalty))
        for token in set(history[-s.repeat_last_n :]):
            if token < len(scores):
                score = scores[token] / penalty if scores[token] > 0 else scores[token] * penalty
                scores[token] = float(np.float32(score))
    left = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    if s.top_k:
        left = left[: s.top_k]
    peak = scores[left[0]]
    weight = {i: math.exp(scores[i] - peak) for i in left}
    total = math.fsum(weight.values())
    if s.top_p < 1.0:
        mass, kept = 0.0, []
        for i in left:
            kept.append(i)
            mass += weight[i]
            if mass >= s.top_p * total:
                break
        left = kept
    if s.min_p > 0.0:
        left = [i for i in left if weight[i] >= s.min_p]
    scaled = {i: math.exp((scores[i] - peak) / s.temperature) for i in left}
    return {i: w / math.fsum(scaled.values()) for i, w in scaled.items()}


def mass_of_boundary(row: np.ndarray, history: list[int], s: Sampling) -> float:
    """How close the sum over kept tokens comes to top-p's limit: float32 sums may fall on either side of a tie."""
    whole = slow_law(row, history, s.model_copy(update={"top_p": 1.0, "min_p": 0.0, "temperature": 1.0}))
    running = np.cumsum(sorted(whole.values(), reverse=True))
    return float(np.abs(running - s.top_p).min())


def as_dict(law: Law) -> dict[int, float]:
    return {int(i): float(p) for i, p in zip(law.ids, np.exp(law.logp), strict=True)}


SCORE = st.floats(-30, 30, width=32)
SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([1e-4, 0.1, 0.7, 1.0, 2.0, 100.0]),
    top_k=st.sampled_from([0, 1, 2, 5, 40, 1000]),
    top_p=st.sampled_from([1e-6, 0.3, 0.9, 0.95, 1.0]),
    min_p=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    repeat_penalty=st.sampled_from([1.0, 1.1, 0.8, 3.0]),
    repeat_last_n=st.sampled_from([0, 1, 4, 64]),
)


@st.composite
def rows(draw: st.DrawFn, most: int = 400) -> np.ndarray:
    """Rows with ties (few distinct scores) and without, some ids forbidden (-inf), at least one allowed."""
    n = draw(st.integers(1, most))
    if draw(st.booleans()):
        pool = draw(st.lists(SCORE, min_size=1, max_size=4))
        row = np.array([pool[i % len(pool)] for i in draw(st.permutations(range(n)))], dtype=np.float32)
    else:
        rng = np.random.default_rng(draw(st.integers(0, 10_000)))
        row = (draw(st.sampled_from([0.1, 2.0, 10.0])) * rng.standard_normal(n)).astype(np.float32)
    for i in draw(st.lists(st.integers(0, n - 1), max_size=5)):
        row[i] = -np.inf
    if not np.isfinite(row).any():
        row[draw(st.integers(0, n - 1))] = 1.0
    return row


@settings(max_examples=400)
@given(rows(), SAMPLINGS, st.lists(st.integers(0, 500), max_size=80))
def test_law_is_the_slow_chains(row: np.ndarray, sampling: Sampling, history: list[int]) -> None:
    if sampling.top_p < 1.0 and mass_of_boundary(row, history, sampling) < 1e-5:
        return  # which side a sum lands on is then rounding, not a rule
    fast = as_dict(Chain(sampling).law(row, history))
    slow = slow_law(row, history, sampling)
    assert {i for i, p in fast.items() if p > 1e-200} == {i for i, p in slow.items() if p > 1e-200}
    for token, p in slow.items():
        assert fast.get(token, 0.0) == pytest.approx(p, rel=1e-6, abs=1e-12)


@settings(max_examples=200)
@given(rows(), SAMPLINGS)
def test_law_is_sorted_normalised_and_leaves_its_row_alone(row: np.ndarray, sampling: Sampling) -> None:
    before = row.copy()
    law = Chain(sampling).law(row, [1, 2, 3])
    assert np.array_equal(row, before)
    assert math.isclose(math.fsum(np.exp(law.logp)), 1.0, rel_tol=1e-9)
    assert len(set(law.ids.tolist())) == len(law.ids)
    if sampling.top_k or sampling.top_p < 1.0 or sampling.min_p > 0.0:
        assert all(a >= b for a, b in zip(law.logp[:-1], law.logp[1:], strict=True))
        unpenalised = sampling.repeat_penalty == 1.0 or not sampling.repeat_last_n
        if unpenalised:
            order = [(-float(row[i]), int(i)) for i in law.ids]
            assert order == sorted(order), "ties go to the lower id"


@settings(max_examples=150)
@given(st.integers(1, 3000), st.integers(1, 60), st.integers(0, 10_000), st.sampled_from([3.0, 0.02]), st.booleans())
@example(64, 1, 0, 3.0, False)
@example(65, 1, 0, 3.0, True)
@example(2560, 40, 0, 3.0, False)
@example(2624, 40, 0, 0.02, True)
def test_block_maximum_top_k_is_exact(n: int, k: int, seed: int, scale: float, best_in_tail: bool) -> None:
    """Every size around the block's, many ties (coarse scores), winners in the part that fills no block."""
    rng = np.random.default_rng(seed)
    row = np.round(scale * rng.standard_normal(n), 1).astype(np.float32)
    if best_in_tail:
        row[-1] = 50.0
    ids, values = chain_module._top(row, k)
    wanted = sorted(range(n), key=lambda i: (-row[i], i))[:k]
    assert ids.tolist() == wanted
    assert values.tolist() == [float(row[i]) for i in wanted]


def test_top_k_takes_the_short_way_on_a_large_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the whole row is sorted: that is the point of the block maxima."""
    sorted_sizes: list[int] = []
    lexsort = np.lexsort
    monkeypatch.setattr(np, "lexsort", lambda keys: sorted_sizes.append(len(keys[0])) or lexsort(keys))
    row = np.random.default_rng(0).standard_normal(151_936).astype(np.float32)
    Chain(Sampling(top_k=40)).law(row, [])
    assert len(sorted_sizes) == 1
    assert sorted_sizes[0] < 400


@pytest.mark.parametrize("n", [200, 151_936])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("at", [0, 100, -1])
@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0),
        Sampling(),
        Sampling(top_k=0, top_p=0.9),
        Sampling(top_k=0, top_p=1.0),
        Sampling(top_k=0, top_p=1.0, min_p=0.1),
        Sampling(top_k=1, top_p=1.0),
        Sampling(repeat_penalty=1.3),
    ],
    ids=["greedy", "default", "top-p", "unfiltered", "min-p", "top-1", "penalised"],
)
def test_one_bad_score_among_many_is_an_error(n: int, value: float, at: int, sampling: Sampling) -> None:
    row = np.random.default_rng(1).standard_normal(n).astype(np.float32)
    row[at] = value
    chain = Chain(sampling)
    with pytest.raises(EngineError, match=r"score of (nan|inf)") as caught:
        chain.top_two(row, [5]) if chain.greedy else chain.law(row, [5])
    assert caught.value.code is ErrorCode.BAD_LOGITS


@pytest.mark.parametrize("n", [100, 10_000])
@pytest.mark.parametrize("sampling", [Sampling(temperature=0), Sampling(), Sampling(top_k=0, top_p=1.0)])
def test_a_row_that_forbids_everything_is_an_error(n: int, sampling: Sampling) -> None:
    row = np.full(n, -np.inf, dtype=np.float32)
    chain = Chain(sampling)
    with pytest.raises(EngineError) as caught:
        chain.top_two(row, []) if chain.greedy else chain.law(row, [])
    assert caught.value.code is ErrorCode.BAD_LOGITS


def test_penalties_follow_llama_cpps_rule() -> None:
    row = np.array([2.0, -2.0, 0.0, 4.0, 1.0], dtype=np.float32)
    chain = Chain(Sampling(repeat_penalty=2.0, repeat_last_n=3))
    # the fourth-last token (3) lies outside the window; one seen twice is penalised once
    assert chain.scores(row, [3, 1, 0, 0]).tolist() == [1.0, -4.0, 0.0, 4.0, 1.0]
    assert row.tolist() == [2.0, -2.0, 0.0, 4.0, 1.0]


def test_penalties_ignore_ids_that_the_row_does_not_have() -> None:
    """A draft's row is shorter than the target's vocabulary."""
    row = np.array([2.0, 1.0], dtype=np.float32)
    assert Chain(Sampling(repeat_penalty=2.0)).scores(row, [7, 0, 9]).tolist() == [1.0, 1.0]


def test_neutral_penalties_copy_nothing() -> None:
    row = np.zeros(8, dtype=np.float32)
    assert Chain(Sampling(repeat_penalty=1.0)).scores(row, [1]) is row
    assert Chain(Sampling(repeat_penalty=2.0, repeat_last_n=0)).scores(row, [1]) is row


def test_greedy_takes_the_lowest_id_at_a_tie() -> None:
    row = np.array([1.0, 3.0, 3.0, 0.0], dtype=np.float32)
    assert Chain(Sampling(temperature=0)).top_two(row, []) == (1, 0.0)
    assert Chain(Sampling(temperature=0)).top_two(np.array([2.5], dtype=np.float32), []) == (0, math.inf)


@given(st.integers(1, 300), st.integers(0, 2**32 - 1), st.booleans())
def test_best_and_lead_equal_a_sort(n: int, seed: int, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    row = rng.integers(-3, 3, n).astype(np.float32) if coarse else rng.standard_normal(n).astype(np.float32)
    before = row.copy()
    first, *rest = sorted(range(n), key=lambda i: (-row[i], i))[:2]
    lead = float(row[first]) - float(row[rest[0]]) if rest else math.inf
    assert Chain(Sampling(temperature=0)).top_two(row, []) == (first, lead)
    assert np.array_equal(row, before)


def test_a_law_of_one_token() -> None:
    for sampling in (Sampling(top_k=1), Sampling(top_p=1e-9), Sampling(min_p=1.0), Sampling(temperature=1e-4)):
        row = np.array([0.0, 5.0, 1.0, 4.0], dtype=np.float32)
        law = Chain(sampling).law(row, [])
        assert int(law.ids[0]) == 1
        assert law.p(1) == pytest.approx(1.0)


@pytest.mark.parametrize("temperature", [1e-4, 1e-3, 100.0])
def test_extreme_temperatures_neither_overflow_nor_underflow_to_nothing(temperature: float) -> None:
    row = np.array([-500.0, 700.0, 699.0, 0.0], dtype=np.float32)
    law = Chain(Sampling(temperature=temperature, top_k=0, top_p=1.0)).law(row, [])
    p = np.exp(law.logp)
    assert np.isfinite(p).all()
    assert p.sum() == pytest.approx(1.0)
    assert p[1] == p.max()
    assert p[2] / p[1] == pytest.approx(math.exp(-1 / temperature), rel=1e-9, abs=1e-300)


def test_law_p() -> None:
    row = np.array([0.0, math.log(3.0), -np.inf], dtype=np.float32)
    law = Chain(Sampling(temperature=1.0, top_k=0, top_p=1.0)).law(row, [])
    assert law.p(1) == pytest.approx(0.75, rel=1e-6)
    assert law.p(2) == 0.0
    assert law.p(99) == 0.0
    cut = Chain(Sampling(temperature=1.0, top_k=1)).law(row, [])
    assert (cut.p(1), cut.p(0)) == (1.0, 0.0)


def test_probability_of_a_greedy_choice_is_a_description_at_temperature_one() -> None:
    row = np.array([0.0, math.log(3.0)], dtype=np.float32)
    assert Chain(Sampling(temperature=0)).probability(row, [], 1) == pytest.approx(0.75, rel=1e-6)
    assert Chain(Sampling(temperature=2.0, top_k=1)).probability(row, [], 1) == 1.0


# -- the noise: these figures are what a stored seed means; if they change, every seed in every chat means another text

KEYS = {
    (0, 0): 0x9E0160293A33AAF7,
    (1, 2): 0xCC2A9C30D4D9E843,
    (42, 1000): 0x820CD4E8C90B1514,
    (2**63 - 1, 131072): 0xB53678C1A72C606C,
}
NOISE = {
    (0, 0): ("0x1.baa7eb5da50fcp-2", "-0x1.c97cfc74340bfp-3", "0x1.b0e1e2f44a570p-3"),
    (1, 2): ("0x1.3ecb0f81f73dcp+0", "-0x1.8a38dd46fea04p-1", "0x1.01446b302ea0cp+1"),
    (42, 1000): ("0x1.5f766e571c49cp+1", "0x1.583877781544ap+1", "-0x1.16ebe31ac35a1p-1"),
    (2**63 - 1, 131072): ("0x1.fb229745e388bp-2", "0x1.c2d25650fb3abp-4", "0x1.0a25606e36b45p+0"),
}


@pytest.mark.parametrize("at", KEYS)
def test_golden_noise(at: tuple[int, int]) -> None:
    key = noise_key(*at)
    assert key == KEYS[at]
    noise = gumbel(key, np.array([0, 1, 151_643], dtype=np.uint64))
    # integers are exact everywhere; logarithms may differ in the last bit between processors
    assert noise.tolist() == pytest.approx([float.fromhex(x) for x in NOISE[at]], rel=1e-13)


@given(st.integers(0, 2**63 - 1), st.integers(0, 10**7), st.lists(st.integers(0, 300_000), min_size=1, max_size=50))
def test_noise_is_a_pure_function_of_seed_position_and_token(seed: int, position: int, tokens: list[int]) -> None:
    """Neither order nor company matters: a token's noise is the same in a law of 2 and of 150,000."""
    ids = np.array(tokens, dtype=np.uint64)
    key = noise_key(seed, position)
    together = gumbel(key, ids)
    assert np.isfinite(together).all()
    assert gumbel(key, ids[::-1].copy()).tolist() == pytest.approx(together[::-1].tolist(), rel=1e-13)
    alone = [float(gumbel(key, ids[i : i + 1])[0]) for i in range(len(ids))]
    assert alone == pytest.approx(together.tolist(), rel=1e-13)
    assert np.array_equal(ids, np.array(tokens, dtype=np.uint64)), "the ids are left alone"


def test_neighbouring_seeds_positions_and_tokens_share_nothing() -> None:
    keys = {noise_key(seed, position) for seed in range(300) for position in range(300)}
    assert len(keys) == 90_000
    ids = np.arange(5000, dtype=np.uint64)
    samples = [gumbel(noise_key(s, p), ids) for s, p in ((5, 5), (5, 6), (6, 5), (6, 4))]
    correlations = np.corrcoef(samples) - np.eye(4)
    assert np.abs(correlations).max() < 0.06  # four standard errors
