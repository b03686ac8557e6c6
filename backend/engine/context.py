"""A llama.cpp context: decode with rows as views, truncate with proof, and every return code told apart.

One :class:`Context` belongs to one thread at a time. A :class:`Sequence` is one token sequence in its KV cache and is
what the speculation loop sees (``backend.speculation.contracts.Model``).
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence as Tokens

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from backend.engine import native
from backend.engine.batch import Batch
from backend.engine.cancel import ABORT_CALLBACK, CancelFlag
from backend.engine.refusals import context_error, decode_error, stream_error, truncate_error
from backend.engine.state import Mark, state_bytes
from backend.engine.stream import Streamer
from backend.errors import EngineError, ErrorCode
from backend.plan.needs import tokens_at_once

Rows = NDArray[np.float32]
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
        vocab = llama_cpp.llama_model_get_vocab(model)
        self.n_vocab = int(llama_cpp.llama_vocab_n_tokens(vocab))
        self.memory = llama_cpp.llama_get_memory(pointer)
        self.decode_seconds = 0.0
        """Time inside llama.cpp, for the host-cost benchmark."""
        self.batch = Batch(self.n_batch)
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


class Sequence:
    """One sequence of tokens in a context's KV cache."""

    def __init__(self, context: Context, index: int) -> None:
        self.context = context
        self.index = index
        self.tokens: list[int] = []
        self.shared = 0
        """Leading tokens whose cells belong to the sequence this one was forked from."""
        self._undo = 0
        """How many tokens the snapshots of the last pass can take back, in a memory that has such."""
        self._mark = Mark(context._pointer, index)

    @property
    def n_vocab(self) -> int:
        """Width of a row."""
        return self.context.n_vocab

    @property
    def length(self) -> int:
        """Tokens held."""
        return len(self.tokens)

    @property
    def room(self) -> int:
        """Tokens that still fit, all sequences counted."""
        return self.context.n_ctx - self.context.used

    @property
    def max_rows(self) -> int:
        """Most tokens in one :meth:`decode`: what can be rolled back, and in strict mode what is exact."""
        rollback = self.context.max_rollback
        most = self.context.max_rows if rollback is None else min(self.context.max_rows, rollback + 1)
        return most if self.context.exact_rows is None else min(most, self.context.exact_rows)

    @property
    def most_rows(self) -> int:
        """Most tokens in one :meth:`decode`, where nothing will be taken back."""
        return self.context.max_rows

    def decode(self, tokens: Tokens[int]) -> Rows:
        """Append ``tokens``; a row at each, shape (len(tokens), n_vocab), a view valid until the next decode."""
        rows = self.append(tokens, len(tokens))
        assert rows is not None
        return rows

    def read(self, tokens: Tokens[int]) -> Rows:
        """Append any number of tokens in slices; the row of the last one, shape (1, n_vocab)."""
        size = self.context.n_batch
        rows: Rows | None = None
        for i in range(0, len(tokens), size):
            rows = self.append(tokens[i : i + size], 1 if i + size >= len(tokens) else 0)
        assert rows is not None
        return rows

    def truncate(self, n: int) -> None:
        """Keep the first ``n`` tokens, and prove it.

        llama.cpp says yes to any rollback of up to as many tokens as there are snapshots, also after a shorter pass,
        which wrote fewer: the state is then one of long ago, and no position tells. So those written are counted here.

        Raises:
            EngineError: TRUNCATE_FAILED when the snapshots do not reach so far, when llama.cpp refuses, or when another
                last position results.
        """
        if n >= self.length:
            return
        if n == 0:
            self.clear()
            return
        if not self._can_undo(n):
            raise truncate_error(n, self.length)
        memory = self.context.memory
        done = bool(llama_cpp.llama_memory_seq_rm(memory, self.index, n, -1))
        last = int(llama_cpp.llama_memory_seq_pos_max(memory, self.index))
        if not done or last != n - 1:
            raise truncate_error(n, last + 1)
        self._cut(n)

    def keep(self, n: int) -> int:
        """Keep the first ``n`` tokens where the model can, else those up to the mark, else none. Returns how many."""
        if n >= self.length or self._can_undo(n):
            self.truncate(n)
        else:
            self._return(n)
        return min(n, self.length)

    def mark(self) -> None:
        """Let :meth:`keep` come back to here, whatever the memory. Nothing to do where any prefix can be kept."""
        if self.context.max_rollback is not None:
            self._mark.set(self.length)

    def clear(self) -> None:
        """Forget everything."""
        llama_cpp.llama_memory_seq_rm(self.context.memory, self.index, -1, -1)
        self._cut(0)

    def _return(self, n: int) -> None:
        """To the mark, where it is not beyond ``n``; else to nothing."""
        if 0 < self._mark.length <= n and self._mark.restore():
            self._cut(self._mark.length)
        else:
            self.clear()

    def _can_undo(self, n: int) -> bool:
        return self.context.max_rollback is None or self.length - n <= self._undo

    def _cut(self, n: int) -> None:
        """The first ``n`` tokens are held now, and what llama.cpp kept for going back is used up."""
        del self.tokens[n:]
        self.shared = min(self.shared, n)
        self._undo = 0
        self._mark.forget_beyond(n)

    def fork(self, index: int) -> Sequence:
        """Another sequence id that shares this one's cells (metadata only with a unified cache)."""
        other = self.context.sequence(index)
        other.clear()
        llama_cpp.llama_memory_seq_cp(self.context.memory, self.index, index, -1, -1)
        other.tokens = list(self.tokens)
        other.shared = self.length
        return other

    def append(self, tokens: Tokens[int], rows: int) -> Rows | None:
        """Append one slice of at most n_batch tokens in one llama_decode; logits at the last ``rows`` (0 = none).

        Raises:
            EngineError: BAD_TOKEN, CONTEXT_FULL, CANCELLED, DECODE_FAILED (llama.cpp's codes told apart); BUG for a
                pass larger than the context was made for.
        """
        context, n = self.context, len(tokens)
        context.check_stream()
        context.flag.check()  # before anything is touched
        if n > context.n_batch or rows > context.max_rows:  # llama.cpp would abort the process
            raise EngineError(ErrorCode.BUG, f"A pass over {n} tokens with {rows} rows is too large.")
        batch = context.batch.fill(tokens, len(self.tokens), self.index, rows, context.n_vocab)
        began = time.perf_counter()
        code = llama_cpp.llama_decode(context._pointer, batch)
        out = context.rows(rows) if code == 0 and rows else None
        context.decode_seconds += time.perf_counter() - began
        if code:
            error = decode_error(code, n, context.n_ctx)
            if error.code in (ErrorCode.CANCELLED, ErrorCode.DECODE_FAILED):
                self._resynchronise()
            context.check_stream()
            raise error
        context.check_stream()
        self.tokens.extend(tokens)
        if context.max_rollback is not None:
            self._undo = min(n - 1, context.max_rollback)
        return out

    def _resynchronise(self) -> None:
        """After an aborted or failed decode, part of the batch may stay in the cache: cut it off.

        A state that each token overwrites was overwritten in some layers and not in others. llama.cpp rolls it back
        to a snapshot where it can, but the pass has not written that snapshot. So it is read anew.
        """
        if self.context.max_rollback is not None:
            self._return(self.length)
            return
        held = int(llama_cpp.llama_memory_seq_pos_max(self.context.memory, self.index)) + 1
        if held > self.length and not llama_cpp.llama_memory_seq_rm(self.context.memory, self.index, self.length, -1):
            self.clear()
        elif held < self.length:
            del self.tokens[held:]
