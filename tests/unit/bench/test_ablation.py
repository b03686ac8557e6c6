"""The replay that tells what each part earns runs over the product's own sources and policy, with every part out."""

from __future__ import annotations

import pytest

from tests.long.ablation import PARTS, replayed

COSTS = {"target": {1: 100.0, 2: 110.0, 4: 120.0, 16: 150.0}, "draft": {1: 5.0, 2: 6.0, 64: 60.0}}


def rig(hit: bool) -> dict[str, object]:
    """Two replies that never repeat themselves, guessed by the draft always or never."""
    texts = [
        {
            "id": str(i),
            "prompt": [1000 * i + n for n in range(20)],
            "ids": [1000 * i + 100 + n for n in range(60)],
            "hits": [hit] * 60,
            "margins": [5.0 if hit else 0.1] * 60,
        }
        for i in (1, 2)
    ]
    return COSTS | {"texts": texts, "max_tokens": 64}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_can_be_taken_out(part: str) -> None:
    taken_out, settings = PARTS[part]
    with taken_out():
        plain, ms, read = replayed(rig(hit=True), settings, (0, 1))
    assert plain == pytest.approx(2 * 59 * 100)
    assert (ms < 0.5 * plain) == (settings.source != "lookup"), "the draft is always right, a copy never there"
    assert (read > 0) == (settings.source != "lookup")


def test_a_draft_that_is_never_right_is_left_soon() -> None:
    plain, ms, read = replayed(rig(hit=False), PARTS["everything"][1], (0, 1))
    assert 0.6 < plain / (ms + read) < 1.0
