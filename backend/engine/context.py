"""A llama.cpp context over a loaded model.

One :class:`Context` belongs to one thread at a time. A :class:`Sequence` is one token sequence in its KV cache and is
what the speculation loop sees (``backend.speculation.contracts.Model``).
"""

from __future__ import annotations

import ctypes

import llama_cpp
import numpy as np

from backend.engine import native
from backend.engine.batch import Batch
from backend.engine.branches import TreeBatch
from backend.engine.cancel import ABORT_CALLBACK, CancelFlag
from backend.engine.refusals import context_error, stream_error
from backend.engine.sequence import Rows, Sequence
from backend.engine.state import state_bytes
from backend.engine.stream import Streamer
from backend.plan.needs import tokens_at_once

_KV_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 8, "bf16": 30}
_FLASH = {"auto": -1, "off": 0, "on": 1}


class Context:
    """A context over a loaded model.

    Args:
        model: llama_model pointer (kept alive by the caller).
        n_ctx: tokens of context.
        n_batch: most tokens per decode.
        max_rows: most logits rows per decode (llama.cpp aborts beyond; the compute buffer grows with it).
        n_seq: sequence ids (1 for recurrent models, whose state is per id).
        snapshots: states before the last tokens of a pass to keep, where the memory is one that each token overwrites
            (llama.cpp keeps none for most architectures).
        n_heads: attention heads; without flash attention their scores bound how many tokens are computed at once.
        flag: read by llama.cpp between graph nodes; set it to stop a decode within milliseconds.
        streamer: told of each layer that is done.

    Raises:
        EngineError: OUT_OF_MEMORY when the context cannot be allocated.
    """

    def __init__(
        self,
        model: ctypes.c_void_p,
        *,
        n_ctx: int,
        n_batch: int,
        max_rows: int,
        n_seq: int,
        snapshots: int,
        threads: int,
        kv_type: str,
        flash_attention: str,
        n_heads: int,
        swa_full: bool,
        flag: CancelFlag,
        streamer: Streamer | None = None,
    ) -> None:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = n_ctx, n_batch, n_batch
        if flash_attention == "off":
            params.n_ubatch = tokens_at_once(n_batch, n_ctx, n_heads)
        params.n_seq_max, params.kv_unified = n_seq, True
        params.n_rs_seq, params.n_outputs_max = snapshots, max_rows
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = _KV_TYPES[kv_type]
        params.flash_attn_type = _FLASH[flash_attention]
        params.swa_full = swa_full
        if streamer is not None:
            params.cb_eval = streamer.callback
            streamer.given_up, streamer.give_up = (lambda: self.flag.is_set()), (lambda: self.flag.set())
        self.streamer = streamer
        params.no_perf = True
        with native.collect_errors() as errors:
            pointer = llama_cpp.llama_init_from_model(model, params)
        if not pointer:
            raise context_error(" ".join(errors).strip(), n_ctx)
        self._pointer = pointer
        self.flag = flag
        self.abort_on(flag)
        self.n_ctx = int(llama_cpp.llama_n_ctx(pointer))
        self.n_batch = int(llama_cpp.llama_n_batch(pointer))
        self.max_rows = min(max_rows, self.n_batch)
        self.n_seq = n_seq
        self.snapshots = int(llama_cpp.llama_n_rs_seq(pointer))
        """What it got of the snapshots asked for: all, or none."""
        self.threads = threads
        self.kind = f"{kv_type}, flash attention {flash_attention}"
        self.max_rollback: int | None = None
        """Tokens of the last pass that can be rolled back; None = any number of any, 0 = none (see engine.probe)."""
        self.exact_rows: int | None = None
        """In strict mode, the largest pass that gives the bits of one-token passes (see ``engine.exact``)."""
        self.window = int(llama_cpp.llama_model_n_swa(model))
        """Tokens that layers with a sliding window look back; 0 = there are none."""
        vocab = llama_cpp.llama_model_get_vocab(model)
        self.n_vocab = int(llama_cpp.llama_vocab_n_tokens(vocab))
        self.memory = llama_cpp.llama_get_memory(pointer)
        self.decode_seconds = 0.0
        """Time inside llama.cpp, for the host-cost benchmark."""
        self.batch = Batch(self.n_batch)
        self.tree_batch = TreeBatch(self.max_rows)
        self._view: tuple[int, Rows] | None = None
        self.sequences: dict[int, Sequence] = {}

    def abort_on(self, flag: CancelFlag) -> None:
        """Let ``flag`` stop the decodes from now on."""
        self.flag = flag
        llama_cpp.llama_set_abort_callback(self._pointer, ABORT_CALLBACK, ctypes.c_void_p(flag.address))

    def check_stream(self) -> None:
        """Raise if weights could not be read from disk: what was computed since is of no use."""
        if self.streamer is not None and self.streamer.error is not None:
            raise stream_error(self.streamer.error)

    def sequence(self, index: int = 0) -> Sequence:
        """The sequence with this id (the same object each time)."""
        if index not in self.sequences:
            self.sequences[index] = Sequence(self, index)
        return self.sequences[index]

    @property
    def used(self) -> int:
        """KV cells in use, over all sequences."""
        return sum(s.length - s.shared for s in self.sequences.values())

    def state_bytes(self) -> int:
        """What the state of a sequence takes, beside attention's cells; asked by decoding a token."""
        self.sequence().append([0], 1)
        return state_bytes(self._pointer)

    def rows(self, n: int) -> Rows:
        """The logits of the last pass's ``n`` rows, shape (n, n_vocab), valid until the next pass."""
        # llama_get_logits also waits for the device; the buffer moves only when it grows
        pointer = llama_cpp.llama_get_logits(self._pointer)
        address = ctypes.addressof(pointer.contents)  # ctypes.cast is slow
        if self._view is None or self._view[0] != address or self._view[1].shape[0] < n:
            view = np.ctypeslib.as_array(pointer, shape=(n, self.n_vocab))
            self._view = (address, view)
        return self._view[1][:n]

    def close(self) -> None:
        """Free the context. The object must not be used afterwards."""
        if self._pointer:
            llama_cpp.llama_free(self._pointer)
            self._pointer = None
