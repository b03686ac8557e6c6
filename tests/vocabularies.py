"""Opens only the vocabulary of a model file, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import llama_cpp.llama_cpp as ll

from backend.engine.vocab import Vocab


@contextmanager
def open_vocab(path: Path) -> Iterator[Vocab]:
    """The vocabulary of ``path``, read without its weights."""
    params = ll.llama_model_default_params()
    params.vocab_only = True
    model = ll.llama_model_load_from_file(str(path).encode(), params)
    assert model, f"{path} does not load"
    try:
        yield Vocab(model)
    finally:
        ll.llama_model_free(model)
