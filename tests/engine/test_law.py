"""The law of sampled text, with real models: what rounds emit is distributed as the target's own chain says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.pair import Pair
from backend.engine.quantize import quantize
from backend.engine.sequence import Sequence
from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from tests.engine.rig import pair
from tests.speculation.loop import make

SAMPLING = Sampling(temperature=1.3, top_k=4, top_p=0.98)
CHAIN = Chain(SAMPLING)
TEXT = "The old lighthouse keeper opened the door and saw"
N = 500
"""Replies. Of three tokens: the first comes of the prompt's row, the others of rounds with drafts of two."""

Chances = dict[tuple[int, ...], float]


@pytest.fixture(scope="module")
def coarse(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """SmolLM2 with a coarser copy of itself as the draft: laws that are alike and not the same."""
    copy = tmp_path_factory.mktemp("law") / "coarse.gguf"
    quantize(smollm2, copy, "Q2_K", lambda fraction: None, CancelFlag())
    with pair(smollm2, copy) as both:
        yield both


def law_of(model: Sequence, prompt: list[int]) -> Chances:
    """The chance of every reply of three tokens, token by token from the model's rows."""
    found: Chances = {(): 1.0}
    for _ in range(3):
        longer: Chances = {}
        for said, chance in found.items():
            history = [*prompt, *said]
            model.truncate(len(prompt) - 1)
            law = CHAIN.law(model.read(history[len(prompt) - 1 :])[-1], history)
            longer |= {(*said, int(t)): chance * float(np.exp(p)) for t, p in zip(law.ids, law.logp, strict=True)}
        found = longer
    return found


def chi_square(seen: Counter[tuple[int, ...]], law: Chances) -> tuple[float, float]:
    """The statistic, and what one in a thousand such counts exceeds (Wilson and Hilferty 1931); rare cells together."""
    expected = {said: N * chance for said, chance in law.items() if N * chance >= 5}
    counts = [*expected.values(), N - sum(expected.values())]
    observed = [*(seen[said] for said in expected), N - sum(seen[said] for said in expected)]
    if counts[-1] < 5:
        counts[-2:], observed[-2:] = [sum(counts[-2:])], [sum(observed[-2:])]
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, counts, strict=True))
    spread = 2 / (9 * (len(counts) - 1))
    return statistic, (len(counts) - 1) * (1 - spread + 3.09 * spread**0.5) ** 3


@pytest.mark.model
@pytest.mark.parametrize("rule", ["rejection", "coupled"])
def test_law_is_the_targets(coarse: Pair, rule: str) -> None:
    assert coarse.draft is not None
    target, draft = coarse.target.context.sequence(), coarse.draft.context.sequence()
    prompt = coarse.target.vocab.tokenize(TEXT, parse_special=False)
    for model in (target, draft):
        model.clear()
        model.read(prompt)
    law, other = law_of(target, prompt), law_of(draft, prompt)
    target.truncate(len(prompt) - 1)
    row = target.read(prompt[-1:])[-1].copy()
    settings = Speculation(source="draft", length=2, rule=rule)
    seen: Counter[tuple[int, ...]] = Counter()
    accepted = 0
    for seed in range(N):
        target.truncate(len(prompt))
        rounds = make(target, draft, prompt, settings, sampling=SAMPLING, seed=seed, budget=4)
        rounds.first(row)
        while len(rounds.history) < len(prompt) + 3:
            accepted += rounds.round().accepted
        seen[tuple(rounds.history[len(prompt) : len(prompt) + 3])] += 1
    statistic, most = chi_square(seen, law)
    assert statistic < most
    assert 0.3 * N < accepted < 1.9 * N  # drafts stood, and fell
    statistic, most = chi_square(seen, other)
    assert statistic > most, "the draft's own law would have passed, so this shows nothing"
