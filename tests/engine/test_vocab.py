"""The vocabulary on real and tiny models: ids, bytes, and which pairs are refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import llama_cpp.llama_cpp as ll
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.engine.vocab import Vocab, check_draft
from backend.errors import EngineError, ErrorCode
from tests import tiny, tiny_recurrent
from tests.vocabularies import open_vocab


@pytest.fixture(scope="module")
def smol(smollm2: Path) -> Iterator[Vocab]:
    with open_vocab(smollm2) as vocab:
        yield vocab


@pytest.fixture(scope="module")
def gemma(gemma3_270m: Path) -> Iterator[Vocab]:
    with open_vocab(gemma3_270m) as vocab:
        yield vocab


def test_facts_of_the_real_files(smol: Vocab, qwen: Vocab, gemma: Vocab) -> None:
    assert (qwen.type_name, qwen.n_vocab, qwen.bos, qwen.eos) == ("BPE", 151936, 151643, 151645)
    assert (qwen.add_bos, qwen.add_eos) == (False, False)
    assert {151643, 151645} <= qwen.eog
    assert (gemma.type_name, gemma.n_vocab, gemma.bos) == ("SPM", 262144, 2)
    assert (gemma.add_bos, gemma.space_prefix) == (True, False)
    assert {1, 106} <= gemma.eog
    assert smol.text(2) == "<|im_end|>"
    assert 2 in smol.eog
    assert smol.is_control(2)
    assert not smol.is_control(100)


@pytest.mark.parametrize("name", ["qwen", "gemma"])  # SmolLM2 itself lacks some bytes (0xF1)
def test_any_text_survives_the_round_trip(name: str, request: pytest.FixtureRequest) -> None:
    vocab: Vocab = request.getfixturevalue(name)

    @given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\u2581"), max_size=60))
    def survives(text: str) -> None:
        assert vocab.detokenize(vocab.tokenize(text, parse_special=False)) == text.encode()

    survives()


def test_control_tokens_are_read_only_when_asked_for(qwen: Vocab) -> None:
    text = "a<|im_end|>b"
    assert qwen.eos in qwen.tokenize(text, parse_special=True)
    assert qwen.eos not in qwen.tokenize(text, parse_special=False)
    assert qwen.detokenize(qwen.tokenize(text, parse_special=False)) == text.encode()


def test_control_tokens_have_no_bytes_unless_asked_for(qwen: Vocab) -> None:
    assert qwen.piece(151645) == b""
    assert qwen.piece(151645, special=True) == b"<|im_end|>"


def test_long_pieces_and_more_tokens_than_bytes(qwen: Vocab, gemma: Vocab) -> None:
    runs = [i for i in range(qwen.n_vocab) if len(qwen.piece(i)) > 64]
    assert runs  # else the second, larger read is not tried here
    assert all(qwen.piece(i).decode() == qwen.text(i).replace("Ġ", " ").replace("Ċ", "\n") for i in runs)
    assert gemma.tokenize("", parse_special=True, add_special=True) == [gemma.bos]


@pytest.mark.parametrize("name", ["smol", "qwen", "gemma"])
@pytest.mark.parametrize("token", ["<|im_end|>", "<tool_call>", "<start_of_turn>", "<end_of_turn> "])
def test_many_control_tokens_are_read_in_pieces_like_the_whole(
    name: str, token: str, request: pytest.FixtureRequest
) -> None:
    """llama.cpp's time grows with the square of their number: half a megabyte would hold the engine for 14 s."""
    vocab: Vocab = request.getfixturevalue(name)
    text = f"Once {token * 1800}and {token}\n{token}the rest of it"
    for special in (True, False):
        assert vocab.tokenize(text, special) == vocab._tokenize(text, special, False)
        if len(vocab._tokenize(token, special, False)) == 1:
            assert len(list(vocab._cut(text, special))) == (1 if token.endswith(" ") else 4)


def test_nul_and_empty_text(smol: Vocab) -> None:
    assert smol.tokenize("", parse_special=True) == []
    assert smol.detokenize(smol.tokenize("a\0b", parse_special=True)) == b"a\0b"


@pytest.mark.parametrize("token", [-1, 49152, 2**31])
def test_ids_outside_the_vocabulary(smol: Vocab, token: int) -> None:
    for ask in (smol.piece, smol.text, smol.is_control):
        with pytest.raises(EngineError, match="outside the vocabulary") as info:
            ask(token)
        assert info.value.code == ErrorCode.BAD_TOKEN


def test_lone_surrogate(smol: Vocab) -> None:
    with pytest.raises(EngineError, match=r"U\+D83D") as info:
        smol.tokenize("ab\ud83dc", parse_special=True)
    assert info.value.code == ErrorCode.BAD_REQUEST


def test_space_prefix_of_older_sentencepiece_models(tmp_path: Path) -> None:
    with open_vocab(tiny.tiny_gemma3(tmp_path / "a.gguf", space_prefix=True)) as vocab:
        assert vocab.space_prefix
    with open_vocab(tiny.tiny_gemma3(tmp_path / "b.gguf", space_prefix=False)) as vocab:
        assert not vocab.space_prefix


@pytest.mark.alone
def test_digest_is_quick_and_tells_vocabularies_apart(
    tmp_path: Path, starter_target: Path, qwen: Vocab, smol: Vocab
) -> None:
    with open_vocab(starter_target) as target:
        start = time.process_time()
        assert target.digest == qwen.digest
        assert time.process_time() - start < 0.6  # about 0.07 s on two slow cores
    assert qwen.digest != smol.digest
    with (
        open_vocab(tiny.tiny_llama(tmp_path / "a.gguf")) as a,
        open_vocab(tiny.tiny_llama(tmp_path / "b.gguf", swap_token=(100, 101))) as b,
    ):
        assert a.digest != b.digest


def test_a_model_without_a_vocabulary(tmp_path: Path) -> None:
    import gguf

    path = tiny.tiny_llama(tmp_path / "a.gguf")
    data = path.read_bytes()
    assert data.count(b"tokenizer.ggml.model") == 1
    value = b"gpt2"
    at = data.index(value, data.index(b"tokenizer.ggml.model"))
    (tmp_path / "none.gguf").write_bytes(data[:at] + b"none" + data[at + 4 :])
    assert gguf.GGUFReader(tmp_path / "none.gguf").get_field("tokenizer.ggml.model").contents() == "none"
    with pytest.raises(EngineError, match="no vocabulary") as info, open_vocab(tmp_path / "none.gguf"):
        pass
    assert info.value.code == ErrorCode.MODEL_UNSUPPORTED


# ---------------------------------------------------------------------------------------------------------------------
# pairs


def refused(target: Path, draft: Path) -> EngineError:
    with open_vocab(target) as t, open_vocab(draft) as d, pytest.raises(EngineError) as info:
        check_draft(t, d)
    assert info.value.code == ErrorCode.DRAFT_INCOMPATIBLE
    return info.value


def test_the_starter_pair_fits(starter_target: Path, qwen: Vocab) -> None:
    with open_vocab(starter_target) as target:
        check_draft(target, qwen)


def test_another_architecture_with_the_same_vocabulary_fits(tmp_path: Path) -> None:
    a, b = tiny.tiny_llama(tmp_path / "a.gguf"), tiny.tiny_qwen2(tmp_path / "b.gguf")
    with open_vocab(a) as t, open_vocab(b) as d:
        check_draft(t, d)


def test_one_swapped_token_is_named_with_both_texts(tmp_path: Path) -> None:
    a = tiny.tiny_llama(tmp_path / "a.gguf")
    b = tiny.tiny_llama(tmp_path / "b.gguf", swap_token=(269, 300))
    with open_vocab(a) as t:
        texts = t.text(269), t.text(300)
    error = refused(a, b)
    assert error.details == {"check": "token_text", "token": 269, "target": texts[0], "draft": texts[1]}
    assert "token 269" in error.message
    assert repr(texts[0]) in error.message
    assert repr(texts[1]) in error.message


def test_the_last_common_token_is_compared_and_the_first_five_are_not(tmp_path: Path) -> None:
    a = tiny.tiny_llama(tmp_path / "a.gguf", n_vocab=320)
    last = tiny.tiny_llama(tmp_path / "b.gguf", n_vocab=330, swap_token=(319, 329))
    assert refused(a, last).details["token"] == 319
    beyond = tiny.tiny_llama(tmp_path / "c.gguf", n_vocab=330, swap_token=(320, 329))
    first = tiny.tiny_llama(tmp_path / "d.gguf", swap_token=(3, 4))
    assert refused(a, tiny.tiny_llama(tmp_path / "e.gguf", swap_token=(5, 300))).details["token"] == 5
    for draft in (beyond, first):
        with open_vocab(a) as t, open_vocab(draft) as d:
            check_draft(t, d)


def test_sizes_may_differ_by_128_and_no_more(tmp_path: Path) -> None:
    a = tiny.tiny_llama(tmp_path / "a.gguf", n_vocab=320)
    with open_vocab(a) as t, open_vocab(tiny.tiny_llama(tmp_path / "b.gguf", n_vocab=448)) as d:
        check_draft(t, d)
        check_draft(d, t)
    error = refused(a, tiny.tiny_llama(tmp_path / "c.gguf", n_vocab=449))
    assert error.details == {"check": "n_vocab", "target": 320, "draft": 449}
    assert "320" in error.message
    assert "449" in error.message


def test_another_kind_is_refused(tmp_path: Path) -> None:
    error = refused(tiny.tiny_llama(tmp_path / "a.gguf"), tiny.tiny_gemma3(tmp_path / "b.gguf"))
    assert error.details == {"check": "vocab_type", "target": "BPE", "draft": "SPM"}


def test_another_bos_setting_is_refused(tmp_path: Path) -> None:
    error = refused(
        tiny.tiny_llama(tmp_path / "a.gguf", add_bos=True), tiny.tiny_llama(tmp_path / "b.gguf", add_bos=False)
    )
    assert error.details == {"check": "add_bos", "target": True, "draft": False}


def test_another_bos_is_refused_where_it_is_used(tmp_path: Path) -> None:
    used = [tiny.tiny_llama(tmp_path / f"u{i}.gguf", add_bos=True, bos=i) for i in (0, 3)]
    error = refused(*used)
    assert error.details == {"check": "bos", "target": 0, "draft": 3}
    unused = [tiny.tiny_llama(tmp_path / f"n{i}.gguf", add_bos=False, bos=i) for i in (0, 3)]
    with open_vocab(unused[0]) as t, open_vocab(unused[1]) as d:
        check_draft(t, d)


def test_every_tiny_model_decodes_finite_logits(tmp_path: Path) -> None:
    import numpy as np

    stateful = [*tiny_recurrent.SNAPSHOTS.values(), *tiny_recurrent.PLAIN.values()]
    for write in (tiny.tiny_llama, tiny.tiny_qwen2, tiny.tiny_gemma3, *stateful):
        name = write.__name__
        path = write(tmp_path / f"{name}.gguf")
        assert path.stat().st_size < 2_000_000
        model = ll.llama_model_load_from_file(str(path).encode(), ll.llama_model_default_params())
        assert model, name
        params = ll.llama_context_default_params()
        params.n_ctx, params.n_threads, params.n_threads_batch = 64, 1, 1
        context = ll.llama_init_from_model(model, params)
        vocab = Vocab(model)
        ids = vocab.tokenize("the and then", parse_special=False)[:4]
        assert len(ids) == 4
        assert ll.llama_decode(context, ll.llama_batch_get_one((ll.llama_token * 4)(*ids), 4)) == 0
        logits = np.ctypeslib.as_array(ll.llama_get_logits(context), (vocab.n_vocab,))
        assert np.isfinite(logits).all(), name
        law = np.exp(logits - logits.max())
        entropy = -(law / law.sum() * np.log(law / law.sum())).sum()
        assert 0.3 < entropy < 4.5, name  # uniform would be 5.8
        assert ll.llama_model_is_recurrent(model) == (name == "tiny_mamba")
        assert ll.llama_model_is_hybrid(model) == (write in stateful and name != "tiny_mamba")
        ll.llama_free(context)
        ll.llama_model_free(model)
