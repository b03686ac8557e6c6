"""One context: every return code told apart, nothing that would abort the process, and truncation proven."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
import pytest

from backend.engine.cancel import CancelFlag
from backend.engine.load import LoadedModel
from backend.engine.sequence import Sequence
from backend.errors import EngineError, ErrorCode
from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from tests import tiny
from tests.engine.rig import COUNT, GREEDY, OFF, fresh_row, kv_end, loaded, pair, request, say

TEXT = [5 + i * 7 % 300 for i in range(200)]


@pytest.fixture(scope="module")
def llama_file(tiny_dir: Path) -> Path:
    return tiny.tiny_llama(tiny_dir / "context-llama.gguf")


@pytest.fixture
def model(llama_file: Path) -> Iterator[LoadedModel]:
    with loaded(llama_file, n_ctx=256, batch=64) as model:
        yield model


@pytest.fixture
def sequence(model: LoadedModel) -> Sequence:
    return model.context.sequence()


# -- return codes


def test_code_1_a_full_cache_is_context_full_and_changes_nothing(model: LoadedModel, sequence: Sequence) -> None:
    sequence.read(TEXT[:1] * model.context.n_ctx)
    assert (sequence.room, sequence.length) == (0, model.context.n_ctx)
    with pytest.raises(EngineError, match=r"context of 256 tokens is full.*longer context") as caught:
        sequence.append([9], 1)
    assert caught.value.code is ErrorCode.CONTEXT_FULL
    assert kv_end(sequence) == sequence.length == model.context.n_ctx
    sequence.truncate(40)
    row = sequence.decode([9])[0].copy()
    assert np.allclose(row, fresh_row(model, [*TEXT[:1] * 40, 9]), atol=1e-2)


def test_code_2_an_abort_leaves_a_context_that_goes_on_as_a_fresh_one(smollm2: Path) -> None:
    """Aborted ubatches stay in llama.cpp's cache; afterwards it must hold exactly what we say it holds."""
    with loaded(smollm2, n_ctx=2048, batch=2048) as model:
        sequence = model.context.sequence()
        ids = model.vocab.tokenize("the fox and the lighthouse " * 300, parse_special=False)[:1500]
        sequence.read(ids[:20])
        timer = threading.Timer(0.1, model.context.flag.set)
        timer.start()
        with pytest.raises(EngineError) as caught:
            sequence.append(ids[20:], 1)
        assert caught.value.code is ErrorCode.CANCELLED
        assert sequence.length == kv_end(sequence) == 20
        model.context.abort_on(CancelFlag())
        row = sequence.append(ids[20:60], 1)
        assert row is not None
        again = row[-1].copy()
        sequence.clear()
        sequence.read(ids[:20])  # in the same slices, so to the bit
        row = sequence.append(ids[20:60], 1)
        assert row is not None
        assert np.array_equal(again, row[-1])


def test_a_set_flag_stops_before_the_first_graph_node(model: LoadedModel, sequence: Sequence) -> None:
    model.context.flag.set()
    with pytest.raises(EngineError, match="Stopped"):
        sequence.read(TEXT)
    assert (sequence.length, kv_end(sequence)) == (0, 0)
    model.context.abort_on(CancelFlag())
    sequence.read(TEXT)
    assert sequence.length == len(TEXT)


def test_code_minus_1_an_invalid_batch_is_refused_and_changes_nothing(model: LoadedModel, sequence: Sequence) -> None:
    sequence.read(TEXT[:10])
    stray = model.context.sequence(model.context.n_seq + 6)  # no such sequence in this context
    with pytest.raises(EngineError, match=r"refused a batch of 1 tokens") as caught:
        stray.append([9], 1)
    assert caught.value.code is ErrorCode.DECODE_FAILED
    assert caught.value.details == {"code": -1}
    assert kv_end(sequence) == sequence.length == 10


def test_inconsistent_positions_are_noticed_and_put_right(sequence: Sequence) -> None:
    """If the bookkeeping ever lags behind the cache, llama.cpp refuses once and the cache is cut to the books (K5)."""
    sequence.read(TEXT[:10])
    del sequence.tokens[8:]
    with pytest.raises(EngineError) as caught:
        sequence.append([9], 1)
    assert caught.value.code is ErrorCode.DECODE_FAILED
    assert kv_end(sequence) == sequence.length == 8
    sequence.append([9], 1)
    assert kv_end(sequence) == sequence.length == 9


def test_other_codes_say_what_to_do(monkeypatch: pytest.MonkeyPatch, sequence: Sequence) -> None:
    """No model file produces a fatal code at will, so this one comes from a stand-in for llama_decode."""
    sequence.read(TEXT[:10])
    monkeypatch.setattr(llama_cpp, "llama_decode", lambda *_: -3)
    with pytest.raises(EngineError, match=r"code -3.*Load the model again") as caught:
        sequence.append([9], 1)
    assert caught.value.code is ErrorCode.DECODE_FAILED
    assert sequence.length == 10


# -- what would abort the process


@pytest.mark.parametrize("token", [-1, 320, 10**6, 2**31, -(2**40)])
def test_an_id_outside_the_vocabulary_never_reaches_llama(sequence: Sequence, token: int) -> None:
    sequence.read(TEXT[:5])
    with pytest.raises(EngineError, match=r"outside 0\.\.319") as caught:
        sequence.decode([6, token])
    assert caught.value.code is ErrorCode.BAD_TOKEN
    assert sequence.length == kv_end(sequence) == 5


def test_an_empty_batch_is_refused(sequence: Sequence) -> None:
    with pytest.raises(EngineError):
        sequence.append([], 0)


def test_a_pass_larger_than_the_context_was_made_for_is_refused(model: LoadedModel, sequence: Sequence) -> None:
    with pytest.raises(EngineError, match="too large"):
        sequence.append(TEXT[:65], 1)
    assert model.context.max_rows == 64
    sequence.decode(TEXT[:64])
    with pytest.raises(EngineError, match="too large"):
        sequence.append(TEXT[:65], 65)


def test_the_smallest_slice_and_the_longest_draft(llama_file: Path) -> None:
    """32 prompt tokens a slice and drafts of 48: a pass of 49 tokens would abort in llama.cpp."""
    with pair(llama_file, llama_file, n_ctx=512, batch=32) as both:
        reply = say(both, COUNT, speculation=Speculation(source="draft", length=48), max_tokens=80, ignore_eos=True)
        assert reply.end.timings.predicted_n == 80
        assert max(len(r.proposed) for r in reply.rounds) == 31


def _with_bad_weights(source: Path, to: Path, value: float) -> Path:
    to.write_bytes(source.read_bytes())
    reader = gguf.GGUFReader(str(to), "r+")
    tensor = next(t for t in reader.tensors if t.name == "blk.1.ffn_down.weight")
    tensor.data[0, :4] = value
    reader.data.flush()
    return to


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sampling", [GREEDY, Sampling(), Sampling(top_k=0, top_p=1.0)], ids=["greedy", "top", "all"])
def test_nan_logits_are_an_error_that_names_the_file(
    llama_file: Path, tiny_dir: Path, value: float, sampling: Sampling
) -> None:
    bad = _with_bad_weights(llama_file, tiny_dir / "context-bad.gguf", value)
    with pair(bad) as both:
        assert not np.isfinite(both.target.context.sequence().read([7])).all()
        with pytest.raises(EngineError, match="damaged") as caught:
            list(both.reply(request("Hello", sampling=sampling), CancelFlag()))
        assert caught.value.code is ErrorCode.BAD_LOGITS


def test_a_draft_with_nan_weights_sits_out(llama_file: Path, tiny_dir: Path) -> None:
    bad = _with_bad_weights(llama_file, tiny_dir / "context-bad-draft.gguf", np.nan)
    with pair(llama_file, bad) as both:
        plain = say(both, COUNT, speculation=OFF, reuse_cache=False)
        reply = say(both, COUNT, speculation=Speculation(source="draft", length=4), reuse_cache=False)
        assert reply.ids == plain.ids
        assert reply.end.timings.draft_n == 0


# -- truncation and sharing


@pytest.mark.parametrize("keep", [0, 1, 30, 69, 70, 99])
def test_truncation_is_proven_by_llamas_own_position(model: LoadedModel, sequence: Sequence, keep: int) -> None:
    sequence.read(TEXT[:70])
    sequence.truncate(keep)
    expected = min(keep, 70)
    assert sequence.length == kv_end(sequence) == expected
    assert sequence.tokens == TEXT[:expected]
    row = sequence.decode([11])[0].copy()
    assert np.allclose(row, fresh_row(model, [*TEXT[:expected], 11]), atol=1e-2)


def test_a_refused_truncation_is_an_error(monkeypatch: pytest.MonkeyPatch, sequence: Sequence) -> None:
    sequence.read(TEXT[:20])
    monkeypatch.setattr(llama_cpp, "llama_memory_seq_rm", lambda *_: False)
    with pytest.raises(EngineError, match=r"cut back to 10 tokens \(it holds 20\)") as caught:
        sequence.truncate(10)
    assert caught.value.code is ErrorCode.TRUNCATE_FAILED
    assert sequence.length == 20, "nothing is forgotten that the cache still holds"


def test_a_truncation_that_says_yes_and_does_nothing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, sequence: Sequence
) -> None:
    """The bool alone is not believed (K8)."""
    sequence.read(TEXT[:20])
    monkeypatch.setattr(llama_cpp, "llama_memory_seq_rm", lambda *_: True)
    with pytest.raises(EngineError) as caught:
        sequence.truncate(10)
    assert caught.value.details == {"wanted": 10, "held": 20}


def test_both_contexts_of_a_pair_are_checked(llama_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that cannot be cut ends the reply; a draft that cannot is forgotten, and the reply goes on."""
    real = llama_cpp.llama_memory_seq_rm
    other = tiny.tiny_llama(llama_file.with_name("context-other.gguf"), noise=0.5)
    wrong = Speculation(source="draft", length=4)
    with pair(llama_file, other) as both:
        assert both.draft is not None
        plain = say(both, COUNT, speculation=OFF, reuse_cache=False, ignore_eos=True)
        broken = both.draft.context.memory
        monkeypatch.setattr(
            llama_cpp, "llama_memory_seq_rm", lambda m, s, a, b: real(m, s, a, b) if m != broken or a < 0 else False
        )
        assert say(both, COUNT, speculation=wrong, reuse_cache=False, ignore_eos=True).ids == plain.ids
        broken = both.target.context.memory
        with pytest.raises(EngineError) as caught:
            list(both.reply(request(COUNT, speculation=wrong, reuse_cache=False, ignore_eos=True), CancelFlag()))
        assert caught.value.code is ErrorCode.TRUNCATE_FAILED


def test_forks_share_cells_and_part_without_touching_each_other(model: LoadedModel, sequence: Sequence) -> None:
    sequence.read(TEXT[:50])
    other = sequence.fork(1)
    assert model.context.used == 50, "shared cells are counted once"
    a = sequence.decode([7, 8])[-1].copy()
    b = other.decode([9])[-1].copy()
    assert model.context.used == 53
    assert sequence.room == other.room == 256 - 53
    assert np.allclose(a, fresh_row(model, [*TEXT[:50], 7, 8], index=5), atol=1e-2)
    assert np.allclose(b, fresh_row(model, [*TEXT[:50], 9], index=5), atol=1e-2)
    other.truncate(20)
    assert kv_end(sequence) == 52
    other.clear()
    assert kv_end(other) == 0
    assert kv_end(sequence) == 52
    assert model.context.used == 52


def test_rows_are_views_of_the_last_pass(model: LoadedModel, sequence: Sequence) -> None:
    rows = sequence.decode(TEXT[:3])
    assert rows.shape == (3, model.vocab.n_vocab)
    assert not rows.flags.owndata
    for i in range(3):
        assert np.allclose(rows[i], fresh_row(model, TEXT[: i + 1]), atol=1e-2) or i < 2  # the view moved on
    assert sequence.read(TEXT[3:200]).shape == (1, model.vocab.n_vocab)


# -- memory and threads


def test_decoding_time_is_counted(model: LoadedModel, sequence: Sequence) -> None:
    before = model.context.decode_seconds
    began = time.perf_counter()
    sequence.read(TEXT)
    spent = time.perf_counter() - began
    assert 0 < model.context.decode_seconds - before <= spent


def test_the_flag_is_the_requests(model: LoadedModel, sequence: Sequence) -> None:
    mine = CancelFlag()
    model.context.abort_on(mine)
    mine.set()
    with pytest.raises(EngineError):
        sequence.append([7], 1)
    model.context.abort_on(CancelFlag())
    sequence.append([7], 1)


def test_chain_and_context_agree_on_the_greedy_token(model: LoadedModel, sequence: Sequence) -> None:
    row = sequence.read(TEXT)[-1]
    assert Chain(GREEDY).top_two(row, TEXT)[0] == int(row.argmax())
