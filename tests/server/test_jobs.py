"""Outboxes and job threads: nothing is lost, nobody waits for a reader, a thread survives its jobs."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from backend.engine.cancel import CancelFlag
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, PromptProgress, Timings, TokenRecord
from backend.server.jobs import Job, JobThread, Outbox
from backend.server.shapes import merge


async def read_all(outbox: Outbox[Any], pause: float = 0.0) -> list[list[Any]]:
    batches = []
    async for batch in outbox.batches(keep_alive=5):
        batches.append(batch)
        await asyncio.sleep(pause)
    return batches


@pytest.mark.parametrize("pause", [0.0, 0.003])
def test_everything_arrives_in_order_from_another_thread(pause: float) -> None:
    async def main() -> list[list[int]]:
        outbox: Outbox[int] = Outbox(asyncio.get_running_loop())

        def produce() -> None:
            for i in range(5000):
                outbox.put(i)
                if i % 500 == 0:
                    time.sleep(0.002)
            outbox.close()

        thread = threading.Thread(target=produce)
        thread.start()
        batches = await read_all(outbox, pause)
        thread.join()
        return batches

    batches = asyncio.run(main())
    assert [i for batch in batches for i in batch] == list(range(5000))


def test_a_slow_reader_gets_few_large_batches_and_the_producer_does_not_wait() -> None:
    async def main() -> tuple[float, list[list[int]]]:
        outbox: Outbox[int] = Outbox(asyncio.get_running_loop())
        began = time.perf_counter()
        for i in range(10_000):
            outbox.put(i)
        outbox.close()
        return time.perf_counter() - began, await read_all(outbox)

    spent, batches = asyncio.run(main())
    assert spent < 1
    assert len(batches) == 1


def test_the_error_comes_after_the_events() -> None:
    async def main() -> list[int]:
        outbox: Outbox[int] = Outbox(asyncio.get_running_loop())
        outbox.put(1)
        outbox.close(EngineError(ErrorCode.DECODE_FAILED, "failed"))
        outbox.close()  # too late to make it a success
        seen = []

        async def read() -> None:
            async for batch in outbox.batches():
                seen.extend(batch)

        with pytest.raises(EngineError, match="failed"):
            await read()
        return seen

    assert asyncio.run(main()) == [1]


def test_silence_gives_an_empty_batch_and_a_limit_keeps_the_newest() -> None:
    async def main() -> None:
        outbox: Outbox[int] = Outbox(asyncio.get_running_loop(), limit=3)
        batches = outbox.batches(keep_alive=0.01)
        assert await anext(batches) == []
        for i in range(10):
            outbox.put(i)
        assert await anext(batches) == [7, 8, 9]

    asyncio.run(main())


def test_putting_after_the_loop_has_gone_is_harmless() -> None:
    async def main() -> Outbox[int]:
        outbox: Outbox[int] = Outbox(asyncio.get_running_loop())
        waiting = asyncio.ensure_future(anext(outbox.batches()))
        await asyncio.sleep(0)
        waiting.cancel()
        return outbox

    asyncio.run(main()).put(1)


def make_job(name: str, work: Any) -> Job:
    return Job(name, work, CancelFlag(), Outbox(asyncio.get_running_loop()))


def test_a_thread_does_jobs_in_order_and_survives_them() -> None:
    async def main() -> None:
        done: list[str] = []
        thread = JobThread("test", lambda job: done.append(job.id))
        gate = threading.Event()

        def fail(_job: Job) -> None:
            raise ValueError("the prompt was: SECRET")

        def refuse(_job: Job) -> None:
            raise EngineError(ErrorCode.NO_MODEL, "none")

        def exhaust(_job: Job) -> None:
            raise MemoryError

        jobs = [
            make_job("first", lambda job: (gate.wait(), job.emit("a"))),
            make_job("bug", fail),
            make_job("refused", refuse),
            make_job("memory", exhaust),
            make_job("unwanted", lambda job: job.emit("never")),
            make_job("last", lambda job: job.emit("z")),
        ]
        for job in jobs:
            thread.submit(job)
        thread.start()
        await asyncio.sleep(0.05)
        assert thread.waiting == 5
        assert thread.discard(jobs[4])
        assert not thread.discard(jobs[4])
        gate.set()
        assert await read_all(jobs[0].outbox) == [["a"]]
        for job, code in ((jobs[1], "bug"), (jobs[2], "no_model"), (jobs[3], "out_of_memory"), (jobs[4], "cancelled")):
            with pytest.raises(EngineError) as caught:
                await read_all(job.outbox)
            assert caught.value.code == code
        assert await read_all(jobs[5].outbox) == [["z"]]
        assert not thread.discard(jobs[5])
        assert thread.stop(5)
        assert done == ["unwanted", "first", "bug", "refused", "memory", "last"]
        with pytest.raises(EngineError):
            thread.submit(jobs[0])

    asyncio.run(main())


def test_stopping_cancels_what_runs_and_what_waits() -> None:
    async def main() -> None:
        thread = JobThread("test", lambda job: None)

        def run_until_cancelled(job: Job) -> None:
            while not job.flag.is_set():
                time.sleep(0.001)

        running, waiting = make_job("running", run_until_cancelled), make_job("waiting", run_until_cancelled)
        thread.submit(running)
        thread.submit(waiting)
        thread.start()
        await asyncio.sleep(0.02)
        assert thread.stop(5)
        assert await read_all(running.outbox) == []
        with pytest.raises(EngineError):
            await read_all(waiting.outbox)

    asyncio.run(main())


def test_neighbours_are_merged_and_nothing_of_them_is_lost() -> None:
    def delta(text: str, n: int) -> Delta:
        token = TokenRecord(n, len(text.encode()), "plain", None, n, n)
        return Delta(text, (token,), Timings(predicted_n=n))

    end = Finished("stop", Timings(), 0, 0, (), "")
    merged = merge([PromptProgress(1, 3, 0), PromptProgress(3, 3, 0), delta("a", 1), delta("é", 2), delta("c", 3), end])
    progress, text, last = merged
    assert progress == PromptProgress(3, 3, 0)
    assert isinstance(text, Delta)
    assert text.text == "aéc"
    assert [t.id for t in text.tokens] == [1, 2, 3]
    assert sum(t.n_bytes for t in text.tokens) == len(text.text.encode())
    assert text.timings.predicted_n == 3
    assert last is end
    assert merge([]) == []
