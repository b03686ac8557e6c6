"""The search for exact passes while nobody asks for anything: it never keeps anybody waiting."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from backend.engine import strict
from backend.engine.cancel import CancelFlag
from backend.errors import EngineError
from backend.protocol import DraftRequest, LoadRequest
from backend.server.host import Host
from tests.server.test_work import HELLO, OPTIONS, ended, occupy, until, with_host
from tests.tiny import tiny_llama


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny_llama(folder / "good.gguf")
    tiny_llama(folder / "draft.gguf", n_layer=1)
    return folder


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> list[CancelFlag]:
    """Searches for exact passes that began; each goes on until it is stopped."""
    begun: list[CancelFlag] = []

    def endless(_model: object, _progress: object, flag: CancelFlag) -> int:
        begun.append(flag)
        while True:
            flag.check()
            time.sleep(0.005)

    monkeypatch.setattr(strict, "_LITTLE", 100.0)
    monkeypatch.setattr(strict, "exact_rows", endless)
    return begun


def test_exact_texts_are_looked_for_while_nobody_asks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict, "_LITTLE", 100.0)

    async def talk(host: Host) -> None:
        await until(lambda: host.state().exact_rows == 16)
        await ended(host.reply(HELLO, None))

    with_host(folder, talk)


def test_a_load_that_is_to_settle_it_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict, "_LITTLE", 100.0)

    async def talk(host: Host) -> None:
        await ended(host.load(LoadRequest(target="good.gguf", options=OPTIONS, settle=True), None))
        assert host.state().exact_rows == 16

    with_host(folder, talk)


def test_a_reply_ends_the_search_for_good(folder: Path, search: list[CancelFlag]) -> None:
    async def talk(host: Host) -> None:
        await until(lambda: len(search) == 1)
        await ended(host.reply(HELLO, None))
        assert host.state().exact_rows is None
        assert host.state().phase == "ready"
        await until(lambda: host._engine.idle)
        assert len(search) == 1

    with_host(folder, talk)


def test_a_draft_does_not_wait_for_the_search(folder: Path, search: list[CancelFlag]) -> None:
    async def talk(host: Host) -> None:
        await until(lambda: len(search) == 1)
        await ended(host.set_draft(DraftRequest(draft="draft.gguf"), None))
        assert host.state().draft is not None
        await until(lambda: len(search) == 2)
        assert search[0].is_set()

    with_host(folder, talk)


def test_no_search_is_left_that_a_reply_would_wait_for(folder: Path, search: list[CancelFlag]) -> None:
    """A draft that fails while a pair is on its way leaves one, and so does the pair."""

    async def talk(host: Host) -> None:
        await until(lambda: len(search) == 1)
        gate = occupy(host)
        load = host.load(LoadRequest(target="good.gguf", options=OPTIONS), None)
        with pytest.raises(EngineError):
            await ended(host.set_draft(DraftRequest(draft="none.gguf"), None))
        gate.set()
        await ended(load)
        await until(lambda: len(search) == 2)
        async with asyncio.timeout(20):
            await ended(host.reply(HELLO, None))
        await until(lambda: host._engine.idle)
        assert len(search) == 2

    with_host(folder, talk)
