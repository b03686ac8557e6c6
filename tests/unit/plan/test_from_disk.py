"""Which layers are read from disk, and what the plan makes of them."""

from __future__ import annotations

import itertools

from backend.plan.from_disk import layers_from_disk


def test_what_is_read_from_disk_is_enough_and_spread() -> None:
    sizes = dict.fromkeys(range(40), 100)
    for missing in (1, 900, 2000, 3400):
        chosen = layers_from_disk(sizes, missing)
        assert 0 not in chosen
        assert chosen == sorted(set(chosen))
        assert 100 * len(chosen) - 300 >= missing
        gaps = [b - a for a, b in itertools.pairwise(chosen)]
        assert max(gaps, default=0) - min(gaps, default=0) <= 1
    assert layers_from_disk(sizes, 10**6) == list(range(1, 40)), "all of them, where even that is not enough"
    assert layers_from_disk({0: 100}, 50) == []
    assert layers_from_disk(sizes, 0) == []
