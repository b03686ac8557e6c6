"""Fixtures of the engine tests: quiet logs, models loaded or written once, and a look at every pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from backend.engine import native
from backend.engine.context import Context
from backend.engine.pair import Pair
from backend.engine.sequence import Sequence as TokenSequence
from backend.engine.vocab import Vocab
from backend.protocol import Speculation
from tests import tiny
from tests.engine.rig import pair
from tests.vocabularies import open_vocab


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


@pytest.fixture(scope="module")
def smol(smollm2: Path) -> Iterator[Pair]:
    """SmolLM2 as its own draft."""
    with pair(smollm2, smollm2, n_ctx=1024) as both:
        yield both


@pytest.fixture(scope="module")
def qwen(starter_draft: Path) -> Iterator[Vocab]:
    with open_vocab(starter_draft) as vocab:
        yield vocab


@pytest.fixture(autouse=True)
def _clean(request: pytest.FixtureRequest) -> None:
    if "smol" in request.fixturenames and isinstance(both := request.getfixturevalue("smol"), Pair):
        both.forget()
        both.speculation = Speculation()


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Context, int, int]]:
    """Every pass: context, position of its first token, tokens."""
    seen: list[tuple[Context, int, int]] = []
    append = TokenSequence.append

    def spy(self: TokenSequence, tokens: Sequence[int], rows: int) -> Any:
        seen.append((self.context, self.length, len(tokens)))
        return append(self, tokens, rows)

    monkeypatch.setattr(TokenSequence, "append", spy)
    return seen
