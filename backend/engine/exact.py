"""Which passes give the bits of one-token decoding: the ground that strict mode stands on.

Kernels are chosen by batch size and sum in different orders, so a token's logits depend on how many tokens were decoded
with it. But up to some size they may not: that is found out here, on this file, build and setting, by decoding the same
tokens one by one and in batches, and comparing every row bit by bit. What is written into the KV cache is compared too,
as later rows depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from backend.engine import kernels
from backend.engine.cancel import CancelFlag
from backend.engine.load import LoadedModel
from backend.engine.sequence import Sequence
from backend.equations import LONGEST
from backend.sampling.chain import Row

_TOKENS = LONGEST + 1
_LARGEST = LONGEST
_LENGTHS = (16, 640)
"""Tokens held before: a short context, and one in which attention over the cache may be split."""


def exact_rows(model: LoadedModel, progress: Callable[[float], None], flag: CancelFlag) -> int:
    """The largest m so that passes of 1, 2, … m tokens all give the bits of one-token passes; clears the memory.

    Raises:
        EngineError: CANCELLED.
    """
    context = model.context
    sequence = context.sequence()
    context.abort_on(flag)
    kernels.serve(model.exact_kernels)
    most = most_tried(model)
    if most == 1:
        return 1  # nothing larger can be rolled back
    lengths = _lengths(model)

    def tell(done: int, part: float) -> None:
        progress((done + part) / len(lengths))

    try:
        for done, length in enumerate(lengths):
            sequence.clear()
            sequence.read(_text(model, length))
            most = _agreeing(sequence, _text(model, _TOKENS, start=length), most, partial(tell, done))
            if most == 1:
                break
    finally:
        sequence.clear()
    return most


def most_tried(model: LoadedModel) -> int:
    """The largest size that :func:`exact_rows` tries: as far as can be rolled back, which may depend on free memory."""
    return min(_LARGEST, model.context.sequence().max_rows)


def exact_to(model: LoadedModel) -> int:
    """The longest context that :func:`exact_rows` tries on this model."""
    return _lengths(model)[-1]


def _lengths(model: LoadedModel) -> list[int]:
    n_ctx = model.context.n_ctx
    return [n for n in _LENGTHS if n + _TOKENS <= n_ctx] or [max(1, n_ctx - _TOKENS)]


def _agreeing(sequence: Sequence, tokens: list[int], most: int, progress: Callable[[float], None]) -> int:
    """The largest size up to ``most`` so that it and all below agree with single tokens after what is held."""
    held = sequence.length
    sequence.mark()
    singles = [sequence.decode([token])[0].copy() for token in tokens]
    for size in range(2, most + 1):
        sequence.keep(held)
        rows = sequence.decode(tokens[:size])
        if any(not _same_bits(row, single) for row, single in zip(rows, singles[:size], strict=True)):
            return size - 1
        # rounds go on from a snapshot of such a state, so that is what has to be the same
        left = size - (size // 2 if sequence.context.max_rollback else 0)
        sequence.truncate(held + left)
        if not _same_bits(sequence.decode([tokens[left]])[0], singles[left]):
            return size - 1
        progress((size - 1) / (most - 1))
    return most


def _same_bits(a: Row, b: Row) -> bool:
    return bool(np.array_equal(a.view(np.uint32), b.view(np.uint32)))


def _text(model: LoadedModel, n: int, start: int = 0) -> list[int]:
    """``n`` different ids that every vocabulary has; which ones does not matter, as long as rows are not all alike."""
    most = model.context.n_vocab
    return [(start * 31 + 7 * i * i + 101 * i + 11) % most for i in range(n)]
