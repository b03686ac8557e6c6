"""The front desk and the engine's threads in this process, on tiny models: exchanges, swaps, cancels, notices."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from backend.errors import EngineError, ErrorCode
from backend.protocol import DraftRequest, LoadOptions, LoadRequest, Message, ReplyRequest, Speculation
from backend.server.host import Host
from backend.server.jobs import Job
from backend.server.rig import Rig
from tests.tiny import tiny_llama, tiny_mmproj

OPTIONS = LoadOptions(n_ctx=512, threads=1, gpu_layers=0, draft_gpu_layers=0)
HELLO = ReplyRequest(messages=(Message(role="user", content="hello"),), max_tokens=4)


class FolderRig(Rig):
    """The real engine over a folder of files, their names the ids."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def resolve(self, model_id: str) -> Path:
        return self._folder / model_id


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny_llama(folder / "good.gguf")
    tiny_llama(folder / "draft.gguf", n_layer=1)
    tiny_mmproj(folder / "projector.gguf")
    (folder / "text.gguf").write_text("this is not a model" * 100)
    (folder / "short.gguf").write_bytes((folder / "good.gguf").read_bytes()[:-4096])
    return folder


@pytest.mark.skipif(psutil.virtual_memory().total > 2e11, reason="it fits here")
def test_a_pair_that_would_not_fit_leaves_the_old_one_in_place(folder: Path) -> None:
    """Four million tokens of a hundred layers take 200 GB, however narrow these are."""
    tiny_llama(folder / "deep.gguf", n_layer=100, n_head_kv=4)
    vast = LoadRequest(target="deep.gguf", options=OPTIONS.model_copy(update={"n_ctx": 4_194_304, "kv_type": "f32"}))

    async def talk(host: Host) -> None:
        before = host.state().target
        with pytest.raises(EngineError, match="are free") as caught:
            await ended(host.load(vast, None))
        assert caught.value.code is ErrorCode.TOO_LARGE
        assert before is not None
        assert host.state().target == before

    with_host(folder, talk)


@pytest.mark.parametrize(
    "more", [{"strict": True, "kv_type": "q8_0"}, {"flash_attention": "off", "draft_kv_type": "q4_0"}]
)
def test_caches_that_cannot_be_leave_the_old_pair_in_place(folder: Path, more: dict[str, object]) -> None:
    impossible = LoadRequest(target="good.gguf", options=OPTIONS.model_copy(update=more))

    async def talk(host: Host) -> None:
        with pytest.raises(EngineError, match="choose f16"):
            await ended(host.load(impossible, None))
        assert host.state().target is not None
        assert host.state().phase == "ready"

    with_host(folder, talk)


def with_host(folder: Path, talk: Callable[[Host], Awaitable[None]]) -> None:
    """Run ``talk`` with the good model loaded."""

    async def main() -> None:
        host = Host(FolderRig(folder))
        host.start()
        try:
            await host.started()
            await ended(host.load(LoadRequest(target="good.gguf", options=OPTIONS), None))
            await talk(host)
        finally:
            await asyncio.to_thread(host.close)

    asyncio.run(main())


async def ended(job: Job) -> None:
    """Wait for a job's end; raises what ended it."""
    async for _ in job.outbox.batches():
        pass


async def until(true: Callable[[], bool]) -> None:
    """Wait for something that happens on another thread."""
    while not true():  # noqa: ASYNC110 - other threads set no event of this loop
        await asyncio.sleep(0.005)


def occupy(host: Host) -> threading.Event:
    """Keep the engine thread busy until the event is set."""
    gate = threading.Event()

    def wait(_job: Job) -> None:
        gate.wait(30)

    host._submit(host._engine, None, wait)
    return gate


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("none.gguf", "file_missing"),
        ("text.gguf", "file_not_gguf"),
        ("short.gguf", "file_truncated"),
        ("projector.gguf", "model_unsupported"),
    ],
)
def test_a_bad_file_does_not_cost_the_model_that_is_loaded(folder: Path, name: str, code: str) -> None:
    async def talk(host: Host) -> None:
        with pytest.raises(EngineError) as caught:
            await ended(host.load(LoadRequest(target=name, options=OPTIONS), None))
        assert caught.value.code == code
        assert host.model_id == "good.gguf"
        assert host.state().phase == "ready"
        await ended(host.reply(HELLO, None))

    with_host(folder, talk)


def test_settings_that_come_during_a_load_hold_for_what_is_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off = Speculation(enabled=False)

    async def talk(host: Host) -> None:
        make = host._work._rig.pair

        def pair(*models: Any) -> Any:
            made = make(*models)
            host.set_speculation(off)
            return made

        monkeypatch.setattr(host._work._rig, "pair", pair)
        await ended(host.load(LoadRequest(target="good.gguf", options=OPTIONS), None))
        assert host._work.pair is not None
        assert host._work.pair.speculation == host.state().speculation == off

    with_host(folder, talk)


def test_a_swap_that_is_cancelled_while_the_engine_is_busy_changes_nothing(folder: Path) -> None:
    async def talk(host: Host) -> None:
        gate = occupy(host)
        swap = host.set_draft(DraftRequest(draft="draft.gguf"), "swap")
        pair = host._work.pair
        assert pair is not None
        await until(lambda: bool(pair._offers))
        host.cancel("swap")
        with pytest.raises(EngineError) as caught:
            await ended(swap)
        assert caught.value.code is ErrorCode.CANCELLED
        gate.set()
        await ended(host.reply(HELLO, None))
        assert host.state().draft is None

    with_host(folder, talk)


def test_a_swap_waits_for_as_long_as_the_engine_is_busy(folder: Path) -> None:
    async def talk(host: Host) -> None:
        gate = occupy(host)
        waiting = asyncio.ensure_future(ended(host.set_draft(DraftRequest(draft="draft.gguf"), None)))
        await asyncio.sleep(5.3)  # a reader of a long prompt takes longer
        assert not waiting.done()
        gate.set()
        await waiting
        draft = host.state().draft
        assert draft is not None
        assert draft.id == "draft.gguf"

    with_host(folder, talk)


def test_measuring_leaves_the_memory_of_a_draft_that_a_reply_has_used(folder: Path) -> None:
    async def talk(host: Host) -> None:
        await ended(host.set_draft(DraftRequest(draft="draft.gguf"), None))
        await ended(host.reply(HELLO, None))  # behind the measuring
        pair = host._work.pair
        assert pair is not None
        assert pair.draft is not None
        pair.draft.context.sequence().read([1, 2, 3])
        held = pair.draft.context.sequence().length
        await ended(host._submit(host._engine, None, host._work.measure))
        assert pair.draft.context.sequence().length == held >= 3

    with_host(folder, talk)


def test_a_cancel_that_comes_after_the_end_does_not_hit_the_next_job_of_that_id(folder: Path) -> None:
    async def talk(host: Host) -> None:
        await ended(host.reply(HELLO, "mine"))
        await until(lambda: "mine" not in host._jobs)
        host.cancel("mine")
        await ended(host.reply(HELLO, "mine"))
        host.cancel("early")
        gate = occupy(host)
        early = host.reply(HELLO, "early")
        gate.set()
        with pytest.raises(EngineError) as caught:
            await ended(early)
        assert caught.value.code is ErrorCode.CANCELLED

    with_host(folder, talk)


def test_jobs_may_come_and_be_cancelled_on_any_thread(folder: Path) -> None:
    async def talk(host: Host) -> None:
        failures: list[BaseException] = []

        def worry(n: int) -> None:
            until = time.monotonic() + 0.5
            i = 0
            try:
                while time.monotonic() < until:
                    host.cancel(f"never-{n}-{i}")
                    host._submit(host._counter, f"job-{n}-{i}", lambda _job: None)
                    i += 1
            except BaseException as error:  # noqa: BLE001 - shown by the assertion
                failures.append(error)

        threads = [threading.Thread(target=worry, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.to_thread(thread.join)
        assert not failures

    with_host(folder, talk)


def test_a_notice_outlives_what_is_said_meanwhile(folder: Path) -> None:
    async def talk(host: Host) -> None:
        host.notice("The local API could not start.")
        await ended(host.reply(HELLO, None))
        assert host.state().detail == "The local API could not start."

    with_host(folder, talk)
