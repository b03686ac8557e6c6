"""Strict mode: the sizes it allows are exact, and texts are plain decoding's on the ordinary build too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from backend.engine import kernels
from backend.engine.cancel import CancelFlag
from backend.engine.exact import exact_rows
from backend.engine.learnt import Learnt
from backend.engine.pair import Pair
from backend.errors import EngineError
from backend.protocol import ONLY_SINGLE, Message, Sampling, Speculation
from tests.engine.rig import COUNT, EDIT, OFF, STORY, both_ways, load, loaded, pair, say

SAMPLINGS = {"greedy": Sampling(temperature=0), "warm": Sampling(temperature=0.7, seed=1)}
SETTINGS = [
    Speculation(source="draft", length=16),
    Speculation(source="lookup", length=8),
    Speculation(source="auto"),
]


@pytest.fixture(scope="module")
def strict(smollm2: Path) -> Iterator[Pair]:
    with pair(smollm2, smollm2, strict=True, n_ctx=1024) as both:
        yield both


def rows_of(both: Pair, length: int, n: int, step: int) -> list[bytes]:
    """``n`` tokens after ``length`` others, ``step`` a pass, in another way than exact.py's: other tokens, as bytes."""
    sequence = both.target.context.sequence()
    text = [(17 * i) % 1000 + 5 for i in range(length + n)]
    limit, both.target.context.exact_rows = both.target.context.exact_rows, None
    kernels.serve(both.target.exact_kernels)  # another pair's reply may have chosen others
    sequence.clear()
    sequence.read(text[:length])
    rows = [row.tobytes() for i in range(length, length + n, step) for row in sequence.decode(text[i : i + step])]
    sequence.clear()
    both.target.context.exact_rows = limit
    return rows


@pytest.mark.model
def test_what_is_allowed_is_exact(strict: Pair) -> None:
    allowed = strict.target.context.exact_rows
    assert allowed is not None
    assert strict.state_fields()["exact_rows"] == allowed
    for length, sizes in ((10, range(2, allowed + 1)), (700, {2, 5, allowed})):
        singles = rows_of(strict, length, allowed, 1)
        for size in sizes:
            assert size > allowed or rows_of(strict, length, size, size) == singles[:size]
    assert strict.target.context.sequence().max_rows == allowed


@pytest.mark.model
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("prompt", [COUNT, EDIT, STORY], ids=["count", "edit", "story"])
def test_strict_texts_are_plain_decodings(strict: Pair, prompt: str, sampling: str) -> None:
    ask = {"sampling": SAMPLINGS[sampling], "max_tokens": 32, "reuse_cache": False}
    plain = say(strict, prompt, speculation=OFF, **ask)
    for settings in SETTINGS:
        reply = say(strict, prompt, speculation=settings, **ask)
        assert reply.ids == plain.ids, settings
        assert all(len(r.proposed) < (strict.target.context.exact_rows or 0) for r in reply.rounds)


@pytest.mark.model
def test_the_rejection_rule_would_draw_anew_and_is_not_used(strict: Pair) -> None:
    """Rejection keeps the law of texts, not the texts."""
    ask = {"sampling": Sampling(temperature=1.0, seed=5), "max_tokens": 32, "reuse_cache": False}
    plain = say(strict, STORY, speculation=OFF, **ask)
    reply = say(strict, STORY, speculation=Speculation(source="draft", length=3, rule="rejection"), **ask)
    assert reply.ids == plain.ids
    assert all(token.margin is not None for token in reply.tokens), "rejection knows no leads"


@pytest.mark.model
def test_compare_reads_both_texts_from_one_place_in_memory(strict: Pair) -> None:
    """Another sequence lies elsewhere in the cache, where attention sums in another order."""
    result, _ = both_ways(strict, COUNT, speculation=Speculation(source="draft", length=3), max_tokens=40)
    assert not result.interleaved
    assert result.identical


@pytest.mark.model
def test_a_second_turn_starts_from_the_same_memory_with_and_without_drafts(strict: Pair) -> None:
    seconds = []
    for settings in (OFF, Speculation(source="draft", length=3)):
        strict.forget()
        first = say(strict, COUNT, speculation=settings, max_tokens=21)
        said = Message(role="assistant", content=first.text)
        talk = [Message(role="user", content=COUNT), said, Message(role="user", content="And then?")]
        seconds.append(say(strict, talk, speculation=settings, max_tokens=24))
    assert seconds[0].ids == seconds[1].ids
    assert seconds[0].end.timings.cache_n == seconds[1].end.timings.cache_n > 20


def test_a_size_that_is_not_exact_is_found(tiny_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: a context whose larger passes differ in one bit of one row."""
    with loaded(tiny_files[0]) as model:
        sequence = model.context.sequence()
        honest = type(sequence).decode

        def decode(self, tokens):
            rows = honest(self, tokens)
            if len(tokens) < 4:
                return rows
            rows = rows.copy()
            rows[-1, 3] = np.nextafter(rows[-1, 3], np.float32(np.inf))
            return rows

        whole = exact_rows(model, lambda _: None, CancelFlag())
        monkeypatch.setattr(type(sequence), "decode", decode)
        assert exact_rows(model, lambda _: None, CancelFlag()) == min(3, whole)


def test_a_model_with_one_exact_size_runs_plain_and_says_why(
    tiny_files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.engine.strict.exact_rows", lambda *_: 1)
    with pair(tiny_files[0], strict=True) as both:
        reply = say(both, COUNT, max_tokens=8, speculation=Speculation(source="lookup", length=4))
        assert reply.end.timings.draft_n == 0
        assert reply.end.note == both.target.info.truncate_note == ONLY_SINGLE


def test_what_was_found_while_less_could_be_tried_is_looked_for_again(
    tiny_files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How many tokens can be rolled back may depend on free memory: all of few is no limit, some of many is."""
    learnt, asked = Learnt(tmp_path / "learnt.json"), []

    def load_with(most: int, found: int) -> int | None:
        monkeypatch.setattr("backend.engine.strict.most_tried", lambda _: most)
        monkeypatch.setattr("backend.engine.strict.exact_rows", lambda *_: asked.append(most) or found)
        with pair(tiny_files[0], learnt=learnt, strict=True) as both:
            return both.target.context.exact_rows

    assert load_with(4, 4) == 4
    assert load_with(16, 9) == 9
    assert load_with(16, 0) == 9
    assert load_with(4, 0) == 4, "of what is known to be exact, as much as can be rolled back"
    assert load_with(16, 0) == 9
    assert asked == [4, 16]


def test_it_is_found_once_and_remembered(
    tiny_files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(tiny_files[0], learnt=learnt, strict=True) as both:
        found = both.target.context.exact_rows
    monkeypatch.setattr("backend.engine.strict.exact_rows", lambda *_: pytest.fail("looked for again"))
    with pair(tiny_files[0], learnt=learnt, strict=True) as both:
        assert both.target.context.exact_rows == found
    with pair(tiny_files[0], learnt=learnt) as both:
        assert both.target.context.exact_rows is None


def test_looking_for_it_can_be_stopped(tiny_files: tuple[Path, Path]) -> None:
    flag = CancelFlag()
    flag.set()
    with loaded(tiny_files[0]) as model, pytest.raises(EngineError, match="Stopped"):
        exact_rows(model, lambda _: None, flag)


def test_strict_needs_an_unquantised_cache(tiny_files: tuple[Path, Path]) -> None:
    with pytest.raises(EngineError, match="exact texts"):
        load(tiny_files[0], strict=True, kv_type="q8_0")
