"""Pairs: llama.cpp's rule, check by check, with both values named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backend.errors import ErrorCode
from backend.library import pairing
from backend.library.gguf import read_facts
from backend.library.library import Library
from backend.library.pairing import Pairing, check_pair, drafts_for
from tests.unit.library.files import TOKENS, write_gguf


def verdict(tmp_path: Path, target: dict[str, Any], draft: dict[str, Any]) -> pairing.Verdict:
    large = {"width": 128} | target
    return check_pair(
        read_facts(write_gguf(tmp_path / "target.gguf", **large)),
        read_facts(write_gguf(tmp_path / "draft.gguf", **draft)),
    )


def changed(token: int) -> list[str]:
    return [*TOKENS[:token], "swapped", *TOKENS[token + 1 :]]


@pytest.mark.parametrize(
    ("target", "draft", "check", "values"),
    [
        ({"tokenizer": "llama"}, {}, "vocab_type", ("spm", "bpe")),
        ({"add_bos": True}, {}, "bos", ("added, id 1", "not added")),
        ({"add_bos": True}, {"add_bos": True, "bos": 7}, "bos", ("id 1", "id 7")),
        ({"add_eos": True}, {}, "eos", ("added, id 2", "not added")),
        ({"tokens": [f"t{n}" for n in range(169)]}, {}, "vocab_size", ("169", "40", "128")),
        ({}, {"tokens": changed(5)}, "token_text", ("token 5", "'t5'", "'swapped'")),
        ({}, {"tokens": changed(39)}, "token_text", ("token 39", "'t39'", "'swapped'")),
        ({}, {"arch": "clip"}, "kind", ("draft.gguf", "projector")),
        ({}, {"arch": "eagle3"}, "kind", ("prediction head",)),
        ({}, {"tensors": []}, "kind", ("vocabulary without weights",)),
        ({"arch": "clip"}, {}, "kind", ("cannot be the target",)),
    ],
)
def test_first_failing_check(
    tmp_path: Path, target: dict[str, Any], draft: dict[str, Any], check: str, values: tuple[str, ...]
) -> None:
    found = verdict(tmp_path, target, draft)
    assert (found.ok, found.check) == (False, check)
    for value in values:
        assert value in found.reason
    assert found.error().code is ErrorCode.DRAFT_INCOMPATIBLE


@pytest.mark.parametrize(
    ("target", "draft"),
    [
        ({}, {}),
        ({}, {"bos": 3}),  # BOS is not added, so its id does not matter
        ({}, {"tokens": changed(4)}),  # the first five are not compared
        ({"tokens": [*TOKENS, *(f"x{n}" for n in range(128))]}, {}),
        ({"pre": "qwen2"}, {"pre": "smollm"}),
    ],
)
def test_what_fits(tmp_path: Path, target: dict[str, Any], draft: dict[str, Any]) -> None:
    found = verdict(tmp_path, target, draft)
    assert (found.ok, found.reason, found.warning) == (True, "", "")


def test_large_drafts_are_allowed_with_a_warning(tmp_path: Path) -> None:
    found = verdict(tmp_path, {"width": 64}, {"width": 64})
    assert found.ok
    assert "not smaller" in found.warning
    facts = read_facts(write_gguf(tmp_path / "m.gguf"))
    assert "target itself" in check_pair(facts, facts).warning


def test_real_pairs(starter_target: Path, starter_draft: Path, smollm2: Path, gemma3_270m: Path) -> None:
    target = read_facts(starter_target)
    assert check_pair(target, read_facts(starter_draft)) == pairing.Verdict(True)
    assert check_pair(target, read_facts(smollm2)).check == "vocab_size"
    assert check_pair(target, read_facts(gemma3_270m)).check == "vocab_type"


def test_two_vocabularies_are_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = read_facts(write_gguf(tmp_path / "t.gguf", width=128))
    drafts = [read_facts(write_gguf(tmp_path / f"{n}.gguf", tokens=changed(9))) for n in range(3)]
    opened: list[Path] = []
    real = pairing.iter_tokens

    def counted(path: Path) -> object:
        opened.append(path)
        return real(path)

    monkeypatch.setattr(pairing, "iter_tokens", counted)
    pairs = Pairing()
    assert [pairs.check(target, d).check for d in drafts] == ["token_text"] * 3
    assert len(opened) == 2


def test_list_of_drafts(models_folder: Path) -> None:
    write_gguf(models_folder / "target.gguf", width=256)
    write_gguf(models_folder / "fits-large.gguf", width=128)
    write_gguf(models_folder / "fits-small.gguf")
    write_gguf(models_folder / "other.gguf", tokens=changed(20))
    write_gguf(models_folder / "mmproj.gguf", arch="clip")
    (models_folder / "broken.gguf").write_bytes(b"GGUF\3\0\0\0")
    library = Library()
    models = library.models()
    target = library.find("target")
    choices = drafts_for(target, models)
    assert [c.model.id for c in choices if c.fits] == ["fits-small", "fits-large", "target"]
    reasons = {c.model.id: c.reason for c in choices if not c.fits}
    assert set(reasons) == {"other", "mmproj", "broken"}
    assert "token 20" in reasons["other"]
    assert "projector" in reasons["mmproj"]
    assert "cut off" in reasons["broken"]
    small = choices[0]
    assert target.size is not None
    assert small.model.size is not None
    assert small.pair_bytes == target.size + small.model.size


def test_catalogue_models_offer_their_listed_drafts(models_folder: Path) -> None:
    library = Library()
    choices = drafts_for(library.find("qwen3-8b"), library.models())
    assert [(c.model.id, c.fits) for c in choices] == [("qwen3-0.6b", True), ("qwen3-1.7b", True)]
    assert "not downloaded" in choices[0].reason
