"""Drafts from what the target has said: only where checking a token costs next to nothing, and never another text."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.engine.pair import Pair
from backend.engine.reply import sources_of
from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from backend.speculation.cost import PassCosts
from backend.speculation.verify import make_rule
from tests.engine.rig import OFF, pair, say

pytestmark = pytest.mark.model
PROMPT = "Tell me about the sea, the tides and the moon."


class Steady(PassCosts):
    """Costs that stay as they were told: how long passes take here decides no test."""

    def observe(self, n: int, ms: float) -> None:
        """Nothing to learn."""


def costing(both: Pair, two: float) -> None:
    costs = Steady()
    costs.restore({"0": {"unit": 50.0, "ratio": {"1": 1.0, "2": two, "16": two + 0.1}}})
    both.costs = costs


def named(both: Pair) -> list[str]:
    rule = make_rule(Chain(Sampling(temperature=0)), "coupled", 1)
    return [source.name for source in sources_of(both, rule, both.learner(""))]


def test_only_where_checking_costs_next_to_nothing(smollm2: Path, no_llamafile: None) -> None:
    with pair(smollm2) as both:
        costing(both, 1.5)
        assert named(both) == ["lookup"]
        costing(both, 1.02)
        assert named(both) == ["lookup", "lookahead"]
        plain = say(both, PROMPT, max_tokens=96, speculation=OFF, reuse_cache=False, ignore_eos=True)
        drafted = say(both, PROMPT, max_tokens=96, speculation=Speculation(), reuse_cache=False, ignore_eos=True)
        assert drafted.ids == plain.ids
        assert drafted.end.timings.by_source["lookahead"][1] > 0
        fixed = say(both, PROMPT, max_tokens=32, speculation=Speculation(length=3), reuse_cache=False)
        assert "lookahead" not in fixed.end.timings.by_source
