"""The same seed with speculation on and off: near-ties at most (identical without llamafile's kernels)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.engine import reply as reply_module
from backend.engine.pair import Pair
from backend.protocol import Sampling, Speculation
from backend.speculation.verify import Greedy, Verdict
from tests.engine.foretold import Foretold
from tests.engine.rig import COUNT, EDIT, NEAR_TIE, OFF, STORY, Reply, first_difference, pair, say


def explained(plain: Reply, other: Reply, temperature: float) -> float | None:
    """The lead with which the plain side chose at the first difference; None when there is none.

    Up to there both sides hold the same tokens. With a and b their choices, the plain pass saw score(a) - score(b) of
    at least its margin, the batched pass the opposite of at least its own: rounding moved the difference of the two
    scores by at least the sum. Scores are logits over the temperature plus a noise that both sides share, so the sum
    times the temperature is what moved in logits.
    """
    at = first_difference(plain, other)
    if at is None:
        assert len(plain.ids) == len(other.ids)
        return None
    moved = (plain.margins[at] + other.margins[at]) * (temperature or 1.0)
    assert moved < NEAR_TIE, (
        f"token {at}: the two passes disagree by {moved:.3g} logits, which rounding does not explain"
    )
    return plain.margins[at]


SAMPLINGS = [Sampling(temperature=0), Sampling(temperature=0.8, seed=4)]
SETTINGS = [Speculation(source="draft", length=4), Speculation(source="lookup", length=8), Speculation()]


def compare_all(both: Pair, prompts: tuple[str, ...], n: int, settings: list[Speculation]) -> None:
    for prompt in prompts:
        for sampling in SAMPLINGS:
            ask = {"sampling": sampling, "max_tokens": n, "reuse_cache": False}
            plain = say(both, prompt, speculation=OFF, **ask)
            for wanted in settings:
                explained(plain, say(both, prompt, speculation=wanted, **ask), sampling.temperature)


@pytest.mark.model
@pytest.mark.parametrize("flash_attention", ["on", "off"])
def test_differences_on_the_default_library_have_a_stated_margin(smollm2: Path, flash_attention: str) -> None:
    with pair(smollm2, smollm2, flash_attention=flash_attention) as both:
        compare_all(both, (STORY, EDIT), 32, SETTINGS)


@pytest.mark.starter
def test_differences_of_the_starter_pair_have_a_stated_margin(starter_target: Path, starter_draft: Path) -> None:
    with pair(starter_target, starter_draft) as both:
        compare_all(both, (EDIT,), 20, SETTINGS[:1])


def test_negative_control_a_rule_that_believes_its_draft_fails(smollm2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A greedy rule that lets every draft token stand is caught: the test above can fail."""

    def judge(self: Greedy, row: Any, history: Any, position: int, token: int, drawn_from: Any) -> Verdict:
        return Verdict(token, self._chain.top_two(row, history)[1])

    with pair(smollm2) as both:
        plain = say(both, COUNT, speculation=OFF, max_tokens=40, reuse_cache=False)
        sure = int(np.argmax(plain.margins[1:16])) + 1  # in the first draft
        told = [token + (i == sure) for i, token in enumerate(plain.ids)]
        draft = Foretold("right", told, plain.end.start, both.target.context.n_vocab)
        monkeypatch.setattr(reply_module, "sources_of", draft.as_sources)
        wanted = Speculation(source="draft", length=16)
        explained(plain, say(both, COUNT, speculation=wanted, max_tokens=40, reuse_cache=False), 0.0)
        monkeypatch.setattr(Greedy, "judge", judge)
        reply = say(both, COUNT, speculation=wanted, max_tokens=40, reuse_cache=False)
        with pytest.raises(AssertionError, match="rounding does not explain"):
            explained(plain, reply, 0.0)
