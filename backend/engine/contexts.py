"""Contexts as targets and drafts need them: rows, sequences, attention, and snapshots of a state."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import llama_cpp

from backend.engine.cancel import CancelFlag
from backend.engine.context import Context
from backend.engine.devices import default_threads, free_memory
from backend.engine.state import affordable
from backend.engine.stream import Streamer
from backend.plan.attention import flash_attention
from backend.plan.request import DEFAULT_CONTEXT, ROWS, Role, batch_for
from backend.protocol import LoadOptions

_SCOUT = (64, 32, 1, 1)
"""Context, batch, rows and snapshots of a context made only to ask what a snapshot takes."""
_SPARE = 2
"""llama.cpp aborts where a slice is not larger than the snapshots and one more."""

Make = Callable[[int, int, int, int], Context]
"""A context of so many tokens, with batches, rows and snapshots of so many."""


def is_recurrent(model: ctypes.c_void_p) -> bool:
    """Whether layers keep a state that each token overwrites."""
    return bool(llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model))


def maker(
    model: ctypes.c_void_p,
    options: LoadOptions,
    role: Role,
    flag: CancelFlag,
    streamer: Streamer | None = None,
    *,
    on_gpu: bool,
) -> Make:
    """Makes contexts of a loaded model.

    Args:
        model: llama_model pointer.
        options: as asked for.
        role: of the model.
        flag: stops their passes.
        streamer: told of each layer that is done.
        on_gpu: whether layers lie on a card.
    """
    sliding = llama_cpp.llama_model_n_swa(model) > 0
    kv_type = options.kv_type if role == "target" else options.draft_kv_type
    attention = flash_attention(options, kv_type, on_gpu=on_gpu, sliding=sliding)

    def make(n_ctx: int, n_batch: int, max_rows: int, snapshots: int) -> Context:
        return Context(
            model,
            n_ctx=n_ctx,
            n_batch=n_batch,
            max_rows=max_rows,
            n_seq=1 if is_recurrent(model) else ROWS[role],
            snapshots=snapshots,
            threads=options.threads or default_threads(),
            kv_type=kv_type,
            flash_attention=attention,
            n_heads=int(llama_cpp.llama_model_n_head(model)),
            swa_full=sliding,
            flag=flag,
            streamer=streamer,
        )

    return make


def make_context(
    make: Make, model: ctypes.c_void_p, options: LoadOptions, role: Role, n_ctx: int | None
) -> tuple[Context, int]:
    """The context, and how many bytes a snapshot of its state takes (0 where none can be kept)."""
    trained = int(llama_cpp.llama_model_n_ctx_train(model))
    # a draft drafts token by token, each a pass of its own, and snapshots reach back within one pass only
    snapshot = _snapshot_bytes(make(*_SCOUT)) if role == "target" and is_recurrent(model) else 0
    affords = affordable(snapshot, free_memory()) if snapshot else 0
    snapshots = affords if options.snapshots is None else min(options.snapshots, options.batch - _SPARE)
    length, n_batch = n_ctx or min(trained, DEFAULT_CONTEXT), batch_for(options, role)
    return make(length, n_batch, ROWS[role], snapshots if snapshot else 0), snapshot


def _snapshot_bytes(scout: Context) -> int:
    """What one snapshot takes: asked of a context that is small and has one. 0 where llama.cpp keeps none."""
    try:
        return scout.state_bytes() if scout.snapshots else 0
    finally:
        scout.close()
