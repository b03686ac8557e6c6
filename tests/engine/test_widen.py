"""A widened file computes what its source does, with every kind of block and every order of heads."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from backend.engine.cancel import CancelFlag
from backend.engine.quantize import quantize
from backend.library.gguf import read_facts
from tests import tiny
from tests.engine.rig import loaded
from tests.long.cost14b import NEAR_TIE, QWEN_14B, compare
from tests.long.widen import Shape, UnfitError, shape_of, widen

TEXT = "the order and the other in a tower"


def biased(path: Path) -> Path:
    """Biases and norms that are not all alike, so that one in a wrong place shows."""
    reader, draw = gguf.GGUFReader(path, "r+"), np.random.default_rng(5)
    for tensor in reader.tensors:
        if tensor.data.ndim == 1:
            tensor.data[:] += 0.3 * draw.standard_normal(len(tensor.data)).astype(np.float32)
    reader.data.flush()
    return path


def rows(path: Path) -> np.ndarray:
    with loaded(path, n_ctx=128) as model:
        return model.context.sequence().decode(model.vocab.tokenize(TEXT, parse_special=False)).copy()


@pytest.mark.parametrize(
    "shape",
    [
        Shape(layers=3, width=96, heads=6, kv_heads=3, ffn=160),
        Shape(layers=2, width=192, heads=12, kv_heads=12, ffn=128),
        Shape(layers=5, width=192, heads=12, kv_heads=4, ffn=320),
    ],
    ids=["as many heads share", "fewer share", "more share"],
)
def test_it_says_the_same(tmp_path: Path, shape: Shape) -> None:
    small, wide = biased(tiny.tiny_qwen2(tmp_path / "small.gguf")), tmp_path / "wide.gguf"
    widen(small, wide, shape, "wide")
    facts = read_facts(wide)
    assert (facts.name, shape_of(gguf.GGUFReader(wide))) == ("wide", shape)
    assert facts.vocab_hash == read_facts(small).vocab_hash
    assert rows(wide) == pytest.approx(rows(small), abs=1e-3)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["small.gguf", "wide.gguf"]


@pytest.mark.parametrize("kind", ["Q4_K_M", "Q4_0", "BF16"])
def test_at_four_times_the_width_every_bit_is_the_same(tmp_path: Path, kind: str) -> None:
    """Blocks are copied as they are and zeros add nothing, heads moved and all; elsewhere only the norms round."""
    full = biased(tiny.tiny_qwen2(tmp_path / "full.gguf", n_embd=512))
    small, wide = tmp_path / "small.gguf", tmp_path / "wide.gguf"
    quantize(full, small, kind, lambda _: None, CancelFlag())
    widen(small, wide, Shape(layers=3, width=2048, heads=16, kv_heads=4, ffn=1280), "wide")
    types = {t.type for t in read_facts(wide).tensors()}
    assert types >= {"Q4_K", "Q6_K"} if kind == "Q4_K_M" else kind in types
    assert (rows(wide) == rows(small)).all()


def test_a_tied_output_stays_tied(smollm2: Path, tmp_path: Path) -> None:
    """The whole of a real model: its file's own types, three heads to a key and nine in all."""
    wide = tmp_path / "wide.gguf"
    widen(smollm2, wide, Shape(layers=30, width=640, heads=10, kv_heads=10, ffn=1536), "wide")
    assert "output.weight" not in {t.name for t in read_facts(wide).tensors()}
    assert compare(smollm2, wide) < NEAR_TIE


@pytest.mark.parametrize("kind", [*GGML_QUANT_SIZES])
def test_bytes_of_zeros_are_numbers_of_zeros(kind: GGMLQuantizationType) -> None:
    try:
        numbers = gguf.quants.dequantize(np.zeros(GGML_QUANT_SIZES[kind][1], np.uint8), kind)
    except NotImplementedError:
        return  # integers, which no weights are
    assert not numbers.any()


def test_what_cannot_be_widened_is_said(tmp_path: Path) -> None:
    out = tmp_path / "wide.gguf"
    cases = (
        (tiny.tiny_gemma3(tmp_path / "gemma.gguf"), QWEN_14B, "gemma3"),
        (small := tiny.tiny_qwen2(tmp_path / "small.gguf"), QWEN_14B, "keep their size"),
        (small, Shape(layers=1, width=96, heads=6, kv_heads=3, ffn=160), "does not fit"),
        (small, Shape(layers=2, width=96, heads=6, kv_heads=1, ffn=160), "does not fit"),
    )
    for source, shape, why in cases:
        with pytest.raises(UnfitError, match=why):
            widen(source, out, shape, "wide")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("wide")]
