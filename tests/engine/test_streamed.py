"""A target larger than the memory: layers are exchanged under llama.cpp's feet, its draft is held, drafts are long."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.load import load_target
from backend.engine.mapping import PAGE, Files, Region, layer_runs, locate, mapped, supported
from backend.engine.pair import Pair
from backend.engine.sequence import Sequence
from backend.engine.stream import Streamer
from backend.equations import LONGEST
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import read_facts
from backend.protocol import Message, Speculation
from backend.speculation.cost import PassCosts
from tests.engine.rig import OFF, load, loaded, options, pair, request, say

TEXT = "The lighthouse keeper wrote down every ship that passed."
MISSING = 87_000_000
ALL_BUT_THE_FIRST = 29

pytestmark = pytest.mark.skipif(not supported(), reason="mappings are replaced the way Linux does it")


@pytest.fixture
def own_copy(smollm2: Path, tmp_path: Path) -> Path:
    """A file that may be cut."""
    return Path(shutil.copy(smollm2, tmp_path / "own.gguf"))


def test_texts_are_those_of_a_target_in_memory(smollm2: Path) -> None:
    """Weights as they are in the file: other kernels, so near-ties may differ; the first tokens must not."""
    texts = []
    for streamed in (0, MISSING):
        with pair(smollm2, smollm2, streamed=streamed) as both:
            texts.append(say(both, TEXT, max_tokens=6, speculation=OFF).ids)
    assert texts[0] == texts[1]


def test_speculation_is_exact_on_it(smollm2: Path) -> None:
    with pair(smollm2, smollm2, streamed=MISSING) as both:
        assert both.target.streamed
        assert not both.draft.streamed
        assert len(both.target.streamer._order) == ALL_BUT_THE_FIRST
        plain = say(both, TEXT, max_tokens=24, speculation=OFF, reuse_cache=False)
        drafted = say(both, TEXT, max_tokens=24, reuse_cache=False)
        assert drafted.ids == plain.ids


def test_a_first_proposal_rides_in_the_prompts_last_pass(smollm2: Path) -> None:
    """Where passes are long: a short answer then takes the prompt's pass and little more."""
    with pair(smollm2, smollm2, streamed=MISSING) as both:
        plain = say(both, TEXT, max_tokens=9, speculation=OFF, reuse_cache=False)
        both.costs = slow = PassCosts()
        slow.observe(1, 2000.0)
        slow.observe(LONGEST + 1, 2000.0)
        ridden = say(both, TEXT, max_tokens=9, speculation=Speculation(source="draft", length=8), reuse_cache=False)
        assert ridden.ids == plain.ids
        t = ridden.end.timings
        assert (t.passes, t.draft_n_accepted) == (0, 8)
        assert t.draft_prompt_n == t.prompt_n
        assert t.request_ms >= t.prompt_ms + t.draft_prompt_ms
        assert t.predicted_ms < t.draft_prompt_ms
        assert both.target.context.sequence().tokens[ridden.end.start :] == plain.ids[:-1]


def test_few_layers_are_in_memory_at_any_time(smollm2: Path) -> None:
    with pair(smollm2, smollm2, streamed=MISSING) as both:
        streamer, most = both.target.streamer, 0
        done = streamer._done

        def watched(layer: int) -> None:
            nonlocal most
            done(layer)
            most = max(most, len(streamer._resident) + (streamer._loading >= 0))

        streamer._done = watched
        say(both, TEXT, max_tokens=8, speculation=OFF, reuse_cache=False)
        assert 1 <= most <= 4


def again_and_again(sequence: Sequence) -> None:
    for _ in range(200):
        sequence.clear()
        sequence.read([5] * 40)


def test_a_pass_that_was_given_up_is_begun_anew(smollm2: Path) -> None:
    """It stops while it waits for the disk, and the next one finds the layers it needs."""
    with loaded(smollm2, n_ctx=512, streamed=MISSING) as model:
        sequence = model.context.sequence()
        expected = sequence.read([5] * 40)[-1].copy()
        for _ in range(5):
            sequence.clear()
            flag = CancelFlag()
            model.context.abort_on(flag)
            timer = threading.Timer(0.01, flag.set)
            timer.start()
            with pytest.raises(EngineError) as caught:
                again_and_again(sequence)
            assert caught.value.code is ErrorCode.CANCELLED
            timer.join()
        model.context.abort_on(CancelFlag())
        sequence.clear()
        assert (sequence.read([5] * 40)[-1] == expected).all()


def test_a_file_that_becomes_shorter_ends_the_pass_with_the_reason(own_copy: Path) -> None:
    with loaded(own_copy, n_ctx=256, streamed=MISSING) as model:
        sequence = model.context.sequence()
        sequence.read([5] * 8)
        size = own_copy.stat().st_size
        with own_copy.open("r+b") as file:  # its end is not read through the mapping: that would be a bus error
            facts = read_facts(own_copy)
            last = max(run.offset for layer, runs in layer_runs(facts).items() for run in runs if layer == 29)
            file.truncate(last)
        try:
            with pytest.raises(EngineError, match="could not be read") as caught:
                again_and_again(sequence)
            assert caught.value.code is ErrorCode.DECODE_FAILED
            with pytest.raises(EngineError, match="could not be read"):
                sequence.decode([6])
        finally:
            with own_copy.open("r+b") as file:
                file.truncate(size)


def work(both: Pair, what: str) -> None:
    if what == "judge":
        both.judge((Message(role="user", content=TEXT),), [7, 8, 9] * 40, {}, CancelFlag())
    else:
        wanted = Speculation(source="draft", length=8)
        ask = request(TEXT, max_tokens=40, ignore_eos=True, speculation=wanted)
        list(getattr(both, what)(ask, CancelFlag()))


@pytest.mark.parametrize("what", ["reply", "compare", "judge"])
def test_a_disk_that_fails_while_the_draft_works_is_no_stop(
    smollm2: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    with pair(smollm2, smollm2, streamed=MISSING) as both:
        assert both.draft is not None
        streamer, own, passes = both.target.streamer, both.draft.context.sequence(), itertools.count()
        assert streamer is not None
        append = Sequence.append

        def failing(self: Sequence, *more: Any) -> Any:
            if self is own and next(passes) == 3:  # as the reading thread does
                streamer.error = OSError(5, "Input/output error")
                streamer.give_up()
            return append(self, *more)

        monkeypatch.setattr(Sequence, "append", failing)
        with pytest.raises(EngineError, match="could not be read") as caught:
            work(both, what)
        assert caught.value.code is ErrorCode.DECODE_FAILED


def test_a_disk_that_fails_while_loading_is_said(smollm2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Files, "fill", broken)
    with pytest.raises(EngineError, match=r"could not be read on \(Input/output error\)"):
        load(smollm2, streamed=MISSING)
    monkeypatch.setattr("backend.engine.load.warm", broken)
    with pytest.raises(EngineError, match=r"could not be read on \(Input/output error\)"):
        load(smollm2)


def test_a_load_is_stopped_up_to_its_last_layer(smollm2: Path) -> None:
    flag = CancelFlag()

    def stop(phase: str, fraction: float) -> None:
        if phase == "stream" and fraction > 0.95:
            flag.set()

    with pytest.raises(EngineError) as caught:
        load_target(smollm2, "x", options(streamed=MISSING), stop, flag)
    assert caught.value.code is ErrorCode.CANCELLED


def test_nothing_more_is_read_than_is_wanted(smollm2: Path) -> None:
    run = layer_runs(facts := read_facts(smollm2))[3][0]
    memory, files = mmap.mmap(-1, run.size), Files(facts)
    region = Region(run, ctypes.addressof(ctypes.c_char.from_buffer(memory)))
    with ThreadPoolExecutor(2) as pool:
        files.fill(region, pool, lambda: False)
        assert not any(memory[: 1 << 16])
        files.fill(region, pool, lambda: True)
    assert memory[: run.size] == smollm2.read_bytes()[run.offset : run.offset + run.size]
    files.close()


def test_another_load_of_the_same_file_is_left_alone(smollm2: Path) -> None:
    """It may be freed first, and then its addresses are anything's."""
    runs = layer_runs(read_facts(smollm2))
    size = smollm2.stat().st_size
    with smollm2.open("rb") as file:
        earlier = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        before = mapped([smollm2])
        own = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    ours = mapped([smollm2]) - before
    for others, (start,) in ((before, ours), (ours, before)):
        regions = [region for found in locate(runs, others).values() for region in found]
        assert regions
        assert all(start <= region.address < start + size for region in regions)
    earlier.close()
    own.close()


def test_rows_of_what_stays_mapped_are_read_by_the_page(smollm2: Path) -> None:
    """A row of an embedding would bring 128 KB into a memory that is full, and push other pages out."""
    before = mapped([smollm2])
    with loaded(smollm2, streamed=MISSING, n_ctx=256):
        left = mapped([smollm2]) - before
        flags, at = dict[int, list[str]](), 0
        for line in Path("/proc/self/smaps").read_text(errors="replace").splitlines():
            first, *rest = line.split()
            if first == "VmFlags:":
                flags[at] = rest
            elif not first.endswith(":"):
                at = int(first.partition("-")[0], 16)
        assert left
        assert all("rr" in flags[address] for address in left)


def test_closing_twice_closes_no_file_of_others(smollm2: Path) -> None:
    model = load(smollm2, streamed=MISSING, n_ctx=256)
    model.close()
    kept = [os.open(smollm2, os.O_RDONLY) for _ in range(8)]  # the numbers of what was closed
    model.close()
    for fd in kept:
        os.close(fd)


def test_its_passes_are_told_apart_from_those_in_memory(smollm2: Path) -> None:
    """What passes cost is kept by this."""
    with loaded(smollm2, streamed=MISSING, n_ctx=256) as model:
        assert model.context.kind.endswith(", streamed")


def test_every_page_belongs_to_one_layer(starter_target: Path) -> None:
    facts = read_facts(starter_target)
    runs = layer_runs(facts)
    pages = [
        page for found in runs.values() for run in found for page in range(run.offset, run.offset + run.size, PAGE)
    ]
    assert len(pages) == len(set(pages))
    weights = sum(t.nbytes for t in facts.tensors() if t.name != "token_embd.weight")
    assert 0.99 < len(pages) * PAGE / weights <= 1.0, "what is left over is pages that two layers share"


def test_what_a_stopped_pass_left_is_not_in_the_way(smollm2: Path) -> None:
    """Stopped near its end, the thread has read the last layers and waits for room; the next pass wants the first."""
    with loaded(smollm2, n_ctx=256, streamed=MISSING) as model:
        streamer, sequence = model.streamer, model.context.sequence()
        assert streamer is not None
        pool = streamer._pool
        assert pool is not None
        expected = sequence.read([5] * 8)[-1].copy()
        with streamer._changed:
            assert streamer._changed.wait_for(lambda: len(streamer._resident) == 3, timeout=5)
            for layer in streamer._resident:
                pool.take_back(layer, streamer._regions[layer])
            streamer._resident[:] = streamer._order[-3:]
            for layer in streamer._resident:
                pool.lend(layer, streamer._regions[layer])
            streamer._next = 0
            streamer._changed.notify_all()
        sequence.clear()
        assert (sequence.read([5] * 8)[-1] == expected).all()


def test_memory_goes_from_layer_to_layer(smollm2: Path) -> None:
    """Three layers' worth for all, given back with the model."""

    def layers() -> list[str]:
        return [line for line in Path("/proc/self/maps").read_text().splitlines() if "memfd:layers" in line]

    with loaded(smollm2, n_ctx=256, streamed=MISSING) as model:
        streamer, sequence = model.streamer, model.context.sequence()
        assert streamer is not None
        pool = streamer._pool
        assert pool is not None
        size = os.fstat(pool._fd).st_size
        for _ in range(3):
            sequence.clear()
            sequence.read([5] * 8)
        with streamer._changed:
            assert streamer._changed.wait_for(lambda: len(streamer._resident) == 3, timeout=5)
            assert not pool._free
        assert os.fstat(pool._fd).st_blocks * 512 <= size
        assert layers()
    assert not layers()


def test_a_model_whose_layers_do_not_tell_stays_mapped(smollm2: Path) -> None:
    streamer = Streamer(read_facts(smollm2), MISSING)
    assert streamer.start(lambda _: None, CancelFlag()) == 0
    streamer.close()


def test_what_was_learnt_of_larger_passes_is_not_presumed_away() -> None:
    costs = PassCosts()
    costs.observe(1, 2000.0)
    costs.presume_flat(LONGEST + 1, 1.1)
    assert costs.at(LONGEST + 1) == pytest.approx(2200.0)
    assert 2000.0 < costs.at(8) < 2200.0
    known = PassCosts()
    known.restore({"0": {"unit": 2000.0, "ratio": {"1": 1.0, "8": 2.0}}})
    known.presume_flat(LONGEST + 1, 1.1)
    assert known.at(8) == pytest.approx(4000.0)
