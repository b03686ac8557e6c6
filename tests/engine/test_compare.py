"""Both ways at once, over a real pair."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.pair import Pair
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, PromptProgress, Sampling, Speculation
from tests.engine.rig import (
    COUNT,
    DRAFT_4,
    LOOKUP_4,
    OFF,
    STORY,
    both_ways,
    pair,
    request,
    same_up_to_near_ties,
    say,
)
from tests.tiny_recurrent import tiny_hybrid, tiny_mamba


@pytest.mark.parametrize("n_ctx", [256, 1024], ids=["one after the other", "interleaved"])
@pytest.mark.parametrize("settings", [DRAFT_4, LOOKUP_4, Speculation()], ids=["draft", "lookup", "auto"])
def test_compare(smollm2: Path, n_ctx: int, settings: Speculation) -> None:
    with pair(smollm2, smollm2, n_ctx=n_ctx) as both:
        sampling = Sampling(temperature=0.7, seed=4)
        result, events = both_ways(both, STORY, sampling=sampling, speculation=settings, max_tokens=110)
        assert result.interleaved == (n_ctx == 1024)
        assert result.plain.draft_n == 0
        assert result.plain.plain == result.plain.predicted_n
        assert result.speculation.draft_n > 0 or settings.length == "auto"
        assert result.seed == 4
        assert result.identical == (result.difference is None) == (result.plain_text == result.speculation_text)
        if result.difference:
            assert result.difference.margin_plain < 0.5 / 0.7
            assert result.difference.plain_id != result.difference.other_id
            assert "near-tie" in result.difference.explanation
        alone = say(both, STORY, sampling=sampling, speculation=OFF, max_tokens=110, reuse_cache=False)
        assert alone.text[:20] == result.plain_text[:20]
        texts = {"plain": "", "speculation": ""}
        for side, event in events:
            if isinstance(event, Delta):
                texts[side] += event.text
        assert texts == {"plain": result.plain_text, "speculation": result.speculation_text}
        assert sum(isinstance(e, Finished) for _, e in events) == 2
        assert isinstance(events[0][1], PromptProgress)
        assert both.target.context.sequence(1).length == 0, "the second sequence is given back"


def test_compare_gives_each_side_what_it_would_have_alone(smol: Pair, passes: list) -> None:
    """The plain side does not cut the draft's memory behind the other side's back."""
    result, _ = both_ways(smol, COUNT, speculation=DRAFT_4, max_tokens=80)
    assert result.interleaved
    reads = [(position, n) for context, position, n in passes if context is smol.draft.context]
    decoded = sum(n for _, n in reads)
    assert decoded <= result.speculation.draft_prompt_n + result.speculation.proposed + 2 * result.speculation.passes
    assert max(n for _, n in reads[2:]) <= 2


def test_compare_sampled_by_rejection_says_that_texts_differ_by_chance(smol: Pair) -> None:
    wanted = Speculation(source="draft", length=4, rule="rejection")
    result, _ = both_ways(smol, STORY, sampling=Sampling(temperature=1.5, seed=4), speculation=wanted, max_tokens=40)
    assert not result.identical
    assert "by chance" in result.difference.explanation


@pytest.mark.parametrize("kind", [tiny_mamba, tiny_hybrid], ids=["recurrent", "hybrid"])
def test_compare_on_memories_that_do_not_roll_back(tiny_dir: Path, kind: Callable[..., Path]) -> None:
    path = kind(tiny_dir / f"pair-{kind.__name__}.gguf")
    with pair(path, path) as both:
        result, _ = both_ways(both, COUNT, speculation=Speculation(length=3), max_tokens=40, ignore_eos=True)
        assert not result.interleaved
        assert result.plain.predicted_n == result.speculation.predicted_n == 40
        if kind is tiny_mamba:
            assert result.identical


def test_every_difference_under_filters_is_explained(smol: Pair) -> None:
    """At the edge of top-p a pass that rounds otherwise has another token to choose from, whatever the lead."""
    explained = []
    for seed in range(40):
        sampling = Sampling(temperature=1.2, top_k=40, top_p=0.7, seed=seed)
        result, _ = both_ways(smol, STORY, sampling=sampling, speculation=LOOKUP_4, max_tokens=60)
        if result.difference is not None:
            explained.append(result.difference.explanation)
        if len(explained) == 3:
            break
    assert explained
    assert not [why for why in explained if "Unexplained" in why]


def test_compare_cancelled(smol: Pair) -> None:
    flag = CancelFlag()
    events = smol.compare(request(STORY, speculation=DRAFT_4, max_tokens=60), flag)
    seen = 0
    for _, event in events:
        seen += isinstance(event, Delta)
        if seen == 8:
            flag.set()
            break
    with pytest.raises(EngineError) as caught:
        next(events)
    assert caught.value.code is ErrorCode.CANCELLED
    assert smol.target.context.sequence(1).length == 0
    plain = say(smol, STORY, speculation=OFF, max_tokens=20)
    same_up_to_near_ties(say(smol, STORY, speculation=OFF, max_tokens=20, reuse_cache=False), plain)
