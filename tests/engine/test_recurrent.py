"""States that each token overwrites: what can be gone back to is right to the last row, and the rest is refused."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from backend.engine import native
from backend.engine.cancel import CancelFlag
from backend.engine.context import Context
from backend.engine.sequence import Sequence
from backend.engine.state import affordable
from backend.errors import EngineError, ErrorCode
from tests import tiny
from tests.engine.rig import kv_end, loaded
from tests.tiny_recurrent import PLAIN, SNAPSHOTS, tiny_nemotron

TEXT = [5 + (7 * i * i + 31 * i) % 300 for i in range(400)]
EXACTLY = {"flash_attention": "off", "kv_type": "f32"}
CLOSE = 1e-4
"""Rounding moved a logit by 0.00001 at most so; a state one token off by 5 and more."""


@pytest.fixture(params=SNAPSHOTS)
def hybrid(request: pytest.FixtureRequest, tiny_dir: Path) -> Path:
    write = SNAPSHOTS[request.param]
    return write(tiny_dir / f"state-{write.__name__}.gguf")


@pytest.fixture(params=SNAPSHOTS | PLAIN)
def stateful(request: pytest.FixtureRequest, tiny_dir: Path) -> Path:
    write = (SNAPSHOTS | PLAIN)[request.param]
    return write(tiny_dir / f"state-{write.__name__}.gguf")


@pytest.fixture
def two(hybrid: Path) -> Iterator[tuple[Sequence, Sequence]]:
    """The sequence under test, and one of another context that always reads from nothing."""
    with loaded(hybrid, **EXACTLY) as model, loaded(hybrid, **EXACTLY) as other:
        yield model.context.sequence(), other.context.sequence()


def gap(sequence: Sequence, fresh: Sequence, then: list[int]) -> float:
    """How far the row after ``then`` is from that of the same tokens read from nothing, in logits."""
    fresh.clear()
    tokens = [*sequence.tokens, *then]
    row = sequence.read(then)[-1].copy()
    return float(np.abs(row - fresh.read(tokens)[-1]).max())


def one_by_one(sequence: Sequence, tokens: list[int]) -> None:
    for token in tokens:
        sequence.append([token], 1)


# -- what a load finds out


def test_the_probe_tells_memories_apart(stateful: Path) -> None:
    with loaded(stateful) as model:
        if stateful.stem.removeprefix("state-tiny_") in ("mamba", "jamba"):
            assert (model.context.max_rollback, model.info.can_truncate, model.info.snapshot_memory) == (0, False, 0)
            assert "cannot be rolled back" in model.info.truncate_note
        else:
            assert (model.context.max_rollback, model.info.can_truncate) == (16, True)
            assert "by 16 tokens only; the snapshots for it take" in model.info.truncate_note
            assert model.context.sequence().max_rows == 17


def test_attention_can_be_cut_anywhere_whatever_is_asked_for(tiny_dir: Path) -> None:
    with loaded(tiny.tiny_llama(tiny_dir / "state-llama.gguf"), snapshots=9) as model:
        assert (model.context.max_rollback, model.context.snapshots, model.info.truncate_note) == (None, 0, "")
        sequence = model.context.sequence()
        one_by_one(sequence, TEXT[:30])
        sequence.truncate(3)
        assert kv_end(sequence) == sequence.keep(9) == 3


@pytest.mark.parametrize("asked", [0, 1, 5, 24])
def test_as_many_snapshots_as_asked_for(hybrid: Path, asked: int) -> None:
    with loaded(hybrid, snapshots=asked, batch=32) as model:
        assert model.context.snapshots == model.context.max_rollback == asked
        assert model.info.can_truncate == bool(asked)
        if not asked:
            assert "no memory is set aside" in model.info.truncate_note


def test_no_more_than_llama_cpp_survives(tmp_path: Path) -> None:
    """It aborts where a slice is not longer than the snapshots and one more."""
    with loaded(tiny_nemotron(tmp_path / "most.gguf"), snapshots=48, batch=32) as model:
        assert model.context.max_rollback == 30
        model.context.sequence().read(TEXT)


def test_the_memory_that_is_counted_is_the_memory_that_llama_cpp_takes(tmp_path: Path) -> None:
    said: list[str] = []
    native.install_log(lambda level, text: said.append(text))
    try:
        with loaded(tiny_nemotron(tmp_path / "m.gguf")) as model:
            counted = model.info.snapshot_memory
    finally:
        native.install_log(lambda level, text: None)
    sizes = [float(m[1]) for line in said if (m := re.search(r"RS buffer size = +([\d.]+) MiB", line))]
    assert counted * 17 / 16 == pytest.approx(sizes[-1] * 2**20, abs=0.006 * 2**20)
    assert counted > 300_000


def test_snapshots_are_bounded_by_the_memory_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tiny_nemotron(tmp_path / "m.gguf")
    with loaded(path) as model:
        each = model.info.snapshot_memory // 16
    for free, expected in ((8 * 5 * each, 5), (7 * each, 0)):
        monkeypatch.setattr("backend.engine.contexts.free_memory", lambda free=free: free)
        with loaded(path) as model:
            assert model.context.max_rollback == expected
            assert model.info.snapshot_memory == expected * each
            assert ("by 5 tokens only" if expected else "no memory is set aside") in model.info.truncate_note
    assert affordable(75_000_000, 16_000_000_000) == 16
    assert affordable(75_000_000, 4_000_000_000) == 6


# -- going back


def test_after_every_rollback_the_state_is_that_of_a_fresh_prefill(two: tuple[Sequence, Sequence]) -> None:
    """Rounds of every size, cut back by every amount, on and on: never a row off."""
    sequence, fresh = two
    rng = np.random.default_rng(3)
    sequence.read(TEXT[:40])
    for _ in range(60):
        k = int(rng.integers(0, 17))
        sequence.decode([int(t) for t in rng.integers(5, 300, k + 1)])
        sequence.truncate(sequence.length - int(rng.integers(0, k + 1)))
        assert kv_end(sequence) == sequence.length
        assert gap(sequence, fresh, [int(rng.integers(5, 300))]) < CLOSE
        if sequence.length > 400:
            sequence.keep(0)
            sequence.read(TEXT[:40])


@pytest.mark.parametrize("back", [1, 3, 8, 16])
def test_the_check_sees_a_wrong_state(two: tuple[Sequence, Sequence], back: int) -> None:
    """The negative control: llama.cpp itself says yes after one-token passes, and what it goes back to is wrong."""
    sequence, fresh = two
    sequence.read(TEXT[:40])
    one_by_one(sequence, TEXT[40:70])
    memory = sequence.context.memory
    assert llama_cpp.llama_memory_seq_rm(memory, 0, 70 - back, -1)
    del sequence.tokens[70 - back :]
    assert kv_end(sequence) == 70 - back, "nothing tells"
    assert gap(sequence, fresh, TEXT[100:101]) > 1


def test_what_no_snapshot_was_written_for_is_refused(two: tuple[Sequence, Sequence]) -> None:
    sequence, fresh = two

    def refused(n: int) -> None:
        with pytest.raises(EngineError) as caught:
            sequence.truncate(n)
        assert caught.value.code is ErrorCode.TRUNCATE_FAILED

    sequence.read(TEXT[:40])
    refused(23)  # one more than there are snapshots
    sequence.truncate(24)
    refused(23)  # once a pass
    sequence.append([9], 1)
    refused(24)  # one token, and the state before it is gone
    sequence.append([9, 10, 11], 1)
    refused(25)
    sequence.truncate(26)
    assert gap(sequence, fresh, [12]) < CLOSE, "refusing changed nothing"
    assert sequence.keep(20) == 0
    assert sequence.length == kv_end(sequence) == 0


def test_a_mark_can_be_come_back_to_from_anywhere(stateful: Path) -> None:
    with loaded(stateful, **EXACTLY) as model, loaded(stateful, **EXACTLY) as other:
        sequence, fresh = model.context.sequence(), other.context.sequence()
        sequence.read(TEXT[:50])
        sequence.mark()
        for n in (1, 20, 50):
            one_by_one(sequence, TEXT[60 : 60 + n])
            assert sequence.keep(50 + n // 2) == kv_end(sequence) == 50
            assert gap(sequence, fresh, TEXT[200:203]) < CLOSE
            assert sequence.keep(50) == 50
        assert sequence.keep(49) == 0
        sequence.read(TEXT[:60])
        one_by_one(sequence, TEXT[60:70])
        assert sequence.keep(65) == 0, "the mark went with what it was on"


def test_a_mark_is_taken_right_after_a_rollback_too(two: tuple[Sequence, Sequence]) -> None:
    sequence, fresh = two
    sequence.read(TEXT[:50])
    sequence.truncate(45)
    sequence.mark()
    one_by_one(sequence, TEXT[50:60])
    assert sequence.keep(50) == 45
    assert gap(sequence, fresh, TEXT[200:203]) < CLOSE


@pytest.mark.parametrize("marked", [False, True])
def test_a_pass_stopped_in_its_middle_leaves_nothing_wrong(stateful: Path, marked: bool) -> None:
    """Some layers' states are overwritten by then, and llama.cpp rolls back to a snapshot that was never written."""
    with loaded(stateful, **EXACTLY) as model, loaded(stateful, **EXACTLY) as other:
        sequence, fresh = model.context.sequence(), other.context.sequence()
        for node in (1, 20, 35):
            sequence.clear()
            sequence.read(TEXT[:50])
            if marked:
                sequence.mark()
            sequence.append(TEXT[50:60], 1)
            stop_at(model.context, node)
            with pytest.raises(EngineError) as caught:
                sequence.append(TEXT[60:63], 1)
            assert caught.value.code is ErrorCode.CANCELLED
            model.context.abort_on(CancelFlag())
            assert sequence.length == kv_end(sequence) == (50 if marked else 0)
            assert gap(sequence, fresh, TEXT[100:104]) < CLOSE


def test_what_llama_cpp_leaves_of_a_stopped_pass_is_wrong(
    two: tuple[Sequence, Sequence], hybrid: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control of the test above: its positions say that all is as before."""
    sequence, fresh = two
    monkeypatch.setattr(sequence, "_resynchronise", lambda: None)
    sequence.read(TEXT[:50])
    sequence.append(TEXT[50:60], 1)
    stop_at(sequence.context, 20)
    with pytest.raises(EngineError):
        sequence.append(TEXT[60:63], 1)
    sequence.context.abort_on(CancelFlag())
    assert kv_end(sequence) == sequence.length == 60
    assert gap(sequence, fresh, TEXT[100:104]) > 0.05


def stop_at(context: Context, node: int) -> None:
    """Abort the passes of this context from the n-th node of a graph on."""
    left = [node]

    def abort(_data: object) -> bool:
        left[0] -= 1
        return left[0] <= 0

    callback = llama_cpp.ggml_abort_callback(abort)
    context.stop = callback  # type: ignore[attr-defined]  # it must outlive this call
    llama_cpp.llama_set_abort_callback(context._pointer, callback, ctypes.c_void_p(0))


def test_a_flag_set_before_a_pass_costs_nothing(two: tuple[Sequence, Sequence]) -> None:
    sequence, fresh = two
    sequence.read(TEXT[:50])
    sequence.context.flag.set()
    with pytest.raises(EngineError, match="Stopped"):
        sequence.append([9], 1)
    sequence.context.abort_on(CancelFlag())
    assert sequence.length == 50
    assert gap(sequence, fresh, [9]) < CLOSE
