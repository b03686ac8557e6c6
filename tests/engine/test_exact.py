"""Strict mode: the sizes it allows are exact, and texts are plain decoding's on the ordinary build too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.exact import exact_rows
from backend.engine.learnt import Learnt
from backend.engine.pair import Pair
from backend.errors import EngineError
from backend.protocol import Sampling, Speculation
from tests.engine.rig import COUNT, EDIT, OFF, STORY, load, loaded, pair, say

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


def agrees(both: Pair, size: int, length: int) -> bool:
    """By another way than exact.py's: other tokens, one batch, compared as bytes."""
    sequence = both.target.context.sequence()
    text = [(17 * i) % 1000 + 5 for i in range(length + size)]
    rows: list[list[bytes]] = []
    limit, both.target.context.exact_rows = both.target.context.exact_rows, None
    for step in (1, size):
        sequence.clear()
        sequence.read(text[:length])
        rows.append([])
        for i in range(length, length + size, step):
            rows[-1] += [row.tobytes() for row in np.array(sequence.decode(text[i : i + step]))]
    sequence.clear()
    both.target.context.exact_rows = limit
    return rows[0] == rows[1]


@pytest.mark.model
def test_what_is_allowed_is_exact(strict: Pair) -> None:
    allowed = strict.target.context.exact_rows
    assert allowed is not None
    assert strict.state_fields()["exact_rows"] == allowed
    for length in (10, 700):
        assert all(agrees(strict, size, length) for size in range(2, allowed + 1))
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


def test_a_model_with_one_exact_size_runs_plain_and_says_why(tiny_files: tuple[Path, Path]) -> None:
    model = load(tiny_files[0], strict=True)
    model.context.exact_rows = 1
    both = Pair(model)
    try:
        both._find_exact = lambda *_: None  # type: ignore[method-assign]
        model.info = model.info.model_copy(update={"truncate_note": "here only one-token passes are exact"})
        reply = say(both, COUNT, max_tokens=8, speculation=Speculation(source="lookup", length=4))
        assert reply.end.timings.draft_n == 0
        assert reply.end.note == "here only one-token passes are exact"
    finally:
        both.close()


def test_it_is_found_once_and_remembered(
    tiny_files: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = Learnt(tmp_path / "learnt.json")
    with pair(tiny_files[0], learnt=learnt, strict=True) as both:
        found = both.target.context.exact_rows
    monkeypatch.setattr("backend.engine.pair.exact_rows", lambda *_: pytest.fail("looked for again"))
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
    with pytest.raises(EngineError, match="flash attention"):
        load(tiny_files[0], strict=True, kv_type="q8_0")
