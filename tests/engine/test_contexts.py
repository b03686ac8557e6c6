"""Contexts as models need them: memory that is there or not, cache types, sliding windows, one BOS, any folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from backend.errors import EngineError, ErrorCode
from backend.protocol import LoadOptions, Message, Speculation
from tests import tiny
from tests.engine.rig import COUNT, OFF, fresh_row, kv_end, loaded, pair, say


@pytest.fixture(scope="module")
def llama_file(tiny_dir: Path) -> Path:
    return tiny.tiny_llama(tiny_dir / "context-llama.gguf")


NO_MEMORY = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from backend.engine import native
from backend.errors import EngineError
from tests.engine.rig import load
native.install_log(lambda level, text: None)
try:
    load(Path(sys.argv[1]), n_ctx=4_194_304, kv_type="f32")
except EngineError as error:
    print(error.code, error.message)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits a process's memory the POSIX way")
def test_no_memory_for_a_context_is_said(smollm2: Path, repo_root: Path) -> None:
    """An absurd context fails when it is made, not at the first request (M4)."""
    command = [sys.executable, "-c", NO_MEMORY, str(smollm2)]
    done = subprocess.run(command, cwd=repo_root, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("out_of_memory There is not enough memory for a context of 4194304 tokens"), done


@pytest.mark.parametrize("kv_type", ["q8_0", "q4_0"])
def test_a_quantised_cache_without_flash_attention_is_refused_in_words(smollm2: Path, kv_type: str) -> None:
    """llama.cpp only says that the context could not be made (K10)."""
    for cache in ("kv_type", "draft_kv_type"):
        with (
            pytest.raises(EngineError, match="without flash attention") as caught,
            pair(smollm2, smollm2, flash_attention="off", **{cache: kv_type}),
        ):
            pass
        assert caught.value.code is ErrorCode.BAD_REQUEST


def test_the_drafts_cache_has_its_own_type(smollm2: Path) -> None:
    """f16 unless asked; a quantised one costs little acceptance here, and a collapse would show (K9)."""
    assert LoadOptions().draft_kv_type == "f16"
    with pair(smollm2, smollm2, draft_kv_type="q8_0", kv_type="f16") as both:
        wanted = Speculation(source="draft", length=4)
        assert say(both, COUNT, speculation=wanted, max_tokens=60).end.timings.acceptance > 0.8


def test_a_drafts_buffers_are_for_a_slice_of_a_prompt(smollm2: Path) -> None:
    """It reads no more at once; a longer text in as many parts as it takes."""
    with pair(smollm2, smollm2, n_ctx=256) as both:
        assert (both.target.context.n_batch, both.draft.context.n_batch) == (256, 64)
        text = [5 + i for i in range(200)]
        target, draft = (model.context.sequence().read(text)[-1] for model in (both.target, both.draft))
        assert int(target.argmax()) == int(draft.argmax())
    with pair(smollm2, smollm2, n_ctx=256, batch=48) as both:
        assert both.draft.context.n_batch == 48


@pytest.mark.parametrize("folder", ["Модели", "模型", "ideographic\u3000space", "🦊 models", "é ü ñ"])
def test_a_model_in_a_folder_of_any_name_loads(llama_file: Path, tmp_path: Path, folder: str) -> None:
    """E14."""
    (tmp_path / folder).mkdir()
    path = tmp_path / folder / f"{folder}.gguf"
    path.write_bytes(llama_file.read_bytes())
    with loaded(path) as model:
        assert model.info.file == f"{folder}.gguf"
        model.context.sequence().read(range(5, 40))


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    """Total variation of the two laws."""
    p, q = (np.exp(row.astype(np.float64) - row.max()) for row in (a, b))
    return float(np.abs(p / p.sum() - q / q.sum()).sum() / 2)


@pytest.mark.parametrize("which", ["tiny", "gemma"])
def test_sliding_window_past_the_window(which: str, tiny_dir: Path, gemma3_270m: Path) -> None:
    """Prefix reuse and rollback far behind the window, which needs the full-size cache (K7, O3)."""
    path = tiny.tiny_gemma3(tiny_dir / "context-swa.gguf", window=16) if which == "tiny" else gemma3_270m
    with loaded(path, n_ctx=2048) as model:
        n = 120 if which == "tiny" else 700
        text = "The lighthouse keeper counted the ships and wrote them down. " * 80
        ids = model.vocab.tokenize(text, parse_special=False)[:n]
        assert llama_cpp.llama_model_n_swa(model._pointer) < n
        assert model.context.max_rollback is None
        sequence = model.context.sequence()
        sequence.read(ids)
        for keep in (n - 3, 5):
            sequence.truncate(keep)
            assert kv_end(sequence) == keep
            row = sequence.read(ids[keep : keep + 4])[-1].copy()
            # batched kernels round differently (0.07 seen on Gemma's file); one token too few is another matter
            rounding = _distance(row, fresh_row(model, ids[: keep + 4]))
            wrong = _distance(row, fresh_row(model, ids[: keep - 1] + ids[keep : keep + 4]))
            assert rounding < 0.12
            assert wrong > 2 * rounding
            assert wrong > 0.05


def test_speculation_past_the_window_changes_nothing(tiny_dir: Path) -> None:
    path = tiny.tiny_gemma3(tiny_dir / "context-swa-pair.gguf", window=16)
    small = tiny.tiny_gemma3(tiny_dir / "context-swa-draft.gguf", window=16, noise=0.3)
    with pair(path, small) as both:
        plain = say(both, COUNT, speculation=OFF, max_tokens=100, ignore_eos=True, reuse_cache=False)
        for source in ("draft", "lookup"):
            wanted = Speculation(source=source, length=4)
            reply = say(both, COUNT, speculation=wanted, max_tokens=100, ignore_eos=True, reuse_cache=False)
            first = next((i for i in range(100) if reply.ids[i] != plain.ids[i]), None)
            assert first is None or plain.margins[first] < 0.05


def test_exactly_one_bos_in_both_contexts(gemma3_270m: Path, smollm2: Path, tiny_dir: Path) -> None:
    """Where the template writes one and the vocabulary adds one, there is still one (E12)."""
    tiny_path = tiny.tiny_gemma3(tiny_dir / "context-bos.gguf")
    for path in (gemma3_270m, tiny_path):
        with pair(path, path) as both:
            assert both.draft is not None
            bos = both.target.vocab.bos
            say(both, COUNT, speculation=Speculation(source="draft", length=3), max_tokens=8, ignore_eos=True)
            for model in (both.target, both.draft):
                held = model.context.sequence().tokens
                assert held[0] == bos
                assert held.count(bos) == 1


def test_no_bos_where_the_model_wants_none(starter_draft: Path) -> None:
    """Qwen's files name a token as BOS and say not to add it (E13)."""
    with loaded(starter_draft) as model:
        ids = model.template.prompt_tokens([Message(role="user", content="Hi, you")], {})
        assert model.vocab.bos not in ids
        assert model.vocab.tokenize(",", parse_special=False)[0] not in ids[:1]
