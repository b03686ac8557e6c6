"""Looking for models on a small hub of our own: what it offers, and that its answers are not trusted."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.library.found import Found
from backend.library.hub import download
from backend.library.hub_search import Hit, offers, search
from backend.library.library import Library
from tests.unit.library.files import write_gguf
from tests.unit.library.server import Hub, serving

SHA256 = "a" * 64
REPO = "/api/models/someone/Tiny-3B-Instruct-GGUF"


@pytest.fixture
def hub(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(Hub()) as made:
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        yield made


def sibling(name: str, size: int = 1000, sha256: str = SHA256) -> dict[str, object]:
    return {"rfilename": name, "size": size, "lfs": {"sha256": sha256, "size": size, "pointerSize": 130}}


def repository(*siblings: dict[str, object], **fields: object) -> dict[str, object]:
    known = {"id": "someone/Tiny-3B-Instruct-GGUF", "sha": "c" * 40, "gated": False, "tags": ["gguf", "license:mit"]}
    return known | {"siblings": list(siblings)} | fields


def test_what_is_found_by_words(hub: Hub) -> None:
    hub.json["/api/models"] = [
        {
            "id": "a/B-GGUF",
            "downloads": 7,
            "gated": "manual",
            "gguf": {"total": 3_000_000_000},
            "tags": ["license:mit"],
        },
        {"id": "../evil", "downloads": 9},
        "not an object",
        {"id": "a/C", "downloads": "many"},
        {"id": "a/D"},
    ]
    found = search("tiny qwen")
    assert found == [Hit("a/B-GGUF", 7, True, 3_000_000_000, "mit"), Hit("a/D", 0, False, None, "")]
    asked = hub.requests[0][1]
    assert "search=tiny" in asked
    assert "filter=gguf" in asked


def test_each_quantisation_is_an_offer_and_a_split_file_one(hub: Hub) -> None:
    hub.json[REPO] = repository(
        sibling("Tiny-3B-Instruct-Q8_0.gguf", 3000),
        sibling("Tiny-3B-Instruct-Q4_K_M.gguf", 2000),
        sibling("big/Tiny-3B-Instruct-BF16-00002-of-00002.gguf", 4000),
        sibling("big/Tiny-3B-Instruct-BF16-00001-of-00002.gguf", 4000),
        sibling("Tiny-3B-Instruct-F16-00001-of-00003.gguf"),
        sibling("mmproj-Tiny-F16.gguf"),
        sibling("../../etc/x-Q4_0.gguf"),
        sibling("README.md"),
    )
    found = offers("someone/Tiny-3B-Instruct-GGUF")
    assert [(e.variants[0].quant, e.variants[0].size) for e in found] == [
        ("Q4_K_M", 2000),
        ("Q8_0", 3000),
        ("BF16", 8000),
    ]
    first = found[0]
    assert first.id == "someone.tiny-3b-instruct.q4_k_m"
    assert (first.name, first.revision, first.gated) == ("Tiny-3B-Instruct", "c" * 40, False)
    assert first.licence is not None
    assert (first.licence.name, first.licence.link) == ("mit", "https://huggingface.co/someone/Tiny-3B-Instruct-GGUF")
    assert first.variants[0].files[0].sha256 == SHA256
    assert [f.name for f in found[2].variants[0].files] == [
        f"big/Tiny-3B-Instruct-BF16-0000{n}-of-00002.gguf" for n in (1, 2)
    ]


def test_several_models_of_a_quantisation_are_told_apart(hub: Hub) -> None:
    hub.json[REPO] = repository(
        sibling("Tiny-q4_0.gguf", 1), sibling("Tiny-Coder-q4_0.gguf", 2), sibling("T-q8_0.gguf", 3)
    )
    found = offers("someone/Tiny-3B-Instruct-GGUF")
    assert [(e.id, e.name) for e in found] == [
        ("someone.tiny-3b-instruct.tiny-q4_0", "Tiny-q4_0"),
        ("someone.tiny-3b-instruct.tiny-coder-q4_0", "Tiny-Coder-q4_0"),
        ("someone.tiny-3b-instruct.q8_0", "Tiny-3B-Instruct"),
    ]


def test_what_is_chosen_is_downloaded_and_stays_known_without_the_hub(hub: Hub, models_folder: Path) -> None:
    hub.content = write_gguf(models_folder.parent / "m.gguf").read_bytes()
    sha256 = hashlib.sha256(hub.content).hexdigest()
    hub.json[REPO] = repository(sibling("Tiny-3B-Instruct-Q8_0.gguf", len(hub.content), sha256))
    (entry,) = offers("someone/Tiny-3B-Instruct-GGUF")
    Found().add(entry)
    download(entry, entry.variants[0], lambda *_: None, threading.Event())
    model = Library().find("someone.tiny-3b-instruct.q8_0")
    assert (model.state, model.name, model.source) == ("installed", "Tiny-3B-Instruct", "catalogue")
    assert model.files[0].is_relative_to(models_folder / "someone")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"siblings": 3}, ErrorCode.DOWNLOAD_FAILED),
        (repository(sibling("x.bin")), ErrorCode.DOWNLOAD_FAILED),
        (repository(sibling("x-Q4_0.gguf"), id="nobody"), ErrorCode.DOWNLOAD_FAILED),
    ],
)
def test_a_repository_without_models_is_told(hub: Hub, answer: object, code: ErrorCode) -> None:
    hub.json[REPO] = answer  # type: ignore[assignment]
    with pytest.raises(EngineError) as caught:
        offers("someone/Tiny-3B-Instruct-GGUF")
    assert caught.value.code is code


def test_a_closed_repository_is_told(hub: Hub) -> None:
    hub.token = "hf_right"
    with pytest.raises(EngineError) as caught:
        offers("someone/Tiny-3B-Instruct-GGUF")
    assert caught.value.code is ErrorCode.GATED


def test_a_network_that_lets_nobody_search_is_told(hub: Hub) -> None:
    hub.status = 403
    with pytest.raises(EngineError) as caught:
        search("anything")
    assert caught.value.code is ErrorCode.DOWNLOAD_FAILED
    assert "it answers 403" in caught.value.message


def test_no_network_is_said_in_a_sentence(models_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{port}")
    with pytest.raises(EngineError) as caught:
        search("anything")
    assert caught.value.code is ErrorCode.NO_NETWORK
    assert "cannot be reached" in caught.value.message
