"""Model files for commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiny import tiny_eagle, tiny_gemma3, tiny_llama, tiny_mmproj


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small model files, good and bad."""
    folder = tmp_path_factory.mktemp("models")
    good = tiny_llama(folder / "good.gguf", n_ctx=1024)
    tiny_llama(folder / "draft.gguf", n_layer=1)
    tiny_llama(folder / "large.gguf", n_layer=3)
    tiny_llama(folder / "swapped.gguf", swap_token=(20, 21))
    tiny_gemma3(folder / "other.gguf")
    tiny_mmproj(folder / "mmproj.gguf")
    tiny_eagle(folder / "eagle.gguf")
    (folder / "short.gguf").write_bytes(good.read_bytes()[:-4096])
    (folder / "text.gguf").write_text("this is not a model" * 100)
    return folder
