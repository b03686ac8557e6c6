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
from backend.engine.cancel import ABORT_CALLBACK, CancelFlag
from backend.errors import EngineError, ErrorCode

Rows = NDArray[np.float32]
_KV_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q8_0": 8, "bf16": 30}
_FLASH = {"auto": -1, "off": 0, "on": 1}


class Context:
    """A context over a loaded model.

    Args:
        model: llama_model pointer (kept alive by the caller).
        n_ctx: tokens of context.
        n_batch: prompt tokens per slice.
        max_rows: most logits rows per decode (llama.cpp aborts beyond; the compute buffer grows with it).
        n_seq: sequence ids (1 for recurrent models, whose state is per id).
        snapshots: recurrent-state snapshots for rolling back (0 for attention models).
        flag: read by llama.cpp between graph nodes; set it to stop a decode within milliseconds.

    Raises:
        EngineError: OUT_OF_MEMORY when the context cannot be allocated; BAD_REQUEST for a combination that cannot be.
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
        swa_full: bool,
        flag: CancelFlag,
    ) -> None:
        if flash_attention == "off" and kv_type.startswith("q"):
            raise EngineError(
                ErrorCode.BAD_REQUEST,
                f"A KV cache of type {kv_type} needs flash attention: switch it on, or choose f16.",
                {"kv_type": kv_type},
            )
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = n_ctx, n_batch, n_batch
        params.n_seq_max, params.kv_unified = n_seq, True
        params.n_rs_seq, params.n_outputs_max = snapshots, max_rows
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = _KV_TYPES[kv_type]
        params.flash_attn_type = _FLASH[flash_attention]
        params.swa_full = swa_full
        params.no_perf = True
        with native.collect_errors() as errors:
            pointer = llama_cpp.llama_init_from_model(model, params)
        if not pointer:
            raise _context_error(" ".join(errors).strip(), n_ctx)
        self._pointer = pointer
        self.flag = flag
        self.abort_on(flag)
        self.n_ctx = int(llama_cpp.llama_n_ctx(pointer))
        self.n_batch = int(llama_cpp.llama_n_batch(pointer))
        self.max_rows = min(max_rows, self.n_batch)
        self.n_seq = n_seq
        self.threads = threads
        self.kind = f"{kv_type}, flash attention {flash_attention}"
        self.max_rollback: int | None = None
        """Tokens that can be rolled back; None = any number, 0 = none (see load.probe)."""
        self.exact_rows: int | None = None
        """In strict mode, the largest pass that gives the bits of one-token passes (see ``engine.exact``)."""
        vocab = llama_cpp.llama_model_get_vocab(model)
        self.n_vocab = int(llama_cpp.llama_vocab_n_tokens(vocab))
        self.memory = llama_cpp.llama_get_memory(pointer)
        self.decode_seconds = 0.0
        """Time inside llama.cpp, for the host-cost benchmark."""
        self._batch = _Batch(self.n_batch)
        self._view: tuple[int, Rows] | None = None
        self.sequences: dict[int, Sequence] = {}

    def abort_on(self, flag: CancelFlag) -> None:
        """Let ``flag`` stop the decodes from now on."""
        self.flag = flag
        llama_cpp.llama_set_abort_callback(self._pointer, ABORT_CALLBACK, ctypes.c_void_p(flag.address))

    def sequence(self, index: int = 0) -> Sequence:
        """The sequence with this id (the same object each time)."""
        if index not in self.sequences:
            self.sequences[index] = Sequence(self, index)
        return self.sequences[index]

    @property
    def used(self) -> int:
        """KV cells in use, over all sequences."""
        return sum(s.length - s.shared for s in self.sequences.values())

    def run(self, tokens: Tokens[int], position: int, sequence: int, rows: int) -> Rows | None:
        """One llama_decode; logits at the last ``rows`` tokens, shape (rows, n_vocab), valid until the next one.

        Raises:
            EngineError: BAD_TOKEN, CONTEXT_FULL, CANCELLED, DECODE_FAILED (llama.cpp's codes told apart); BUG for a
                pass larger than the context was made for.
        """
        self.flag.check()
        if len(tokens) > self.n_batch or rows > self.max_rows:  # llama.cpp would abort the process
            raise EngineError(ErrorCode.BUG, f"A pass over {len(tokens)} tokens with {rows} rows is too large.")
        batch = self._batch.fill(tokens, position, sequence, rows, self.n_vocab)
        began = time.perf_counter()
        code = llama_cpp.llama_decode(self._pointer, batch)
        out = self._rows(rows) if code == 0 and rows else None
        self.decode_seconds += time.perf_counter() - began
        if code:
            raise _decode_error(code, len(tokens), self.n_ctx)
        return out

    def _rows(self, n: int) -> Rows:
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

        Raises:
            EngineError: TRUNCATE_FAILED when llama.cpp refuses or another last position results.
        """
        if n >= self.length:
            return
        if n == 0:
            self.clear()
            return
        memory = self.context.memory
        done = bool(llama_cpp.llama_memory_seq_rm(memory, self.index, n, -1))
        last = int(llama_cpp.llama_memory_seq_pos_max(memory, self.index))
        if not done or last != n - 1:
            raise EngineError(
                ErrorCode.TRUNCATE_FAILED,
                f"The model's memory could not be cut back to {n} tokens (it holds {last + 1}).",
                {"wanted": n, "held": last + 1},
            )
        del self.tokens[n:]
        self.shared = min(self.shared, n)

    def keep(self, n: int) -> int:
        """Keep the first ``n`` tokens where the model can; else forget all. Returns how many were kept."""
        rollback = self.context.max_rollback
        if rollback is not None and self.length - n > rollback:
            n = 0
        self.truncate(n)
        return min(n, self.length)

    def clear(self) -> None:
        """Forget everything."""
        llama_cpp.llama_memory_seq_rm(self.context.memory, self.index, -1, -1)
        self.tokens.clear()
        self.shared = 0

    def fork(self, index: int) -> Sequence:
        """Another sequence id that shares this one's cells (metadata only with a unified cache)."""
        other = self.context.sequence(index)
        other.clear()
        llama_cpp.llama_memory_seq_cp(self.context.memory, self.index, index, -1, -1)
        other.tokens = list(self.tokens)
        other.shared = self.length
        return other

    def append(self, tokens: Tokens[int], rows: int) -> Rows | None:
        """Append one slice of at most n_batch tokens, with logits at the last ``rows`` (0 = none)."""
        try:
            out = self.context.run(tokens, self.length, self.index, rows)
        except EngineError as error:
            if error.code in (ErrorCode.CANCELLED, ErrorCode.DECODE_FAILED):
                self._resynchronise()
            raise
        self.tokens.extend(tokens)
        return out

    def _resynchronise(self) -> None:
        """After an aborted or failed decode, part of the batch may stay in the cache: cut it off."""
        held = int(llama_cpp.llama_memory_seq_pos_max(self.context.memory, self.index)) + 1
        if held > self.length and not llama_cpp.llama_memory_seq_rm(self.context.memory, self.index, self.length, -1):
            self.clear()
        elif held < self.length:
            del self.tokens[held:]


class _Batch:
    """A reusable llama_batch.

    After a pass the caches hold weights and nothing else. Filling ctypes arrays by slices runs little code, which is
    what counts then: 0.03 ms for one token, where numpy's assignments take 0.07; 0.06 ms for 512.
    """

    def __init__(self, capacity: int) -> None:
        self._token = (ctypes.c_int32 * capacity)()
        self._pos = (ctypes.c_int32 * capacity)()
        self._n_seq = (ctypes.c_int32 * capacity)(*[1] * capacity)
        self._seq = (ctypes.c_int32 * capacity)()
        self._logits = (ctypes.c_int8 * capacity)()
        id_pointer = ctypes.POINTER(ctypes.c_int32)
        address = ctypes.addressof(self._seq)
        ids = (ctypes.c_void_p * capacity)(*range(address, address + 4 * capacity, 4))  # each token's own list of ids
        b = llama_cpp.llama_batch()
        b.embd = None
        b.token = ctypes.cast(self._token, id_pointer)
        b.pos = ctypes.cast(self._pos, id_pointer)
        b.n_seq_id = ctypes.cast(self._n_seq, id_pointer)
        b.seq_id = ctypes.cast(ids, ctypes.POINTER(id_pointer))
        b.logits = ctypes.cast(self._logits, ctypes.POINTER(ctypes.c_int8))
        self._ids = ids
        self._batch = b

    def fill(self, tokens: Tokens[int], position: int, sequence: int, rows: int, n_vocab: int) -> object:
        n = len(tokens)
        if n == 0 or min(tokens) < 0 or max(tokens) >= n_vocab:
            raise EngineError(ErrorCode.BAD_TOKEN, f"A token id outside 0..{n_vocab - 1} was about to be decoded.")
        self._token[:n] = [*tokens]
        self._pos[:n] = [*range(position, position + n)]
        self._seq[:n] = [sequence] * n
        self._logits[:n] = [int(i >= n - rows) for i in range(n)]
        self._batch.n_tokens = n
        return self._batch


def _context_error(said: str, n_ctx: int) -> EngineError:
    if not said or any(words in said.lower() for words in ("alloc", "memory", "buffer")):
        return EngineError(
            ErrorCode.OUT_OF_MEMORY,
            f"There is not enough memory for a context of {n_ctx} tokens. "
            "Choose a shorter context, a smaller KV type or a smaller model.",
            {"n_ctx": n_ctx, "engine": said},
        )
    return EngineError(
        ErrorCode.LOAD_FAILED,
        f"The engine refuses these settings: {said}. Change KV type, flash attention or context and load again.",
        {"engine": said},
    )


def _decode_error(code: int, n: int, n_ctx: int) -> EngineError:
    if code == 1:
        return EngineError(
            ErrorCode.CONTEXT_FULL,
            f"The context of {n_ctx} tokens is full. Start a new chat or load the model with a longer context.",
            {"n_ctx": n_ctx},
        )
    if code == 2:
        return EngineError(ErrorCode.CANCELLED, "Stopped.")
    if code == -1:
        return EngineError(ErrorCode.DECODE_FAILED, f"The engine refused a batch of {n} tokens.", {"code": code})
    return EngineError(
        ErrorCode.DECODE_FAILED,
        f"The engine failed while decoding (code {code}), often for want of memory. Load the model again.",
        {"code": code},
    )
