"""Which of the models here ``tandem doctor`` tries."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.cli_doctor import _models, _tested
from backend.library.library import Library
from tests.tiny import tiny_llama

CATALOGUE = """
starter: {target: first, draft: small}
models:
- {id: first, name: First, family: f, repo: null, variants: [{quant: F32, files: [{name: first.gguf}]}]}
- {id: small, name: Small, family: f, repo: null, variants: [{quant: F32, files: [{name: small.gguf}]}]}
- {id: toy, name: Toy, family: f, repo: null, test_only: true, variants: [{quant: F32, files: [{name: toy.gguf}]}]}
"""


def chosen_here() -> str | None:
    library = Library()
    chosen = _tested(library, _models(library))
    return chosen.id if chosen else None


def test_the_self_test_takes_the_starter_else_the_smallest_that_is_for_people(
    tandem_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "models").mkdir()
    monkeypatch.setenv("TANDEM_MODELS_DIR", str(folder))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    tandem_home.mkdir()
    (tandem_home / "models.yaml").write_text(CATALOGUE)
    assert chosen_here() is None
    for name, layers, now in (("toy", 1, "toy"), ("large", 4, "large"), ("small", 2, "small"), ("first", 3, "first")):
        tiny_llama(folder / f"{name}.gguf", n_layer=layers)
        assert chosen_here() == now
