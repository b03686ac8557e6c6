"""One sequence of tokens in a context's memory: decode with rows as views, truncate with proof, branch into a tree."""

from __future__ import annotations

import time
from collections.abc import Sequence as Tokens
from typing import TYPE_CHECKING

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from backend.engine.branches import Branches
from backend.engine.refusals import decode_error, truncate_error
from backend.engine.state import Mark
from backend.errors import EngineError, ErrorCode

if TYPE_CHECKING:
    from backend.engine.context import Context

Rows = NDArray[np.float32]


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
        self._branches = Branches(self)

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

    @property
    def branches(self) -> int:
        """Paths of a tree that can be held at once; 1 = it cannot branch, or in strict mode must not."""
        return self._branches.most

    def grow(self, tokens: Tokens[int], parents: Tokens[int]) -> Rows:
        """Add nodes to the tree at the end (see ``contracts.Model``); a row at each, valid until the next decode."""
        self.context.check_stream()
        self.context.flag.check()
        batch = self._branches.add(tokens, parents)
        rows = self._run(batch, len(tokens), len(tokens))
        assert rows is not None
        return rows

    def settle(self, path: Tokens[int]) -> None:
        """Keep the nodes of one path from the tree's beginning, as part of what is held, and prove it.

        Raises:
            EngineError: TRUNCATE_FAILED when another last position results.
        """
        self.tokens += self._branches.close(path)
        self._prove(self.length)

    def _prove(self, n: int) -> None:
        """That ``n`` tokens are held: all that the next one looks back at, not the last one alone."""
        memory, window = self.context.memory, self.context.window
        last = int(llama_cpp.llama_memory_seq_pos_max(memory, self.index))
        if last != n - 1:
            raise truncate_error(n, last + 1)
        if window and llama_cpp.llama_memory_seq_pos_min(memory, self.index) > max(0, n - window + 1):
            raise truncate_error(n, 0)

    def _leave_tree(self) -> None:
        if self._branches.size:
            self._branches.close(())

    def truncate(self, n: int) -> None:
        """Keep the first ``n`` tokens, and prove it.

        llama.cpp says yes to any rollback of up to as many tokens as there are snapshots, also after a shorter pass,
        which wrote fewer: the state is then one of long ago, and no position tells. So those written are counted here.
        Of layers with a sliding window it gives cells away that lie behind it, though others are free, where what lay
        between them was given up (a tree, a sequence beside): going back to before them is not possible any more.

        Raises:
            EngineError: TRUNCATE_FAILED when the snapshots do not reach so far, when llama.cpp refuses, or when another
                last position results.
        """
        self._leave_tree()
        if n >= self.length:
            return
        if n == 0:
            self.clear()
            return
        if not self._can_undo(n):
            raise truncate_error(n, self.length)
        if not llama_cpp.llama_memory_seq_rm(self.context.memory, self.index, n, -1):
            raise truncate_error(n, self.length)
        self._prove(n)
        self._cut(n)

    def keep(self, n: int) -> int:
        """Keep the first ``n`` tokens where the model can, else those up to the mark, else none. Returns how many."""
        if n < self.length and not self._can_undo(n):
            self._return(n)
            return min(n, self.length)
        try:
            self.truncate(n)
        except EngineError as error:
            if error.code is not ErrorCode.TRUNCATE_FAILED:
                raise
            self.clear()
        return min(n, self.length)

    def mark(self) -> None:
        """Let :meth:`keep` come back to here, whatever the memory. Nothing to do where any prefix can be kept."""
        if self.context.max_rollback is not None:
            self._mark.set(self.length)

    def clear(self) -> None:
        """Forget everything."""
        self._leave_tree()
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
        self._leave_tree()
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
        self._leave_tree()
        batch = context.batch.fill(tokens, len(self.tokens), self.index, rows, context.n_vocab)
        out = self._run(batch, n, rows)
        self.tokens.extend(tokens)
        if context.max_rollback is not None:
            self._undo = min(n - 1, context.max_rollback)
        return out

    def _run(self, batch: object, n: int, rows: int) -> Rows | None:
        """One llama_decode over ``n`` tokens; where it fails, what it left in the cache is cut off."""
        context = self.context
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
        return out

    def _resynchronise(self) -> None:
        """After an aborted or failed decode, part of the batch may stay in the cache: cut it off.

        A state that each token overwrites was overwritten in some layers and not in others. llama.cpp rolls it back
        to a snapshot where it can, but the pass has not written that snapshot. So it is read anew.
        """
        if self.context.max_rollback is not None:
            self._return(self.length)
            return
        self._leave_tree()
        held = int(llama_cpp.llama_memory_seq_pos_max(self.context.memory, self.index)) + 1
        if held > self.length and not llama_cpp.llama_memory_seq_rm(self.context.memory, self.index, self.length, -1):
            self.clear()
        elif held < self.length:
            del self.tokens[held:]
