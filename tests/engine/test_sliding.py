"""Memories of a sliding window: what lies behind it may be gone, and going back there reads anew."""

from __future__ import annotations

from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from tests.engine.rig import fresh_row, kv_end, loaded
from tests.tiny import tiny_gemma3

TEXT = [5 + i * 7 % 300 for i in range(40)]
ROUNDING = 2e-2


def first_held(sequence: object) -> int:
    return int(llama_cpp.llama_memory_seq_pos_min(sequence.context.memory, sequence.index))  # type: ignore[attr-defined]


@pytest.mark.parametrize("beyond", [-5, 1, 8, 14, 15, 16, 30])
def test_after_a_sequence_beside_what_is_kept_is_what_was_read(tmp_path: Path, beyond: int) -> None:
    """Two in turn, one of which ends: the other grows into the gaps, over its own cells behind the window."""
    with loaded(tiny_gemma3(tmp_path / "sliding.gguf", window=16), n_ctx=512, batch=64) as model:
        sequence = model.context.sequence()
        sequence.read(TEXT)
        other = sequence.fork(1)
        for token in TEXT:
            sequence.decode([token])
            other.decode([token + 1])
        other.clear()
        for token in TEXT:
            sequence.decode([token])
        assert first_held(sequence) > 0, "llama.cpp has given cells away; if it does not any more, this may go"
        text, back_to = [*TEXT, *TEXT, *TEXT], first_held(sequence) + beyond
        kept = sequence.keep(back_to)
        assert kept in (0, back_to)
        assert kv_end(sequence) == sequence.length == kept
        row = sequence.read([*text[kept:back_to], 50])[-1].copy()
        assert np.allclose(row, fresh_row(model, [*text[:back_to], 50]), atol=ROUNDING)


@pytest.mark.parametrize(("window", "branches"), [(16, 1), (512, 63)])
def test_trees_grow_only_where_the_window_is_wider_than_their_gaps(tmp_path: Path, window: int, branches: int) -> None:
    with loaded(tiny_gemma3(tmp_path / "sliding.gguf", window=window), n_ctx=512, batch=64) as model:
        sequence = model.context.sequence()
        assert sequence.branches == branches
