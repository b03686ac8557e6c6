"""States of recurrent and hybrid models, which each token overwrites: what one takes, and how to come back to it.

Two ways lead back. Snapshots: a pass keeps the states before its last tokens, for the architectures where llama.cpp
does so; a target's rounds go back through them. A mark: the state is copied out and in again, for any architecture; a
draft drafts token by token, each a pass of its own, and comes back to where it began.
"""

from __future__ import annotations

import ctypes

import llama_cpp

from backend.equations import LONGEST

_PARTIAL = 1
"""LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY: the recurrent part alone; attention's cells can simply be cut off."""
_SHARE = 8
"""All snapshots together may take one part in so many of the memory that is free."""


class Mark:
    """A copy of one sequence's state at one length (none at length 0)."""

    def __init__(self, context: ctypes.c_void_p | None, index: int) -> None:
        self._context = context
        self._index = index
        self._state = (ctypes.c_uint8 * 0)()
        self.length = 0

    def set(self, length: int) -> None:
        """Copy the state, which holds ``length`` tokens."""
        size = state_bytes(self._context, self._index)
        if size > len(self._state):
            self._state = (ctypes.c_uint8 * size)()
        got = llama_cpp.llama_state_seq_get_data_ext(self._context, self._state, size, self._index, _PARTIAL)
        self.length = length if got == size > 0 else 0

    def restore(self) -> bool:
        """Put the copy back and cut attention's cells off behind it; False where that did not work."""
        size, memory = len(self._state), llama_cpp.llama_get_memory(self._context)
        read = llama_cpp.llama_state_seq_set_data_ext(self._context, self._state, size, self._index, _PARTIAL)
        cut = read and llama_cpp.llama_memory_seq_rm(memory, self._index, self.length, -1)
        return bool(cut) and int(llama_cpp.llama_memory_seq_pos_max(memory, self._index)) == self.length - 1

    def forget_beyond(self, n: int) -> None:
        """Only the first ``n`` tokens stand."""
        if self.length > n:
            self.length = 0


def state_bytes(context: ctypes.c_void_p | None, index: int = 0) -> int:
    """What the state of a sequence takes, beside attention's cells; the sequence must hold a token."""
    return int(llama_cpp.llama_state_seq_get_size_ext(context, index, _PARTIAL))


def affordable(size: int, free: int) -> int:
    """How many snapshots of ``size`` bytes to keep: one for each token of the longest draft, if memory allows."""
    return min(LONGEST, free // _SHARE // max(1, size))
