"""How far a context can be rolled back: found out by doing it, and said in words."""

from __future__ import annotations

import llama_cpp

from backend.engine.context import Context
from backend.engine.vocab import Vocab
from backend.errors import EngineError
from backend.text import shown_size


def probe(context: Context, vocab: Vocab) -> None:
    """Find out how far this context can be rolled back, by doing it; sets ``context.max_rollback``."""
    sequence = context.sequence()
    token = vocab.bos or 0
    for rollback, n in ((None, context.snapshots + 12), (context.snapshots, context.snapshots + 1)):
        if rollback == 0:
            break
        context.max_rollback = rollback
        sequence.clear()
        sequence.read([token] * 4)
        sequence.read([token] * n)
        try:
            sequence.truncate(4 if rollback is None else 5)
        except EngineError:
            continue
        sequence.clear()
        return
    context.max_rollback = 0
    llama_cpp.llama_memory_clear(context.memory, True)
    sequence.clear()


def probe_once(context: Context, vocab: Vocab) -> None:
    """The same in one pass, where a pass is dear: whether this context can be rolled back at all."""
    sequence = context.sequence()
    sequence.read([vocab.bos or 0] * (context.snapshots + 16))
    try:
        sequence.truncate(4)
    except EngineError:
        context.max_rollback = 0
        llama_cpp.llama_memory_clear(context.memory, True)
    sequence.clear()


def limits(context: Context, snapshot: int) -> str:
    """Why this target can be rolled back only so far, and what that costs; empty where it can be at will."""
    if context.max_rollback is None:
        return ""
    if context.max_rollback:
        return (
            f"this model's state can be rolled back by {context.max_rollback} tokens only; the snapshots for it take "
            f"{shown_size(snapshot * context.snapshots)}; drafts are chains, as it cannot branch into a tree"
        )
    if snapshot:
        return (
            f"no memory is set aside for rolling this model's state back ({shown_size(snapshot)} a token), so drafts "
            "cannot be checked in one pass"
        )
    return "this model's memory cannot be rolled back, so drafts cannot be checked in one pass"
