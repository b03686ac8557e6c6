"""Whether the engine can be given a file: what it would not refuse but stop itself over is found here first."""

from __future__ import annotations

import functools
from pathlib import Path

from backend.library.gguf import GgufFacts, iter_tokens, unfit_kind
from backend.library.gguf_header import damaged


def check_loadable(facts: GgufFacts) -> None:
    """Refuse what is no model of its own, or would end the engine.

    Raises:
        EngineError: MODEL_UNSUPPORTED, FILE_DAMAGED.
    """
    if (unfit := unfit_kind(facts)) is not None:
        raise unfit
    if _doubled(facts.files[0], facts.vocab_hash):
        raise damaged(facts.files[0], "its vocabulary holds a token twice")


@functools.lru_cache(maxsize=16)
def _doubled(path: Path, vocab_hash: str) -> bool:
    """llama.cpp looks tokens up by their texts, but gives those without a text names of its own."""
    if not vocab_hash:
        return False
    tokens = [token for token in iter_tokens(path) if token]
    return len(set(tokens)) < len(tokens)
