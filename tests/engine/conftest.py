"""Fixtures of the engine tests: quiet logs, tiny models written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.engine import native
from tests import tiny


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    """llama.cpp's log is collected as the worker does it, not printed."""
    native.install_log(lambda level, text: None)


@pytest.fixture(scope="session")
def tiny_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="session")
def tiny_files(tiny_dir: Path) -> tuple[Path, Path]:
    """A random target, and a draft that agrees with it now and then."""
    target = tiny.tiny_llama(tiny_dir / "pair-target.gguf")
    return target, tiny.tiny_llama(tiny_dir / "pair-draft.gguf", noise=0.3)
