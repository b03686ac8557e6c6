"""A tree at the end of a sequence: sequence ids let one pass see every path of it, each without the others.

With a unified cache a cell belongs to any number of ids, and giving it one more is metadata only. So each path gets an
id that first shares what the paths have in common; a node of the batch carries the ids of all paths through it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence as Tokens
from typing import TYPE_CHECKING

import llama_cpp

from backend.engine.batch import Batch
from backend.errors import EngineError, ErrorCode

if TYPE_CHECKING:
    from backend.engine.sequence import Sequence

_FIRST = 2
"""Ids before it are of sequences that stay: the conversation's, and the one beside it while two are compared."""


class TreeBatch(Batch):
    """A batch whose tokens have any number of ids each."""

    def fill_nodes(self, tokens: Tokens[int], positions: Tokens[int], ids: Tokens[Tokens[int]]) -> object:
        """The batch, with logits at every token."""
        n = len(tokens)
        flat = [one for own in ids for one in own]
        self._flat = (ctypes.c_int32 * len(flat))(*flat)
        address = ctypes.addressof(self._flat)
        for i, own in enumerate(ids):
            self._ids[i], self._n_seq[i] = address, len(own)
            address += 4 * len(own)
        self._token[:n], self._pos[:n], self._logits[:n] = [*tokens], [*positions], [1] * n
        self._batch.n_tokens = n
        return self._batch


class Branches:
    """The tree that is open at the end of a sequence, if any."""

    def __init__(self, sequence: Sequence) -> None:
        self._sequence = sequence
        self._tokens: list[int] = []
        self._parents: list[int] = []
        self._depth: list[int] = []
        self._through: list[int] = []
        """Of each node, an id whose path goes through it."""
        self._tips: dict[int, int] = {}
        """The last node of each id in use; -1 = the sequence's end."""

    @property
    def most(self) -> int:
        """Paths that can be held at once; 1 = this context, or this sequence, cannot branch."""
        context = self._sequence.context
        if context.max_rollback is not None or context.exact_rows is not None:
            return 1
        # the gaps that trees leave are filled while the window moves on by so many tokens (see Sequence.truncate)
        if 0 < context.window < 2 * context.max_rows:
            return 1
        return max(1, context.n_seq - _FIRST + 1)

    @property
    def size(self) -> int:
        """Nodes of the open tree."""
        return len(self._tokens)

    def add(self, tokens: Tokens[int], parents: Tokens[int]) -> object:
        """Take nodes in, give them ids, and return the batch that computes them; see ``contracts.Model.grow``."""
        context, first = self._sequence.context, self.size
        if len(tokens) > context.max_rows or min(tokens) < 0 or max(tokens) >= context.n_vocab:
            raise EngineError(ErrorCode.BUG, f"A pass over {len(tokens)} nodes is too large, or a token is none.")
        self._tips = self._tips or {self._sequence.index: -1}
        self._tokens += tokens
        self._parents += parents
        for parent in parents:
            self._depth.append(self._depth[parent] + 1 if parent >= 0 else 0)
        ids = self._share(first)
        self._through += [own[0] for own in ids]
        positions = [self._sequence.length + depth for depth in self._depth[first:]]
        return context.tree_batch.fill_nodes(tokens, positions, ids)

    def close(self, path: Tokens[int]) -> list[int]:
        """Leave the nodes of ``path`` in the sequence and nothing of the others anywhere; returns the path's tokens."""
        memory, own = self._sequence.context.memory, self._sequence.index
        start, kept = self._sequence.length, self._sequence.length + len(path)
        winner = self._through[path[-1]] if path else own
        if winner != own:
            llama_cpp.llama_memory_seq_rm(memory, own, start, -1)
            llama_cpp.llama_memory_seq_cp(memory, winner, own, start, kept)
        llama_cpp.llama_memory_seq_rm(memory, own, kept, -1)
        for other in self._tips:
            if other != own:
                llama_cpp.llama_memory_seq_rm(memory, other, -1, -1)
        out = [self._tokens[node] for node in path]
        for part in (self._tokens, self._parents, self._depth, self._through):
            part.clear()
        self._tips = {}
        return out

    def _share(self, first: int) -> list[list[int]]:
        """The ids of the nodes from ``first`` on, those of all paths through each."""
        inner = {parent for parent in self._parents[first:] if parent >= first}
        ids: list[list[int]] = [[] for _ in self._tokens[first:]]
        for leaf in range(first, self.size):
            if leaf in inner:
                continue
            path = [leaf]
            while self._parents[path[-1]] >= first:
                path.append(self._parents[path[-1]])
            own = self._id(self._parents[path[-1]])
            self._tips[own] = leaf
            for node in path:
                ids[node - first].append(own)
        return ids

    def _id(self, node: int) -> int:
        """An id that ends at ``node``: the one that does, or a new one that shares what leads there."""
        through = self._through[node] if node >= 0 else self._sequence.index
        if self._tips[through] == node:
            return through
        new = next(i for i in range(_FIRST, self._sequence.context.n_seq) if i not in self._tips)
        end = self._sequence.length + (self._depth[node] + 1 if node >= 0 else 0)
        llama_cpp.llama_memory_seq_cp(self._sequence.context.memory, through, new, -1, end)
        return new
