"""Fixtures of the engine tests: quiet logs, tiny models written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.engine import native


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    """llama.cpp's log is collected as the worker does it, not printed."""
    native.install_log(lambda level, text: None)


@pytest.fixture(scope="session")
def tiny_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiny")
