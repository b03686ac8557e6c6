"""What a context takes: as the engine says without making it, and when it makes it, and by the plan's formulas."""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from backend.cli import main
from backend.engine import aside, native, place, sizes
from backend.engine.cancel import CancelFlag
from backend.engine.mapping import layer_runs
from backend.engine.quantize import quantize
from backend.engine.sizes import ask, needs_of, told
from backend.engine.warm import warm
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, read_facts
from backend.plan.needs import Needs, Sizes, of_file
from backend.protocol import LoadOptions
from tests.engine.rig import loaded, options
from tests.shapes import deepseek_v2_lite, qwen3_30b_a3b
from tests.tiny import tiny_gemma3, tiny_llama, tiny_qwen2
from tests.tiny_experts import tiny_qwen3
from tests.tiny_recurrent import SNAPSHOTS, tiny_jamba, tiny_mamba

SURE = {
    "llama": tiny_llama,
    "every head its own": partial(tiny_llama, n_head_kv=4),
    "qwen2": tiny_qwen2,
    "qwen3": tiny_qwen3,
    "sliding": tiny_gemma3,
}
ROUGH = {"experts": partial(tiny_qwen3, experts=8), "mamba": tiny_mamba, "jamba": tiny_jamba, **SNAPSHOTS}
WRITERS: dict[str, Callable[[Path], Path]] = {**SURE, **ROUGH}


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """llama.cpp's lines."""
    lines: list[str] = []
    native.install_log(lambda _level, text: lines.append(text))
    yield lines
    native.install_log(lambda _level, _text: None)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder, files = tmp_path_factory.mktemp("sizes"), dict[str, Path]()

    def write(kind: str) -> Path:
        if kind not in files:
            files[kind] = WRITERS[kind](folder / f"{kind.replace(' ', '-')}.gguf")
        return files[kind]

    return write


def made(path: Path, lines: list[str], **more: Any) -> Sizes:
    """As a load's last context was made: one before it may have asked what a snapshot takes."""
    lines.clear()
    with loaded(path, **more) as model:
        begun = [i for i, line in enumerate(lines) if "constructing llama_context" in line]
        return told(lines[begun[-1] :], model.context.snapshots)


@pytest.mark.parametrize("kind", WRITERS)
def test_the_engine_says_beforehand_what_a_load_takes(
    kind: str, written: Callable[[str], Path], logged: list[str]
) -> None:
    said, own = ask(written(kind), options(), "target", 512), made(written(kind), logged)
    assert said is not None
    assert own.compute > 0
    assert own.cache + own.state > 0
    assert (said.cache, said.compute) == (own.cache, own.compute)
    assert said.state == pytest.approx(own.state, abs=2**14)  # told in hundredths of a MiB


@pytest.mark.parametrize(
    "more",
    [
        {"n_ctx": 512},
        {"n_ctx": 2048, "batch": 64},
        {"n_ctx": 2048, "batch": 2048},
        {"n_ctx": 2048, "flash_attention": "on"},
        {"n_ctx": 1024, "kv_type": "f32"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", SURE)
def test_the_formulas_hold_where_they_are_said_to(
    kind: str, more: dict[str, Any], written: Callable[[str], Path], logged: list[str]
) -> None:
    own, needs = made(written(kind), logged, **more), of_file(read_facts(written(kind)))
    wanted = place._request(LoadOptions(**more), read_facts(written(kind)), None)
    assert not needs.rough
    assert needs.kv(wanted.n_ctx, wanted.kv_type) == pytest.approx(own.cache, rel=0.02, abs=2**14)
    buffer = needs.buffer(wanted.n_ctx, wanted.n_batch, wanted.rows, flash=wanted.flash)
    assert buffer == pytest.approx(own.compute, rel=0.1)


@pytest.mark.parametrize("kind", ROUGH)
def test_of_other_kinds_the_plan_is_told(kind: str, written: Callable[[str], Path], logged: list[str]) -> None:
    facts, wanted = read_facts(written(kind)), LoadOptions(n_ctx=512)
    assert of_file(facts).rough
    needs, own = needs_of(facts, wanted, "target"), made(written(kind), logged)
    assert not needs.rough
    assert needs.kv(512) == pytest.approx(own.cache + own.state, rel=0.02, abs=2**14)
    flash = place._request(wanted, facts, None).flash
    assert needs.buffer(512, 512, 64, flash=flash) == pytest.approx(own.compute, rel=0.01)
    assert place._request(wanted, facts, facts).draft is not None


@pytest.mark.parametrize("quant", ["Q4_0", "Q8_0"])
def test_a_tied_matrix_that_is_repacked_is_held_twice(quant: str, tmp_path: Path, logged: list[str]) -> None:
    """The embedding is looked up in the file's order, the output matrix multiplied in another."""
    copy = tmp_path / "copy.gguf"
    quantize(tiny_gemma3(tmp_path / "tied.gguf"), copy, quant, lambda _fraction: None, CancelFlag())
    made(copy, logged, use_mmap=False)
    held = sum(float(found) for found in re.findall(r"model buffer size = +([\d.]+) MiB", "".join(logged)))
    needs = of_file(read_facts(copy))
    assert needs.shared > 0
    assert held * 2**20 == pytest.approx(needs.resident(mapped=False), rel=0.01, abs=2**14)


def test_half_a_gigabyte_is_not_read_for_it(starter_target: Path) -> None:
    said = ask(starter_target, LoadOptions(), "target", 8192)
    assert said is not None
    needs = of_file(read_facts(starter_target))
    assert said.cache == needs.kv(8192)
    assert said.compute == pytest.approx(needs.buffer(8192, 512, 64, flash=False), rel=0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="sparse files")
def test_a_compressed_cache_is_told_of_a_model_that_is_not_there(tmp_path: Path) -> None:
    """16 GB of weights would be; its header counts keys and values apart, the cache holds one for both."""
    facts = read_facts(deepseek_v2_lite(tmp_path / "deepseek.gguf"))
    rough, needs = of_file(facts), needs_of(facts, LoadOptions(), "target")
    assert needs.kv(8192) == pytest.approx(27 * 8192 * 576 * 2, rel=0.001)
    assert rough.kv(8192) == 27 * 8192 * (576 + 512) * 2
    assert needs.weights == rough.weights > 8e9
    (tmp_path / "deepseek.gguf").unlink()


@pytest.mark.skipif(sys.platform != "linux", reason="sparse files")
def test_of_a_mixture_a_small_card_takes_all_but_experts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = qwen3_30b_a3b(tmp_path / "mixture.gguf")
    assert main(["plan", "--target", str(path), "--draft", "none", "--vram", "8", "--memory", "32"]) == 0
    out = capsys.readouterr().out
    found = re.search(r"49/49, (\d+) without experts", out)
    assert found is not None, out
    assert 0 < int(found[1]) < 48
    assert "caches and buffers estimated" not in out
    path.unlink()


def test_without_an_answer_the_formulas_stand(
    written: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(64))
    assert ask(broken, LoadOptions(), "target", 512) is None
    assert "broken.gguf" in caplog.text
    path = written("experts")
    assert ask(path, LoadOptions(), "target", 512, seconds=0.0) is None
    assert "it was given 0 s" in caplog.text
    monkeypatch.setattr(sizes, "_answer", stop)
    assert ask(path, LoadOptions(), "target", 512) is None
    assert "it stopped itself" in caplog.text
    assert not multiprocessing.active_children()
    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", refuse)
    assert ask(path, LoadOptions(), "target", 512) is None
    assert "too many processes" in caplog.text
    facts = read_facts(path)
    assert needs_of(facts, LoadOptions(n_ctx=640), "target") == of_file(facts)


def stop(*_given: object) -> None:
    """As an exception does."""
    os._exit(1)


def abort(*_given: object) -> None:
    """As an assertion of the engine's does."""
    os.abort()


def hang(*_given: object) -> None:
    """As a disk does that does not answer."""
    aside.end_with_parent()
    threading.Event().wait(600)


def refuse(_process: object) -> None:
    raise OSError("too many processes")


@pytest.mark.skipif(sys.platform == "win32", reason="a signal ends it")
def test_a_file_that_ends_the_engine_is_refused_and_asked_about_once(
    written: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sizes, "_answer", abort)
    facts, asked = read_facts(written("experts")), LoadOptions(n_ctx=704)
    sound = read_facts(written("llama"))
    assert place._request(asked, sound, facts).draft is None, "what is wrong with a draft is said when it is loaded"
    for _ in range(2):
        with pytest.raises(EngineError, match="ends the engine") as caught:
            needs_of(facts, asked, "target")
        assert caught.value.code is ErrorCode.LOAD_FAILED
        monkeypatch.setattr(sizes, "ask", lambda *_, **__: pytest.fail("asked again"))


def test_asking_ends_when_it_is_stopped(written: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_answer", hang)
    facts, flag = read_facts(written("experts")), CancelFlag()
    threading.Timer(0.2, flag.set).start()
    for load in (place.check_memory, place.place_target):
        with pytest.raises(EngineError) as caught:
            load(LoadOptions(n_ctx=768), facts, None, [], 2**40, flag=flag)
        assert caught.value.code is ErrorCode.CANCELLED
        assert not multiprocessing.active_children()


def test_a_file_that_is_gone_meanwhile_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = read_facts(tiny_qwen3(tmp_path / "experts.gguf", experts=8))

    def last_seen(facts: GgufFacts) -> Needs:
        needs = of_file(facts)
        facts.files[0].unlink()
        return needs

    monkeypatch.setattr(sizes, "of_file", last_seen)
    with pytest.raises(EngineError, match="cannot be opened") as caught:
        needs_of(facts, LoadOptions(), "target")
    assert caught.value.code is ErrorCode.FILE_MISSING
    for read in (partial(warm, facts.files, print, CancelFlag()), partial(layer_runs, facts)):
        with pytest.raises(EngineError) as caught:
            read()
        assert caught.value.code is ErrorCode.FILE_MISSING


def test_what_is_asked_for_in_another_process_can_be_ended() -> None:
    with aside.process(wait) as other:
        assert other.answer.recv() == "begun"
        (child,) = multiprocessing.active_children()
    assert child not in multiprocessing.active_children()


def wait(answer: Any) -> None:
    aside.end_with_parent()
    answer.send("begun")
    answer.poll(600)


def test_lines_are_read_as_they_are_logged() -> None:
    lines: Sequence[str] = (
        "llama_kv_cache:        CPU KV buffer size =     0.00 MiB\n",
        "llama_kv_cache: size =    2.00 MiB (   512 cells,   4 layers, 64/1 seqs), K (f16):    1.00 MiB, V (f16): 1\n",
        "llama_kv_cache: size =    0.50 MiB (   512 cells,   1 layers, 64/1 seqs), K (f16):    0.25 MiB, V (f16): 1\n",
        "llama_memory_recurrent:        CPU RS buffer size =     3.00 MiB\n",
        "llama_memory_recurrent: size =    3.00 MiB (     1 cells,   2 layers,  1 seqs  2 rs_seq), R (f32):    1.00\n",
        "sched_reserve:        CPU compute buffer size =    10.25 MiB\n",
        "llama_context:        CPU  output buffer size =     0.08 MiB\n",
    )
    assert told(lines, snapshots=2) == Sizes(5 * 2**19, 2**20, 41 * 2**18)
