"""A target that is larger than the memory: mapped and not repacked, its draft held, long drafts from the start."""

from __future__ import annotations

from pathlib import Path

from backend.equations import LONGEST
from backend.speculation.cost import PassCosts
from tests.engine.rig import OFF, loaded, pair, say

MODEL = "The lighthouse keeper wrote down every ship that passed."


def test_texts_are_those_of_a_target_in_memory(smollm2: Path) -> None:
    """Weights as they are in the file: other kernels, so near-ties may differ; the first tokens must not."""
    texts = []
    for streamed in (False, True):
        with pair(smollm2, smollm2, streamed=streamed) as both:
            texts.append(say(both, MODEL, max_tokens=6, speculation=OFF).ids)
    assert texts[0] == texts[1]


def test_speculation_is_exact_on_it(smollm2: Path) -> None:
    with pair(smollm2, smollm2, streamed=True) as both:
        assert both.target.streamed
        assert not both.draft.streamed
        plain = say(both, MODEL, max_tokens=24, speculation=OFF, reuse_cache=False)
        drafted = say(both, MODEL, max_tokens=24, reuse_cache=False)
        assert drafted.ids == plain.ids


def test_its_passes_are_told_apart_from_those_in_memory(smollm2: Path) -> None:
    """What passes cost is kept by this."""
    with loaded(smollm2, streamed=True, n_ctx=256) as model:
        assert model.context.kind.endswith(", streamed")


def test_a_pass_of_many_tokens_is_presumed_to_take_hardly_more() -> None:
    costs = PassCosts()
    costs.observe(1, 2000.0)
    costs.presume_flat(LONGEST + 1, 1.1)
    assert costs.at(LONGEST + 1) == 2200.0
    assert 2000.0 < costs.at(8) < 2200.0
    costs.observe(8, 3000.0)
    assert costs.at(8) > costs.at(1)
    costs.observe(LONGEST + 1, 5000.0)
    costs.presume_flat(LONGEST + 1, 1.1)
    assert costs.at(LONGEST + 1) == 5000.0, "what was measured stays"
