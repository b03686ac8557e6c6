"""``tandem tune`` and ``tandem bench --sweep --html`` as a person runs them, over tiny models with random weights."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend.library.paths import chats_file
from desktop.store import NewChat, Store
from tests.e2e.terminal import tandem
from tests.tiny import tiny_gemma3, tiny_llama


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny_llama(folder / "target.gguf", n_ctx=1024)
    tiny_llama(folder / "other.gguf", n_layer=1)
    tiny_gemma3(folder / "stranger.gguf")
    asked = [{"id": i, "category": "c", "prompt": f"Question {i}, please."} for i in range(3)]
    (folder / "prompts.jsonl").write_text("\n".join(map(json.dumps, asked)))
    return folder


def test_tune_puts_the_draft_that_agrees_first(files: Path) -> None:
    done = tandem(
        "tune", "--target", files / "target.gguf", "--drafts", f"{files / 'other.gguf'},{files / 'target.gguf'}",
        "--prompts", files / "prompts.jsonl", "--max-tokens", "24", "--context", "512", "--threads", "1",
    )  # fmt: skip
    assert done.code == 0, done.err
    head, *lines, explanation = done.out.splitlines()
    assert head.split()[:3] == ["draft", "tokens", "accepted"]
    rows = {line.split()[0]: line.split() for line in lines}
    assert set(rows) == {"target", "other"}
    assert float(rows["target"][2].rstrip("%")) > 90 > float(rows["other"][2].rstrip("%"))
    assert "first guess" in explanation


def chats(folder: Path, n: int) -> None:
    """A reply of ``n`` tokens in the window's chats, by the target."""
    asked = ("chat", "--target", folder / "target.gguf", "--draft", "none", "--json", "--max-tokens", "1", "Hi")
    tokenizer = json.loads(tandem(*asked, "--context", "512", "--threads", "1").out)["tokenizer"]
    store = Store(chats_file())
    _, _, reply = store.add_turn(NewChat("Hi"), None, "Hi", target="target", tokenizer=tokenizer).result()
    store.update_message(reply.id, content="…", ids=[(7 * i) % 300 + 5 for i in range(n)], state="complete").result()
    store.close()


def test_tune_reads_the_windows_chats(files: Path) -> None:
    tune = (
        "tune", "--target", files / "target.gguf", "--drafts", files / "other.gguf", "--chats", "--context", "512",
        "--threads", "1",
    )  # fmt: skip
    chats(files, 100)
    few = tandem(*tune)
    assert few.code == 1
    assert "Only 100 tokens of replies by target" in few.err
    chats(files, 150)
    done = tandem(*tune)
    assert done.code == 0, done.err
    assert "2 replies from the chats, 250 tokens" in done.err
    assert done.out.splitlines()[1].split()[:2] == ["other", "250"]


@pytest.mark.parametrize(
    ("drafts", "why"), [("stranger.gguf", "draft"), ("missing.gguf", "no file"), (" , ", "No draft model")]
)
def test_tune_refuses_what_cannot_draft_before_anything_is_loaded(files: Path, drafts: str, why: str) -> None:
    named = ",".join(str(files / name) if name.strip() else name for name in drafts.split(","))
    done = tandem("tune", "--target", files / "target.gguf", "--drafts", named)
    assert done.code == 1
    (sentence,) = done.err.strip().splitlines()
    assert why in sentence


def test_a_sweep_names_the_best_length_and_writes_a_page(files: Path, tmp_path: Path) -> None:
    done = tandem(
        "bench", "--target", files / "target.gguf", "--draft", files / "target.gguf", "--prompts",
        files / "prompts.jsonl", "--sweep", "--max-tokens", "8", "--ignore-eos", "--limit", "2", "--context", "512",
        "--threads", "1", "--html", tmp_path / "report.html", "--json", tmp_path / "report.json",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "The best fixed length" in done.out
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["best_fixed"][0]["mode"].partition(":")[0] in ("draft", "lookup")
    assert {"1", "2"} <= set(written["costs"]["target"])
    judged = [run["reliability"] for run in written["runs"] if run["mode"] == "draft:4"]
    assert all(sum(n for n, _, _ in one["draft"]) > 0 for one in judged)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert "The best fixed length" in page


def test_a_workload_needs_no_file(files: Path) -> None:
    done = tandem(
        "bench", "--target", files / "target.gguf", "--draft", "none", "--workload", "three", "--modes", "plain",
        "--max-tokens", "4", "--context", "1024", "--threads", "1",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert all(word in done.out for word in ("refactor", "explain", "story", "all"))
    both = tandem("bench", "--workload", "three", "--prompts", files / "prompts.jsonl")
    assert both.code == 2
