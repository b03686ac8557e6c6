"""Measuring passes at load, within a second and a half; replies measure on from there."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from backend.engine.cancel import CancelFlag
from backend.engine.load import LoadedModel, Progress
from backend.equations import SLICE
from backend.protocol import CostTable
from backend.speculation.cost import PassCosts

SIZES = (1, 2, 4, 8, 16)
_ON_CARD = (1, 2, 4, 8, 9, 16)
"""A card's kernels for few columns go up to 8: what lies beyond that cliff is no mean of 8 and 16."""
_SECONDS = 1.5
_HELD = 16
"""Tokens in memory while measuring."""


def sizes_for(model: LoadedModel) -> tuple[int, ...]:
    """Of passes that are worth measuring for this model."""
    return _ON_CARD if model.info.gpu_layers else SIZES


def measure_passes(
    model: LoadedModel, costs: PassCosts, sizes: Sequence[int], rows: int, progress: Progress, flag: CancelFlag
) -> None:
    """Time up to three passes of each size, with ``rows`` logits rows (0 = one for every token); clears the memory."""
    sequence = model.context.sequence()
    sizes = [n for n in sizes if rows or n <= sequence.max_rows]
    token = model.vocab.bos or 0
    model.context.abort_on(flag)
    sequence.clear()
    sequence.read([token] * _HELD)
    sequence.mark()
    deadline = time.perf_counter() + _SECONDS
    best: dict[int, float] = {}
    for turn in range(3):
        for i, n in enumerate(sizes):
            if best and time.perf_counter() + 1e-3 * max(best.values()) > deadline:
                break  # at least one pass, and no other that would end too late
            began = time.perf_counter()
            sequence.append([token] * n, rows or n)
            ms = 1e3 * (time.perf_counter() - began)
            # the least of few: whatever else the machine does can only add; later passes correct it by medians
            best[n] = min(ms, best.get(n, ms))
            sequence.keep(_HELD)
            progress("measure", (turn * len(sizes) + i + 1) / (3 * len(sizes)))
    sequence.clear()
    for n, ms in best.items():
        costs.observe(n, ms)


def measure_reading(draft: LoadedModel, costs: PassCosts) -> None:
    """Time a slice of a prompt; clears the draft's memory."""
    sequence = draft.context.sequence()
    began = time.perf_counter()
    sequence.read([draft.vocab.bos or 0] * SLICE)
    costs.observe(SLICE, 1e3 * (time.perf_counter() - began))
    sequence.clear()


def cost_table(target: PassCosts, draft: PassCosts, prompt: Mapping[int, float] | None = None) -> CostTable:
    """What the window shows of both; ``prompt`` = a prompt's tokens, and what reading them took."""
    known = draft.known
    return CostTable(
        target=target.table(),
        prompt=dict(prompt or {}),
        draft_step=draft.at(1) if known else None,
        draft_prompt_per_token=draft.at(SLICE) / SLICE if known else None,
        measured=target.measured,
    )
