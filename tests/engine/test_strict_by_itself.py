"""Exact texts that nobody asked for: where they cost little, decided once, and never against a person's wish."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.engine import kernels, strict
from backend.engine.cancel import CancelFlag
from backend.engine.learnt import Learnt
from backend.engine.pair import Pair
from backend.errors import EngineError, ErrorCode
from backend.protocol import Speculation
from tests.engine.rig import COUNT, OFF, load, pair, quietly, say

pytestmark = pytest.mark.model
DRAFTED = Speculation(source="draft", length=8)


@pytest.fixture
def learnt(tmp_path: Path) -> Learnt:
    return Learnt(tmp_path / "learnt.json")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """How fast the kernels are here decides no test."""
    monkeypatch.setattr(strict, "_LITTLE", 10.0)
    yield
    kernels.serve(exact=False)


def undecided(path: Path, learnt: Learnt, draft: Path | None = None, wish: bool | None = None, **more: Any) -> Any:
    """In a context that is searched in a second; a long one takes six."""
    return pair(path, draft, learnt, **{"strict": wish, "n_ctx": 512} | more)


def served() -> int:
    assert kernels._from is not None
    return kernels._from.value


def is_exact(both: Pair) -> bool:
    exact = both.target.context.exact_rows is not None
    assert exact == both.target.exact_kernels
    assert served() == (kernels.EXACT if exact else kernels.USUAL)
    return exact


def test_texts_are_exact_where_that_costs_little(smollm2: Path, learnt: Learnt) -> None:
    with undecided(smollm2, learnt, smollm2, n_ctx=1024) as both:
        assert is_exact(both)
        assert both.target.context.exact_rows == 16
        assert both.costs.measured == [1, 2, 4, 8, 16]
        plain = say(both, COUNT, speculation=OFF, max_tokens=32, reuse_cache=False)
        assert say(both, COUNT, speculation=DRAFTED, max_tokens=32, reuse_cache=False).ids == plain.ids


def test_it_is_decided_once(smollm2: Path, learnt: Learnt, monkeypatch: pytest.MonkeyPatch) -> None:
    with undecided(smollm2, learnt) as both:
        assert is_exact(both)
    monkeypatch.setattr(strict, "exact_rows", lambda *_: pytest.fail("looked for again"))
    monkeypatch.setattr(strict, "measure_passes", lambda *_: pytest.fail("measured again"))
    with undecided(smollm2, learnt) as both:
        assert is_exact(both)
        assert both.target.context.exact_rows == 16
    with undecided(smollm2, learnt, wish=True) as both:
        assert both.target.context.exact_rows == 16, "what was found serves whoever asks for it"
    with undecided(smollm2, learnt, wish=False) as both:
        assert not is_exact(both)
        say(both, COUNT, max_tokens=4)
        assert not is_exact(both)


def test_what_was_found_outlives_chats_that_do_not_ask_for_it(
    smollm2: Path, learnt: Learnt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "can_choose", lambda: False)  # then both ways share an entry
    with undecided(smollm2, learnt, wish=True) as both:
        found = both.target.context.exact_rows
    with undecided(smollm2, learnt, wish=False):
        pass
    monkeypatch.setattr(strict, "exact_rows", lambda *_: pytest.fail("looked for again"))
    with undecided(smollm2, learnt, wish=True) as both:
        assert both.target.context.exact_rows == found


@pytest.mark.parametrize(("name", "value"), [("_LITTLE", 0.0), ("exact_rows", lambda *_: 9)])
def test_what_costs_much_or_is_exact_in_part_stays_as_usual(
    smollm2: Path, learnt: Learnt, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(strict, name, value)
        with undecided(smollm2, learnt) as both:
            assert not is_exact(both)
            assert both.target.info.truncate_note == ""
    monkeypatch.setattr(strict, "measure_passes", lambda *_: pytest.fail("measured again"))
    with undecided(smollm2, learnt) as both:
        assert not is_exact(both)


@pytest.mark.parametrize("why", ["engine", "time", "streamed", "sliding window"])
def test_where_it_cannot_be_or_would_take_long_nobody_looks(
    smollm2: Path, gemma3_270m: Path, learnt: Learnt, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(strict, "exact_rows", lambda *_: pytest.fail("looked for"))
    if why == "engine":
        monkeypatch.setattr(kernels, "can_choose", lambda: False)
    if why == "time":
        monkeypatch.setattr(strict, "_PATIENCE_MS", 0.0)
    path = gemma3_270m if why == "sliding window" else smollm2
    with undecided(path, learnt, streamed=20_000_000 if why == "streamed" else 0) as both:
        assert not is_exact(both)


@pytest.mark.parametrize("phase_stopped", ["measure", "exact"])
def test_a_search_that_is_stopped_decides_nothing(smollm2: Path, learnt: Learnt, phase_stopped: str) -> None:
    flag = CancelFlag()

    def stop(phase: str, _fraction: float) -> None:
        if phase == phase_stopped:
            flag.set()

    both = Pair(load(smollm2, strict=None), learnt=learnt)
    try:
        both.measure(quietly, CancelFlag())
        with pytest.raises(EngineError) as caught:
            both.settle(stop, flag)
        assert caught.value.code is ErrorCode.CANCELLED
        assert not is_exact(both)
        assert both.target.context.sequence().length == 0, "what is left would be taken for a chat"
    finally:
        both.close()
    with undecided(smollm2, learnt) as again:
        assert is_exact(again)


def test_nobody_looks_while_the_memory_is_of_use(smollm2: Path, learnt: Learnt) -> None:
    both = Pair(load(smollm2, strict=None), learnt=learnt)
    try:
        both.measure(quietly, CancelFlag())
        say(both, COUNT, max_tokens=4)
        held = both.target.context.sequence().tokens
        both.settle(quietly, CancelFlag())
        assert not is_exact(both)
        assert both.target.context.sequence().tokens == held
        both.forget()
        both.settle(quietly, CancelFlag())
        assert is_exact(both)
    finally:
        both.close()


def test_each_pair_computes_its_own_way(smollm2: Path, learnt: Learnt) -> None:
    with undecided(smollm2, learnt, wish=True) as one, undecided(smollm2, learnt, wish=False) as other:
        for _ in range(2):
            say(one, COUNT, max_tokens=3)
            assert is_exact(one)
            say(other, COUNT, max_tokens=3)
            assert not is_exact(other)
