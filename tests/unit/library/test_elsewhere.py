"""Models in other programs' folders on every system, the folders of a person, and what is none of our business."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library.elsewhere import OFF_VARIABLE, elsewhere
from backend.library.library import Library
from backend.library.local import OwnFiles
from tests.unit.library.files import TOKENS, write_gguf, write_split

MODEL = "application/vnd.ollama.image.model"


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_gguf(path)


def found(home: Path, system: str = "linux", **env: str) -> dict[str, tuple[str, str]]:
    """id -> (source, name)."""
    return {m.id: (m.source, m.name or m.files[0].stem) for m in elsewhere(home, env, system)}


@pytest.mark.parametrize(
    ("system", "gpt4all", "jan"),
    [
        ("linux", ".local/share/nomic.ai/GPT4All", ".local/share/Jan/data/llamacpp/models"),
        ("darwin", "Library/Application Support/nomic.ai/GPT4All", "Library/Application Support/Jan/data/models"),
        ("win32", "AppData/Local/nomic.ai/GPT4All", "AppData/Roaming/Jan/data/llamacpp/models"),
    ],
)
def test_documented_folders(tmp_path: Path, system: str, gpt4all: str, jan: str) -> None:
    put(tmp_path / ".lmstudio" / "models" / "org" / "repo" / "A-Q4_0.gguf")
    put(tmp_path / gpt4all / "B.gguf")
    put(tmp_path / jan / "org" / "Qwen3-0_6B" / "model.gguf")
    assert found(tmp_path, system) == {
        "a-q4_0": ("lm_studio", "A-Q4_0"),
        "qwen3-0_6b": ("jan", "Qwen3-0_6B"),
        "b": ("gpt4all", "B"),
    }


def test_variables_and_the_pointer_of_lm_studio_are_followed(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "models" / "A.gguf")
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'elsewhere'}\n")
    put(tmp_path / "data" / "Jan" / "data" / "llamacpp" / "models" / "x" / "model.gguf")
    assert set(found(tmp_path, XDG_DATA_HOME=str(tmp_path / "data"))) == {"a", "x"}
    (tmp_path / ".lmstudio-home-pointer").write_bytes(b"\xff\xfe relative/path")
    assert set(found(tmp_path)) == set()


def ollama(root: Path, name: str, blob: bytes | None, digest: str) -> Path:
    manifest = root / "manifests" / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:" + "e" * 64},
        {"mediaType": MODEL, "digest": f"sha256:{digest}"},
    ]
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}))
    place = root / "blobs" / f"sha256-{digest}"
    place.parent.mkdir(exist_ok=True)
    if blob is not None:
        place.write_bytes(blob)
    return place


def test_ollamas_manifests_name_its_blobs(tmp_path: Path) -> None:
    root = tmp_path / ".ollama" / "models"
    blob = write_gguf(tmp_path / "m.gguf").read_bytes()
    place = ollama(root, "registry.ollama.ai/library/llama3.2/1b", blob, "a" * 64)
    ollama(root, "registry.ollama.ai/library/llama3.2/latest", None, "a" * 64)  # the same blob
    ollama(root, "hf.co/org/Model-GGUF/Q4_K_M", blob, "b" * 64)
    ollama(root, "registry.ollama.ai/library/gone/1b", None, "c" * 64)
    evil = root / "manifests" / "registry.ollama.ai" / "library" / "evil"
    evil.write_text(json.dumps({"layers": [{"mediaType": MODEL, "digest": "sha256:../../../m.gguf"}]}))
    (root / "manifests" / "broken").write_text("{")
    models = {m.id: m for m in elsewhere(tmp_path, {}, "linux")}
    assert {i: m.name for i, m in models.items()} == {
        "hf.co-org-model-gguf-q4_k_m": "hf.co/org/Model-GGUF:Q4_K_M",
        "llama3.2-1b": "llama3.2:1b",
    }
    assert models["llama3.2-1b"].files == (place,)


def test_the_library_lists_and_loads_them(models_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "own"))
    monkeypatch.delenv(OFF_VARIABLE)
    blob = write_gguf(tmp_path / "m.gguf").read_bytes()
    place = ollama(tmp_path / "own", "registry.ollama.ai/library/tiny/4b", blob, "a" * 64)
    split = tmp_path / ".lmstudio" / "models" / "org" / "big"
    split.mkdir(parents=True)
    parts = write_split(split, "big", 2)
    quick = {m.id for m in Library().models(unread=False) if m.state == "installed"}
    assert quick == set()  # nothing was read of them yet
    listed = {m.id: m for m in Library().models() if m.state == "installed"}
    assert set(listed) == {"tiny-4b", "big"}
    assert (listed["tiny-4b"].name, listed["tiny-4b"].source) == ("tiny:4b", "ollama")
    facts = listed["tiny-4b"].facts
    assert facts is not None
    assert facts.n_vocab == len(TOKENS)
    assert listed["big"].files == tuple(parts)
    assert Library().resolve("tiny-4b") == place
    assert {m.id for m in Library().models(unread=False) if m.state == "installed"} == {"tiny-4b", "big"}


def test_a_catalogue_model_that_another_program_has_is_here(
    models_folder: Path, tandem_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(OFF_VARIABLE)
    path = put(tmp_path / ".lmstudio" / "models" / "org" / "repo" / "m.gguf")
    tandem_home.mkdir()
    (tandem_home / "models.yaml").write_text(
        "models:\n- {id: mine, name: Mine, family: own, repo: me/mine, variants: [{quant: F32, "
        f"files: [{{name: m.gguf, size: {path.stat().st_size}}}]}}]}}\n"
    )
    assert Library().resolve("mine") == path
    assert [m.id for m in Library().models() if m.state == "installed"] == ["mine"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / ".lmstudio" / "models"
    inside = put(root / "org" / "A.gguf")
    (root / "org" / "B.gguf").symlink_to(inside)
    (root / "org" / "gone.gguf").symlink_to(root / "nowhere.gguf")
    (root / "org" / "round").symlink_to(root)
    outside = put(tmp_path / "private" / "C.gguf")
    (root / "C.gguf").symlink_to(outside)
    (root / "all").symlink_to(outside.parent)
    (root / "device.gguf").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe.gguf")
    assert set(found(tmp_path)) == {"a", "b"}


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_folder_that_is_none_hides_nothing_else(tmp_path: Path) -> None:
    put(tmp_path / ".cache" / "lm-studio" / "models" / "A.gguf")
    root = tmp_path / ".lmstudio" / "models"
    root.parent.mkdir()
    root.symlink_to(root)
    (tmp_path / ".lmstudio-home-pointer").write_text("/no\0name")
    assert set(found(tmp_path)) == {"a"}


def test_own_folders_are_looked_into_until_they_are_removed(models_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    put(folder / "deep" / "A.gguf")
    put(folder / "mmproj-A.gguf")
    OwnFiles().add_folder(folder)
    OwnFiles().add_folder(folder)
    own = Library().add(put(tmp_path / "single.gguf"))
    assert OwnFiles().folders() == [folder]
    assert {m.id for m in Library().models() if m.source in ("folder", "own")} == {"a", own.id}
    folder.rename(tmp_path / "gone")
    assert {m.id for m in Library().models() if m.source == "folder"} == set()
    (tmp_path / "gone").rename(folder)
    OwnFiles().remove_folder(folder)
    assert {m.id for m in Library().models() if m.source in ("folder", "own")} == {own.id}
    with pytest.raises(EngineError) as caught:
        OwnFiles().add_folder(tmp_path / "single.gguf")
    assert caught.value.code is ErrorCode.FILE_MISSING
