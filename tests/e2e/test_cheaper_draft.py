"""``--cheaper-draft`` as a person uses it, over tiny models with random weights."""

from __future__ import annotations

import json
from pathlib import Path

from backend.library import copies
from tests.e2e.terminal import tandem
from tests.tiny import tiny_llama


def test_the_choice_is_settled_before_the_reply_and_holds_from_then_on(tmp_path: Path) -> None:
    target, draft = tiny_llama(tmp_path / "target.gguf"), tiny_llama(tmp_path / "draft.gguf", noise=0.2)
    pair = ("--target", target, "--draft", draft, "--context", "512", "--threads", "1", "--cheaper-draft")
    first = tandem("chat", *pair, "--max-tokens", "8", "--json", "Hello")
    assert first.code == 0, first.err
    (said,) = [line for line in first.err.splitlines() if "Q4_0 copy" in line]
    assert said.startswith(("tandem: Using a Q4_0 copy", "tandem: The draft is used as it is"))
    (copy,) = copies.listed()
    assert copy.source == draft
    again = tandem(
        "bench", *pair, "--workload", "three", "--limit", "1", "--max-tokens", "4", "--context", "1024",
        "--json", tmp_path / "report.json",
    )  # fmt: skip
    assert again.code == 0, again.err
    assert said in again.err.splitlines(), "remembered, in the same words"
    meta = json.loads((tmp_path / "report.json").read_text())["meta"]
    assert meta["options"]["cheaper_draft"] is True
    assert meta["draft"]["quant"] == ("Q4_0" if "Using" in said else "F32")


def test_without_a_draft_there_is_nothing_to_copy(tmp_path: Path) -> None:
    target = tiny_llama(tmp_path / "target.gguf")
    done = tandem("chat", "--target", target, "--draft", "none", "--cheaper-draft", "--max-tokens", "4", "Hello")
    assert done.code == 0, done.err
    assert "copy" not in done.err
    assert copies.listed() == []
