"""Cheaper copies of drafts in the worker: made when there is nothing else to do, once, and used where they pay.

What a step costs is given where a choice must be certain; the engine, the quantizer and its process are the real ones.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from backend.client import RemoteEngine
from backend.engine import cheaper
from backend.errors import EngineError
from backend.library import copies
from backend.library.paths import copies_dir
from backend.protocol import DraftRequest, LoadOptions, LoadRequest, State
from backend.server import host as hosting
from backend.server.host import Host
from backend.speculation.cost import PassCosts
from tests.quantizing import when_quantizing
from tests.server.conftest import Worker, last, make_worker
from tests.server.test_work import HELLO, OPTIONS, FolderRig, ended, occupy, until
from tests.tiny import tiny_gemma3, tiny_llama
from tests.tiny_recurrent import tiny_mamba

CHEAPER = OPTIONS.model_copy(update={"cheaper_draft": True})
PAIR = LoadRequest(target="target.gguf", draft="draft.gguf", options=CHEAPER)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    folder.mkdir()
    tiny_llama(folder / "target.gguf")
    tiny_llama(folder / "draft.gguf", noise=0.2)
    tiny_gemma3(folder / "stranger.gguf")
    return folder


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "REST", 0.05)


@pytest.fixture
def quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    steps_cost(monkeypatch, 5, 15)


def steps_cost(monkeypatch: pytest.MonkeyPatch, copy: float, draft: float) -> None:
    def costs(step: float) -> PassCosts:
        found = PassCosts()
        found.observe(1, step)
        return found

    monkeypatch.setattr(cheaper, "steps", lambda *_: (costs(draft), costs(copy)))


def with_host(folder: Path, talk: Callable[[Host], Awaitable[None]], request: LoadRequest = PAIR) -> None:
    async def main() -> None:
        host = Host(FolderRig(folder))
        host.start()
        try:
            await host.started()
            await ended(host.load(request, None))
            await talk(host)
        finally:
            await asyncio.to_thread(host.close)

    asyncio.run(main())


async def settled(host: Host) -> State:
    await until(lambda: not host.state().draft_copy_busy)
    return host.state()


def made() -> dict[Path, int]:
    return {copy.file: copy.file.stat().st_mtime_ns for copy in copies.listed()}


def unfinished() -> list[Path]:
    folder = copies_dir()
    return [file for file in folder.glob(".*") if file.name.endswith(".part")] if folder.exists() else []


def test_a_copy_that_pays_is_made_once_and_loaded_at_once_from_then_on(folder: Path, quicker: None) -> None:
    first: list[dict[Path, int]] = []

    async def make(host: Host) -> None:
        assert host.state().draft_copy_busy, "nobody waits for it"
        state = await settled(host)
        assert state.draft_copy == "using a Q4_0 copy of the draft: a step takes 5 ms, not 15"
        assert state.draft is not None
        assert (state.draft.id, state.draft.quant) == ("draft.gguf", "Q4_0")
        await ended(host.reply(HELLO, None))
        first.append(made())

    async def again(host: Host) -> None:
        state = host.state()
        assert state.draft is not None
        assert state.draft.quant == "Q4_0"
        assert "using a Q4_0 copy" in state.draft_copy
        await settled(host)
        assert made() == first[0]
        await ended(host.set_draft(DraftRequest(draft=None), None))
        assert host.state().draft_copy == ""
        await ended(host.set_draft(DraftRequest(draft="draft.gguf"), None))
        with pytest.raises(EngineError):
            await ended(host.set_draft(DraftRequest(draft="stranger.gguf"), None))
        state = await settled(host)
        assert state.draft is not None
        assert state.draft.quant == "Q4_0"
        assert "using a Q4_0 copy" in state.draft_copy, "of the draft that stays"

    with_host(folder, make)
    with_host(folder, again)
    assert len(first[0]) == 1


def test_a_copy_that_does_not_pay_leaves_the_draft_as_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps_cost(monkeypatch, 15, 15)

    async def talk(host: Host) -> None:
        state = await settled(host)
        assert state.draft is not None
        assert state.draft.quant == "F32"
        assert state.draft_copy == "the draft is used as it is: its Q4_0 copy is hardly quicker (15 ms a step, not 15)"

    async def again(host: Host) -> None:
        state = host.state()
        assert "hardly quicker" in state.draft_copy, "it is known, and not tried once more"
        assert "hardly quicker" in (await settled(host)).draft_copy

    with_host(folder, talk)
    monkeypatch.setattr(cheaper, "steps", lambda *_: pytest.fail("measured again"))
    with_host(folder, again)


def test_a_changed_source_is_copied_anew(folder: Path, quicker: None) -> None:
    async def talk(host: Host) -> None:
        await settled(host)

    async def changed(host: Host) -> None:
        assert host.state().draft.quant == "F32"  # type: ignore[union-attr]
        assert (await settled(host)).draft.quant == "Q4_0"  # type: ignore[union-attr]

    with_host(folder, talk)
    before = made()
    os.utime(folder / "draft.gguf", ns=(0, 0))
    with_host(folder, changed)
    assert len(made()) == 1
    assert made().keys().isdisjoint(before), "the stale one went"


@pytest.mark.parametrize("damage", ["cut short", "weights that are no numbers"])
def test_a_damaged_copy_is_said_and_the_draft_used(folder: Path, quicker: None, damage: str) -> None:
    async def talk(host: Host) -> None:
        await settled(host)

    async def damaged(host: Host) -> None:
        state = await settled(host)
        assert state.draft is not None
        assert state.draft.quant == "F32"
        assert state.draft_copy == "the draft is used as it is: its Q4_0 copy was damaged and is removed"
        await ended(host.reply(HELLO, None))
        assert made() == {}

    async def anew(host: Host) -> None:
        assert "using a Q4_0 copy" in (await settled(host)).draft_copy

    with_host(folder, talk)
    (copy,) = made()
    whole = copy.read_bytes()
    copy.write_bytes(whole[:-2000] + (b"" if damage == "cut short" else b"\xff" * 2000))
    with_host(folder, damaged)
    with_host(folder, anew)


def test_unloading_ends_the_making_and_leaves_nothing(folder: Path) -> None:
    held = threading.Event()

    async def talk(host: Host) -> None:
        await until(held.is_set)
        assert unfinished()
        assert "making a Q4_0 copy of the draft" in host.state().draft_copy
        await ended(host.unload())
        await until(lambda: host._copier.idle)
        assert list(copies_dir().iterdir()) == []

    catching = when_quantizing(held.set)
    with_host(folder, talk)
    catching.join()


def test_a_request_comes_first_and_the_making_begins_anew(folder: Path, quicker: None) -> None:
    held = threading.Event()

    async def talk(host: Host) -> None:
        await until(held.is_set)
        assert unfinished()
        gate = occupy(host)
        reply = host.reply(HELLO, None)
        await until(lambda: not unfinished())
        await asyncio.sleep(0.3)
        assert not unfinished(), "nothing is made while a request waits or runs"
        assert host.state().draft_copy_busy
        gate.set()
        await ended(reply)
        assert "using a Q4_0 copy" in (await settled(host)).draft_copy

    catching = when_quantizing(held.set)
    with_host(folder, talk)
    catching.join()


@pytest.mark.parametrize("asked", ["reply", "load", "swap"])
def test_a_request_ends_a_trial(asked: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[None] = []
    measure = cheaper.steps

    def steps(*args: object) -> tuple[PassCosts, PassCosts]:
        tried.append(None)
        while len(tried) == 1:  # for as long as it takes to be stopped
            measure(*args)  # type: ignore[arg-type]
        return measure(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(cheaper, "steps", steps)

    async def talk(host: Host) -> None:
        await until(lambda: bool(tried))
        if asked == "reply":
            await ended(host.reply(HELLO, None))
        elif asked == "load":
            await ended(host.load(PAIR, None))
        else:
            await ended(host.set_draft(DraftRequest(draft="draft.gguf"), None))
        assert (await settled(host)).draft_copy, "it was tried anew"
        assert len(tried) == 2
        await ended(host.reply(HELLO, None))

    with_host(folder, talk)


def test_a_new_pair_ends_what_is_made_for_the_old_one(folder: Path, quicker: None) -> None:
    shutil.copy(folder / "draft.gguf", folder / "other.gguf")
    held = threading.Event()

    async def talk(host: Host) -> None:
        await until(held.is_set)
        await ended(host.load(PAIR.model_copy(update={"draft": "other.gguf"}), None))
        assert (await settled(host)).draft_copy
        (copy,) = made()
        assert copy.name.startswith("other")

    catching = when_quantizing(held.set)
    with_host(folder, talk)
    catching.join()


def test_nothing_is_made_for_a_target_that_no_draft_is_put_to(folder: Path) -> None:
    tiny_mamba(folder / "target.gguf")

    async def talk(host: Host) -> None:
        state = await settled(host)
        assert state.draft is not None
        assert state.draft_copy == ""
        assert not copies_dir().exists()

    with_host(folder, talk)


def test_without_the_option_nothing_is_made(folder: Path) -> None:
    async def talk(host: Host) -> None:
        state = host.state()
        assert (state.draft_copy, state.draft_copy_busy) == ("", False)
        await ended(host.reply(HELLO, None))
        assert host.state().draft_copy == ""
        assert not copies_dir().exists()

    with_host(folder, talk, PAIR.model_copy(update={"options": OPTIONS}))


def test_a_draft_that_does_not_fit_is_refused_as_ever(folder: Path) -> None:
    async def talk(host: Host) -> None:
        state = host.state()
        assert state.draft is None
        assert state.draft_note
        assert not state.draft_copy_busy
        with pytest.raises(EngineError):
            await ended(host.set_draft(DraftRequest(draft="stranger.gguf"), None))
        assert not copies_dir().exists()

    with_host(folder, talk, PAIR.model_copy(update={"draft": "stranger.gguf"}))


def test_what_keeps_a_copy_from_being_made_is_said(folder: Path, tandem_home: Path) -> None:
    tandem_home.mkdir()
    (tandem_home / "copies").write_text("a file where the folder should be")

    async def talk(host: Host) -> None:
        state = await settled(host)
        assert state.draft is not None
        assert "without a Q4_0 copy: The folder" in state.draft_copy
        await ended(host.reply(HELLO, None))

    with_host(folder, talk)


def test_a_worker_makes_tries_and_remembers_a_copy_of_a_real_model(tandem_home: Path, smollm2: Path) -> None:
    request = LoadRequest(
        target="smollm2", draft="smollm2", options=LoadOptions(n_ctx=1024, threads=1, cheaper_draft=True)
    )

    def load(worker: Worker) -> State:
        async def talk(client: RemoteEngine) -> State:
            await last(client.load(request, "load"))
            while (state := await client.state()).draft_copy_busy:  # noqa: ASYNC110 - the worker's, not this loop's
                await asyncio.sleep(0.1)
            return state

        return worker.run(talk)

    notes = []
    for _ in range(2):
        worker = make_worker(tandem_home, {"smollm2": smollm2})
        try:
            state = load(worker)
            assert state.draft is not None
            notes.append(state.draft_copy)
            assert state.draft.quant == ("Q4_0" if state.draft_copy.startswith("using a Q4_0 copy") else "Q4_1")
        finally:
            worker.supervisor.stop()
    assert notes[0] == notes[1] != ""
    learnt = json.loads((tandem_home / "learnt.json").read_text())["entries"].values()
    (choice,) = [entry["choice"] for entry in learnt if "choice" in entry]
    assert 0.2 < choice["accepted"] <= choice["draft_accepted"] + 0.02
    assert choice["draft_accepted"] > 0.9, "a model agrees with itself"
    assert len(list((tandem_home / "copies").glob("*.gguf"))) == 1
