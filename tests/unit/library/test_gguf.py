"""The GGUF reader: facts of real files, kinds, split files, every sort of damage."""

from __future__ import annotations

import contextlib
import os
import struct
import time
from pathlib import Path

import gguf
import pytest
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, LlamaFileType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.errors import EngineError, ErrorCode
from backend.library.gguf import iter_tokens, read_facts, read_model, split_name, split_parts, unfit_kind
from backend.library.gguf_tables import FILE_TYPES, TENSOR_TYPES
from tests.unit.library.files import TOKENS, write_gguf, write_split


def code_of(path: Path) -> ErrorCode:
    with pytest.raises(EngineError) as caught:
        read_facts(path)
    assert path.name in caught.value.message
    return caught.value.code


def test_real_model(starter_target: Path) -> None:
    facts = read_facts(starter_target)
    assert (facts.kind, facts.architecture, facts.quant) == ("model", "qwen2", "Q4_K_M")
    assert (facts.n_layer, facts.n_head, facts.n_head_kv, facts.head_size_k, facts.n_embd) == (28, 12, 2, 128, 1536)
    assert (facts.n_vocab, facts.vocab_type, facts.tokenizer_pre) == (151936, "bpe", "qwen2")
    assert (facts.bos_id, facts.eos_id, facts.add_bos, facts.add_eos) == (151643, 151645, False, False)
    assert facts.context_length == 32768
    assert facts.size == facts.expected_size == starter_target.stat().st_size
    assert facts.n_params == 1_777_088_000
    assert facts.chat_template is not None
    assert "<|im_start|>" in facts.chat_template
    tensors = facts.tensors()
    assert len(tensors) == 339
    assert max(t.offset + t.nbytes for t in tensors) == facts.expected_size
    tokens = list(iter_tokens(starter_target))
    assert tokens[151645] == b"<|im_end|>"
    assert len(tokens) == 151936


def test_facts_of_a_sliding_window_model(gemma3_270m: Path) -> None:
    facts = read_facts(gemma3_270m)
    assert (facts.sliding_window, facts.vocab_type, facts.add_bos, facts.bos_id) == (512, "spm", True, 2)
    assert (facts.head_size_k, facts.n_vocab, facts.has_chat_template) == (256, 262144, False)


@pytest.mark.alone
def test_reading_a_large_vocabulary_is_quick(starter_draft: Path) -> None:
    best = min(_timed(starter_draft) for _ in range(3))
    assert best < 0.3


def _timed(path: Path) -> float:
    start = time.perf_counter()
    read_facts(path)
    return time.perf_counter() - start


def test_tables_agree_with_the_reference() -> None:
    sizes = {int(t): (t.name, *GGML_QUANT_SIZES[t]) for t in GGMLQuantizationType}
    assert sizes == TENSOR_TYPES
    named = {int(t): t.name.removeprefix("MOSTLY_").removeprefix("ALL_") for t in LlamaFileType if t < 1024}
    assert named == FILE_TYPES


def test_equal_vocabularies_have_equal_hashes(tmp_path: Path) -> None:
    one = read_facts(write_gguf(tmp_path / "a.gguf"))
    same = read_facts(write_gguf(tmp_path / "b.gguf", arch="qwen2", width=128))
    other = read_facts(write_gguf(tmp_path / "c.gguf", tokens=[*TOKENS[:-1], "x"]))
    shifted = read_facts(write_gguf(tmp_path / "d.gguf", tokens=["t", "0", *TOKENS[1:-1]]))
    assert one.vocab_hash == same.vocab_hash
    assert len({one.vocab_hash, other.vocab_hash, shifted.vocab_hash}) == 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tokenizer": "llama", "add_bos": None}, (True, False)),
        ({"tokenizer": "gpt2", "add_bos": None}, (False, False)),
        ({"tokenizer": "gpt2", "pre": "llama-bpe", "add_bos": None}, (True, False)),
        ({"tokenizer": "gpt2", "pre": "llama-bpe", "add_bos": False}, (False, False)),
        ({"tokenizer": "t5", "add_bos": None}, (False, True)),
        ({"tokenizer": "t5", "add_bos": None, "add_eos": False}, (False, False)),
        ({"tokenizer": "gemma4", "add_bos": False}, (True, False)),
    ],
)
def test_bos_and_eos_defaults(tmp_path: Path, options: dict[str, object], expected: tuple[bool, bool]) -> None:
    facts = read_facts(write_gguf(tmp_path / "m.gguf", **options))  # type: ignore[arg-type]
    assert (facts.add_bos, facts.add_eos) == expected


def _key(name: str, value: str) -> object:
    return lambda writer: writer.add_string(name, value)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("model", {}),
        ("mmproj", {"arch": "clip"}),
        ("mmproj", {"extra": _key("general.type", "mmproj")}),
        ("adapter", {"extra": _key("general.type", "adapter")}),
        ("other", {"arch": "imatrix"}),
        ("vocab_only", {"tensors": []}),
        ("draft_head", {"arch": "eagle3"}),
        ("draft_head", {"arch": "dflash"}),
        ("draft_head", {"arch": "gemma4-assistant"}),
        ("draft_head", {"tensors": ["d2t", "blk.0.attn_q.weight"]}),
        ("draft_head", {"blocks": 9, "tensors": ["blk.8.nextn.eh_proj.weight", "blk.8.attn_q.weight"]}),
        # a whole model that carries its own heads is a model
        ("model", {"blocks": 2, "tensors": ["blk.0.attn_q.weight", "blk.1.nextn.eh_proj.weight"]}),
        ("model", {"arch": "llama-prompt"}),
    ],
)
def test_kinds(tmp_path: Path, kind: str, options: dict[str, object]) -> None:
    facts = read_facts(write_gguf(tmp_path / "m.gguf", **options))  # type: ignore[arg-type]
    assert facts.kind == kind
    unfit = unfit_kind(facts)
    assert (unfit is None) == (kind == "model")


# -- bad files --------------------------------------------------------------------------------------------------------


def test_missing(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none.gguf") is ErrorCode.FILE_MISSING
    (tmp_path / "folder.gguf").mkdir()
    assert code_of(tmp_path / "folder.gguf") is ErrorCode.FILE_MISSING


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
@pytest.mark.timeout(20)
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    assert code_of(tmp_path / "pipe.gguf") is ErrorCode.FILE_MISSING
    with pytest.raises(EngineError, match="is a folder; name a GGUF file in it"):
        read_facts(tmp_path)


@pytest.mark.parametrize("content", [b"", b"GGU", b"version https://git-lfs.github.com/spec/v1\n", b"<!DOCTYPE html>"])
def test_not_gguf(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert code_of(path) is ErrorCode.FILE_NOT_GGUF


def test_cut_anywhere_is_called_truncated(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "whole.gguf").read_bytes()
    path = tmp_path / "cut.gguf"
    for length in range(4, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(EngineError) as caught:
            read_facts(path)
        assert caught.value.code is ErrorCode.FILE_TRUNCATED
        assert caught.value.details["size"] == length
        expected = caught.value.details["expected"]
        assert length < expected <= len(whole)
        # in the header nobody knows how long the file was
        assert ("at least" in caught.value.message) == (expected < len(whole))
    # in the tensors' data the whole size is known
    assert caught.value.details["expected"] == len(whole)
    assert f"{len(whole):,}" in caught.value.message


def test_cut_real_file(tmp_path: Path, smollm2: Path) -> None:
    path = tmp_path / "cut.gguf"
    with smollm2.open("rb") as file:
        path.write_bytes(file.read(20_000_000))
    with pytest.raises(EngineError) as caught:
        read_facts(path)
    assert caught.value.details == {"path": str(path), "size": 20_000_000, "expected": smollm2.stat().st_size}


def _header(version: int = 3, tensors: int = 0, values: int = 0, rest: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, values) + rest


def _text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


ARCH = _text(b"general.architecture") + struct.pack("<I", 8) + _text(b"llama")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (_header(version=77), ErrorCode.FILE_DAMAGED),
        (_header(version=1), ErrorCode.MODEL_UNSUPPORTED),
        (_header(version=3 << 24), ErrorCode.MODEL_UNSUPPORTED),
        (_header(tensors=2**40), ErrorCode.FILE_DAMAGED),
        (_header(values=2**63), ErrorCode.FILE_DAMAGED),
        (_header(values=0), ErrorCode.FILE_DAMAGED),  # no architecture
        (_header(values=2, rest=ARCH * 2), ErrorCode.FILE_DAMAGED),  # given twice
        (_header(values=1, rest=struct.pack("<Q", 2**62)), ErrorCode.FILE_DAMAGED),
        (_header(values=1, rest=_text(b"k") + struct.pack("<I", 99)), ErrorCode.FILE_DAMAGED),
        (_header(values=1, rest=_text(b"k") + struct.pack("<IIQ", 9, 9, 1)), ErrorCode.FILE_DAMAGED),
        (_header(values=1, rest=_text(b"k") + struct.pack("<IIQ", 9, 8, 2**50)), ErrorCode.FILE_DAMAGED),
        (_header(values=1, rest=_text(b"k") + struct.pack("<IIQ", 9, 10, 2**60)), ErrorCode.FILE_DAMAGED),
        (
            _header(tensors=1, values=1, rest=ARCH + _text(b"w") + struct.pack("<IQIQ", 1, 32, 777, 0)),
            ErrorCode.MODEL_UNSUPPORTED,
        ),
        (
            _header(tensors=1, values=1, rest=ARCH + _text(b"w") + struct.pack("<IQIQ", 1, 33, 8, 0)),
            ErrorCode.FILE_DAMAGED,
        ),
        (_header(tensors=1, values=1, rest=ARCH + _text(b"w") + struct.pack("<I", 9)), ErrorCode.FILE_DAMAGED),
    ],
)
def test_contradictions(tmp_path: Path, content: bytes, code: ErrorCode) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    assert code_of(path) is code


@pytest.mark.alone
def test_many_empty_texts_end_quickly(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    count = 6_000_000
    with path.open("wb") as file:
        file.write(_header(values=1, rest=_text(b"k") + struct.pack("<IIQ", 9, 8, count)))
        file.truncate(file.tell() + count * 8)
    start = time.perf_counter()
    assert code_of(path) is ErrorCode.FILE_DAMAGED
    assert time.perf_counter() - start < 1


@settings(max_examples=400, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_headers_only_ever_raise_engine_errors(tmp_path: Path, data: st.DataObject) -> None:
    original = tmp_path / "whole.gguf"
    if not original.exists():
        write_gguf(original, extra=lambda w: w.add_chat_template("{{ x }}"))
    content = bytearray(original.read_bytes()[:4000])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(4, len(content) - 9))
        raw = data.draw(st.binary(min_size=1, max_size=8) | st.sampled_from([b"\xff" * 8, b"\0" * 8, b"\x09\0\0\0"]))
        content[at : at + len(raw)] = raw
    path = tmp_path / "mutated.gguf"
    path.write_bytes(content + bytes(data.draw(st.sampled_from([0, 100_000]))))
    with contextlib.suppress(EngineError):  # anything else fails the test
        facts = read_facts(path)
        list(iter_tokens(path))
        facts.tensors()


@settings(max_examples=60, deadline=4000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_real_header(tmp_path: Path, smollm2: Path, data: st.DataObject) -> None:
    with smollm2.open("rb") as file:
        content = bytearray(file.read(3_000_000))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(4, 1_200) | st.integers(4, len(content) - 9))
        raw = data.draw(st.binary(min_size=1, max_size=8))
        content[at : at + len(raw)] = raw
    path = tmp_path / "mutated.gguf"
    path.write_bytes(content)
    with pytest.raises(EngineError):  # it is cut, so it can never be accepted
        read_facts(path)


def _number(key: str, value: int) -> object:
    return lambda writer: writer.add_key_value(f"llama.{key}", value, gguf.GGUFValueType.UINT64)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("block_count", n) for n in (2**64 - 1, 10**8, 4097, 3, 0)),  # of two tensors
        ("attention.head_count", 2**32 - 1),
        ("attention.head_count_kv", 2**63),
        ("attention.key_length", 2**63),
        ("attention.value_length", 10**6),
        ("attention.sliding_window", 2**40),
        ("embedding_length", 2**32 - 1),
        ("context_length", 2**32 - 1),
        ("vocab_size", 2**63),
    ],
)
def test_a_number_that_no_model_has_is_damage(tmp_path: Path, key: str, value: int) -> None:
    path = write_gguf(tmp_path / "m.gguf", tokens=None, extra=_number(key, value))  # type: ignore[arg-type]
    assert code_of(path) is ErrorCode.FILE_DAMAGED


def test_many_heads_that_are_wide_too_are_damage(tmp_path: Path) -> None:
    for heads, sound in ((16, True), (17, False)):

        def extra(writer: gguf.GGUFWriter, heads: int = heads) -> None:
            writer.add_key_length(65_536)
            writer.add_head_count_kv(heads)

        path = write_gguf(tmp_path / "m.gguf", extra=extra)
        if sound:
            assert read_facts(path).head_size_k == 65_536
        else:
            assert code_of(path) is ErrorCode.FILE_DAMAGED


def test_names_in_a_header_cannot_steer_a_terminal(tmp_path: Path) -> None:
    def extra(writer: gguf.GGUFWriter) -> None:
        writer.add_name("evil\x1b[2J\nline2\r\x07\0\u202egnp")

    facts = read_facts(write_gguf(tmp_path / "m.gguf", tokenizer="x" * 500, pre="\x1b[31m", extra=extra))
    assert facts.name == "evil[2J line2 gnp"
    assert facts.tokenizer_pre == "[31m"
    assert len(facts.vocab_type) == len(facts.tokenizer_model) == 120
    nameless = read_facts(write_gguf(tmp_path / "file.gguf", extra=lambda writer: writer.add_name("\x1b\0")))
    assert nameless.name == "file"


# -- split files ------------------------------------------------------------------------------------------------------


def test_split_files_are_one_model(tmp_path: Path) -> None:
    paths = write_split(tmp_path, "big", 3)
    assert split_name(paths[1].name) == ("big", 2, 3)
    assert split_parts(paths[2]) == paths
    facts = read_model(paths)
    assert facts.kind == "model"
    assert facts.n_params == 3 * 64 * 64
    assert facts.size == sum(p.stat().st_size for p in paths)
    assert [t.name for t in facts.tensors()] == [f"blk.{n}.attn_q.weight" for n in range(3)]


def test_parts_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    paths = write_split(tmp_path, "big", 2)
    with pytest.raises(EngineError) as caught:
        read_model(paths[::-1])
    assert caught.value.code is ErrorCode.FILE_DAMAGED
    assert "part 2 of 2" in caught.value.message


def test_plain_names_are_not_split() -> None:
    assert split_name("model.gguf") is None
    path = Path("x-00003-of-00002.gguf")
    assert split_parts(path) == [path]


def test_a_value_that_varies_by_layer(tmp_path: Path) -> None:
    def extra(writer: gguf.GGUFWriter) -> None:
        writer.add_array("llama.attention.sliding_window", [128, 512])

    assert read_facts(write_gguf(tmp_path / "m.gguf", extra=extra)).sliding_window == 512
