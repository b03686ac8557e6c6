"""Short answers from a cold page cache: what is dropped, who is watched, and the table."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from backend.bench import streamed
from backend.bench.runner import Run
from backend.bench.workloads import STREAMED, Prompt
from backend.protocol import Sampling, State, Timings

GB = 10**9


def run(mode: str, prompt: Prompt, text: str, ids: list[int], passes: int, ms: float, peak: int = 4 * GB) -> Run:
    timings = Timings(predicted_n=len(ids), passes=passes, request_ms=ms)
    return Run(mode, prompt, 0, 0, timings, text, ids, [0.5] * len(ids), peak_memory=peak)


def test_every_question_is_asked_for_both_lengths_or_for_one() -> None:
    assert [(p.category, p.tokens) for p in STREAMED] == [
        (name, n) for n in (4, 8) for name in ("fact", "product", "expression", "code")
    ]
    assert len({p.id for p in STREAMED}) == 8
    other = streamed.questions(6)
    assert [(p.id, p.tokens) for p in other] == [(f"{n}-6", 6) for n in ("fact", "product", "expression", "code")]


def test_the_table_counts_the_prompts_pass_and_its_time() -> None:
    fact, code = STREAMED[0], STREAMED[3]
    lines = streamed.table(
        [
            run("auto", fact, "The Indian", [1, 2, 3, 4], 0, 6000.0),
            run("plain", fact, "The Indian", [1, 2, 3, 4], 3, 16000.0),
            run("plain", code, "BRK-55\n", [5, 6, 7, 8], 3, 20000.0),
            run("auto", code, "BRK-56\n", [5, 6, 7, 9], 1, 12000.0, 5 * GB),
        ]
    )
    cells = [line.split() for line in lines]
    assert cells[0] == streamed._HEAD
    assert lines[1].startswith("fact      4   auto   The Indian  1       6.00 s   1.50     4.0 GB  1/1")
    assert [row[2] for row in cells[1:5]] == ["auto", "plain", "auto", "plain"], "by question, then by mode"
    assert cells[3][3] == "BRK-56␊"
    assert cells[6] == ["all", "auto", "3", "18.00", "s", "2.25", "5.0", "GB", "1/2"]
    assert cells[7] == ["all", "plain", "8", "36.00", "s", "4.50", "4.0", "GB", "-"]
    assert lines[-1] == "Seconds a token, with the prompt's reading, as a share of plain's: auto 0.50."


def test_the_page_cache_is_dropped_where_that_is_allowed(tmp_path: Path) -> None:
    switch = tmp_path / "drop_caches"
    switch.write_text("0\n")
    assert streamed.drop_page_cache([], switch) == "dropped before each reply"
    assert switch.read_text() == "1\n"


def test_where_it_is_not_the_models_files_are_dropped_and_that_is_said(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"x" * 100_000)
    said = streamed.drop_page_cache([model, tmp_path / "missing.gguf"], tmp_path / "no" / "drop_caches")
    assert said.startswith("not dropped")
    assert model.read_bytes() == b"x" * 100_000


class Watched:
    """A contestant that takes its time, and the state of a worker whose memory rises meanwhile."""

    name = "auto"

    def __init__(self, *, fails: bool = False) -> None:
        self.asked = 0
        self.fails = fails
        self.enough = asyncio.Event()

    async def answer(self, prompt: Prompt, sampling: Sampling, repeat: int = 0) -> Run:
        await self.enough.wait()
        if self.fails:
            raise RuntimeError("it broke")
        return run("auto", prompt, "", [], 0, 1.0, 0)

    async def state(self) -> State:
        self.asked += 1
        if self.asked == 3:
            self.enough.set()
        return State(memory=100 * self.asked)


@pytest.mark.parametrize("fails", [False, True])
def test_the_worker_is_watched_while_it_replies_and_no_longer(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed, "_LOOK_EVERY", 0.0)

    async def work() -> tuple[int, int, int]:
        watched = Watched(fails=fails)
        cold = streamed.Cold(watched, (), watched)  # type: ignore[arg-type]
        try:
            peak = (await cold.answer(STREAMED[0], Sampling(seed=0))).peak_memory
        except RuntimeError:
            peak = 0
        then = watched.asked
        await asyncio.sleep(0.01)
        return peak, then, watched.asked

    peak, then, later = asyncio.run(work())
    assert peak >= 300 or fails
    assert then == later
