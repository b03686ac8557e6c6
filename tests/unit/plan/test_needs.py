"""What a model needs: from a file, from the catalogue, and how far the second is from the first."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.library.catalogue import shipped_catalogue
from backend.library.gguf import read_facts
from backend.plan.needs import of_catalogue, of_file, tokens_at_once
from tests.tiny_recurrent import tiny_hybrid


def test_a_file_is_counted_to_the_byte(starter_target: Path) -> None:
    facts = read_facts(starter_target)
    needs = of_file(facts)
    assert needs.weights == sum(t.nbytes for t in facts.tensors())
    assert len(needs.layers) == 28
    assert needs.kv(4096) == 28 * 4096 * 2 * (128 + 128) * 2  # 2 KV heads, K and V of 128 numbers, 2 bytes each
    assert needs.kv(4096, "q8_0") == round(needs.kv(4096) * 34 / 64)


def test_a_tied_matrix_is_read_but_held_once(starter_target: Path, gemma3_270m: Path) -> None:
    untied, tied = of_file(read_facts(starter_target)), of_file(read_facts(gemma3_270m))
    assert untied.shared == 0
    assert tied.shared == tied.embedding
    assert tied.read > tied.weights - tied.embedding
    assert tied.weights == sum(t.nbytes for t in read_facts(gemma3_270m).tensors())


@pytest.mark.parametrize("name", ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"])
def test_the_estimate_is_near_the_file(name: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue("starter_target" if name.endswith("1.5b") else "starter_draft")
    found = shipped_catalogue().find(name)
    assert found is not None
    entry, variant = found
    assert variant.size is not None
    guess = of_catalogue(entry.name, entry.shape, variant.size, variant.quant)
    assert guess is not None
    known = of_file(read_facts(path))
    assert guess.estimated
    assert guess.kv_width == known.kv_width
    assert guess.weights == pytest.approx(known.weights, rel=0.02)
    assert guess.read == pytest.approx(known.read, rel=0.3)


def test_an_entry_without_its_shape_cannot_be_planned() -> None:
    found = shipped_catalogue().find("qwen3-14b")
    assert found is not None
    entry, _ = found
    assert of_catalogue("x", entry.shape.model_copy(update={"kv_heads": None}), 10**9, "Q4_K_M") is None


def test_scores_bound_how_much_is_computed_at_once() -> None:
    assert tokens_at_once(512, 4096, 12) == 512
    assert tokens_at_once(512, 8192, 40) == 192  # 14B: 252 MB of scores
    assert tokens_at_once(512, 131_072, 40) == 64
    assert tokens_at_once(32, 8192, 40) == 32


def mib(size: int) -> float:
    return size / 2**20


@pytest.mark.parametrize(
    ("n_ctx", "flash", "buffer"),
    [(512, False, 63.5), (2048, False, 68.0), (8192, False, 224.0), (32768, False, 212.0), (8192, True, 72.5)],
)
def test_the_buffer_is_what_llama_cpp_reports(starter_target: Path, n_ctx: int, flash: bool, buffer: float) -> None:
    """Beside it 37.1 MiB of logits; also where fewer tokens are computed at once, as their scores would take more."""
    needs = of_file(read_facts(starter_target))
    assert mib(needs.compute(n_ctx, 512, 64, flash=flash)) == pytest.approx(buffer + 37.1, rel=0.02)


def test_with_a_large_vocabulary_logits_are_most_of_it(gemma3_270m: Path) -> None:
    needs = of_file(read_facts(gemma3_270m))
    assert mib(needs.compute(8192, 512, 64, flash=True)) == pytest.approx(65.4 + 64.0, rel=0.02)
    assert mib(needs.compute(32768, 512, 16, flash=True)) == pytest.approx(81.8 + 16.0, rel=0.02)


def test_scores_are_multiplied_as_the_numbers_of_the_cache(starter_target: Path) -> None:
    """In main memory the processor makes them so: 12 heads, 2 bytes each."""
    needs = of_file(read_facts(starter_target))

    def beside(n_ctx: int, kv_type: str, *, flash: bool = False) -> float:
        here = needs.compute_here(n_ctx, 512, 64, kv_type, flash=flash)
        return mib(here - needs.compute(n_ctx, 512, 64, flash=flash))

    assert beside(8192, "f16") == 2 * 512 * 8192 * 12 / 2**20 == 96
    assert beside(8192, "f32") == beside(8192, "f16", flash=True) == 2 * 512 * 8960 / 2**20


def test_of_a_mapped_embedding_a_row_is_touched(starter_target: Path, gemma3_270m: Path) -> None:
    untied, tied = of_file(read_facts(starter_target)), of_file(read_facts(gemma3_270m))
    assert untied.resident(mapped=True) == untied.weights - untied.embedding
    assert untied.resident(mapped=False) == untied.weights
    assert tied.resident(mapped=True) == tied.resident(mapped=False) - tied.again == tied.weights


def test_only_layers_with_attention_have_a_cache(tmp_path: Path) -> None:
    """Of a hybrid model a part: here one of two."""
    facts = read_facts(tiny_hybrid(tmp_path / "hybrid.gguf"))
    assert facts.n_layer == 2
    assert of_file(facts).kv_width == facts.n_head_kv * (facts.head_size_k + facts.head_size_v)
