"""Files that would end the engine, and an engine that does not answer: the worker says so and keeps what it has."""

from __future__ import annotations

import multiprocessing
import re
import struct
import threading
from pathlib import Path

import pytest

from backend.engine import aside, sizes
from backend.errors import EngineError, ErrorCode
from backend.protocol import DraftRequest, LoadRequest
from backend.server.host import Host
from tests.server.test_work import HELLO, OPTIONS, ended, until, with_host
from tests.tiny import tiny_llama
from tests.tiny_experts import tiny_qwen3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny_llama(folder / "good.gguf")
    return folder


DAMAGES: dict[str, tuple[str, str]] = {
    "experts.gguf": ("qwen3moe.expert_used_count", "load_failed"),
    "epsilon.gguf": ("llama.attention.layer_norm_rms_epsilon", "file_damaged"),
    "types.gguf": ("blk.0.ffn_up.weight", "file_damaged"),
    "norm.gguf": ("blk.0.attn_norm.weight", "file_damaged"),
    "tokens.gguf": ("tokenizer.ggml.tokens", "file_damaged"),
}


def write_damaged(path: Path) -> None:
    """A file that our reader would take for a model, and that stops llama.cpp by an assertion."""
    key = DAMAGES[path.name][0].encode()
    raw = bytearray((tiny_qwen3(path, experts=8) if key.startswith(b"qwen3") else tiny_llama(path)).read_bytes())
    at = raw.index(key) + len(key)
    match path.name:
        case "experts.gguf":
            raw[at + 4 : at + 8] = (0).to_bytes(4, "little")
        case "epsilon.gguf":
            raw[at + 4 : at + 8] = struct.pack("<f", -1.0)
        case "types.gguf":
            raw[at + 20 : at + 24] = (26).to_bytes(4, "little")  # two dimensions; 32-bit numbers are as wide
        case "norm.gguf":
            raw[at + 12 : at + 16] = (26).to_bytes(4, "little")
        case "tokens.gguf":
            first = raw.index(b"!", at)  # texts of one byte each, behind their lengths
            raw[first + 9] = raw[first]
    path.write_bytes(raw)


@pytest.mark.parametrize("name", DAMAGES)
def test_a_file_that_would_end_the_engine_is_refused(folder: Path, name: str) -> None:
    write_damaged(folder / name)

    async def talk(host: Host) -> None:
        with pytest.raises(EngineError) as caught:
            await ended(host.load(LoadRequest(target=name, options=OPTIONS), None))
        assert caught.value.code == DAMAGES[name][1]
        assert host.model_id == "good.gguf"
        with pytest.raises(EngineError, match=f"{name}|vocabularies differ"):
            await ended(host.set_draft(DraftRequest(draft=name), None))
        await ended(host.load(LoadRequest(target="good.gguf", draft=name, options=OPTIONS), None))
        assert host.state().draft is None
        assert re.search(f"{name}|vocabularies differ", host.state().draft_note)
        await ended(host.reply(HELLO, None))

    with_host(folder, talk)


@pytest.mark.parametrize("as_draft", [False, True])
def test_a_load_is_stopped_while_the_engine_is_asked_for_sizes(
    folder: Path, monkeypatch: pytest.MonkeyPatch, as_draft: bool
) -> None:
    tiny_qwen3(folder / "sizes.gguf", experts=4, seed=int(as_draft))
    monkeypatch.setattr(sizes, "_answer", hang)

    async def talk(host: Host) -> None:
        if as_draft:
            job = host.set_draft(DraftRequest(draft="sizes.gguf"), "asking")
        else:
            job = host.load(LoadRequest(target="sizes.gguf", options=OPTIONS), "asking")
        await until(lambda: bool(multiprocessing.active_children()))
        host.cancel("asking")
        with pytest.raises(EngineError) as caught:
            await ended(job)
        assert caught.value.code is ErrorCode.CANCELLED
        assert not multiprocessing.active_children()
        assert host.model_id == "good.gguf"
        assert host.state().phase == "ready"

    with_host(folder, talk)


def hang(*_given: object) -> None:
    """As a disk does that does not answer."""
    aside.end_with_parent()
    threading.Event().wait(600)
