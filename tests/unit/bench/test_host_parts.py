"""The host's parts of a round: times within times, and the loop over a made-up text."""

from __future__ import annotations

import time
from itertools import pairwise

from backend.protocol import Sampling
from tests.long.host_parts import Parts, measured, text_of


class Nested:
    def outer(self) -> None:
        self.inner()

    def inner(self) -> None:
        until = time.perf_counter() + 0.02
        while time.perf_counter() < until:
            pass


def test_what_a_part_calls_counts_there() -> None:
    parts, thing = Parts(), Nested()
    parts.watch("inner", thing, "inner")
    parts.watch("outer", thing, "outer")
    thing.outer()
    assert parts.seconds["inner"] >= 0.02
    assert parts.seconds["outer"] < parts.seconds["inner"]


def test_a_text_repeats_itself() -> None:
    text = text_of(4000)
    pairs = list(pairwise(text))
    assert len(text) == 4000
    assert len(set(pairs)) < 0.7 * len(pairs)


def test_the_products_own_loop_is_measured_and_drafts() -> None:
    found, tokens = measured(300, 12, Sampling(temperature=0.0, seed=1))
    assert {"scores", "policy", "lookup", "draft model", "the round itself"} <= set(found)
    assert tokens > 1
