"""Commands that measure and show: ``bench``, ``tune``, ``demo``, ``doctor``."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

from tests.e2e.terminal import PATIENCE, Terminal, posix_only, start, tandem


def test_bench_measures_modes_side_by_side(files: Path, tmp_path: Path) -> None:
    prompts, out = tmp_path / "p.jsonl", tmp_path / "out.json"
    prompts.write_text('{"id": "a", "category": "x", "turns": ["hello", "no"]}\n{"id": "b", "prompt": "again again"}\n')
    done = tandem(
        *("bench", "--target", files / "good.gguf", "--draft", files / "draft.gguf", "--prompts", prompts),
        *("--max-tokens", "6", "--modes", "plain,plain#2,auto,fixed:3", "--repeats", "2", "--ignore-eos"),
        *("--turns", "all", "--json", out),
    )
    assert done.code == 0, done.err
    report = json.loads(out.read_text("utf-8"))
    runs = report["runs"]
    assert len(runs) == 4 * 3 * 2
    assert [r["prompt_id"] for r in runs[:12]] == [*["a"] * 4, *["a/2"] * 4, *["b"] * 4]
    assert "tandem: 24 replies; the table follows at the end." in done.err.splitlines()
    assert {r["predicted_n"] for r in runs} == {6}
    assert all(r["prompt_n"] > 5 for r in runs)  # read anew each time
    plain = {(r["prompt_id"], r["repeat"]): r for r in runs if r["mode"] == "plain"}
    for r in runs:
        if r["mode"] == "plain#2":  # the same passes over the same tokens
            assert r["tokens"] == plain[r["prompt_id"], r["repeat"]]["tokens"]
    assert all(r["passes"] == 5 and r["draft_n"] == 0 for r in plain.values())
    assert all(r["draft_n"] > 0 for r in runs if r["mode"] == "fixed:3")
    assert [r["mode"] for r in runs[:4]] != [r["mode"] for r in runs[8:12]]
    assert report["meta"]["engine"].startswith("llama.cpp")
    assert {row["category"] for row in report["summary"]} == {"x", "other", "all"}
    assert re.search(r"^x +plain#2 +", done.out, re.MULTILINE)
    assert "Best possible by foresight" in done.out
    assert {b["category"] for b in report["bounds"]} == {"x", "other", "all"}
    assert all(b["bound"] >= 1.0 and b["auto"] for b in report["bounds"])


@posix_only
def test_bench_and_tune_tell_a_terminal_how_far_they_are(files: Path, tmp_path: Path) -> None:
    prompts = tmp_path / "p.jsonl"
    prompts.write_text('{"id": "a", "prompt": "hello"}\n{"id": "b", "prompt": "again"}\n')
    common = ("--target", files / "good.gguf", "--prompts", prompts, "--max-tokens", "4")
    bench = Terminal("bench", *common, "--modes", "plain", "--ignore-eos")
    bench.expect("warming up, then 2 replies")
    bench.expect("1/2 a plain")
    bench.expect("tok/s")
    assert bench.end() == 0
    tune = Terminal("tune", *common, "--drafts", files / "draft.gguf")
    for step in ("1/2", "2/2", "speed-up"):
        tune.expect(step)
    assert tune.end() == 0


def test_bench_refuses_before_it_measures(files: Path, tmp_path: Path) -> None:
    prompts = tmp_path / "p.jsonl"
    prompts.write_text('{"id": "a", "prompt": "hello"}\n')
    base = ("bench", "--target", files / "good.gguf", "--prompts")
    assert "cannot be read" in tandem(*base, tmp_path / "none").sentence
    assert "'fast'" in tandem(*base, prompts, "--modes", "fast").sentence
    assert "--draft" in tandem(*base, prompts, "--modes", "draft").sentence
    assert "cannot be written" in tandem(*base, prompts, "--json", tmp_path / "no" / "o.json").sentence
    assert "name of its own" in tandem(*base, prompts, "--peer", "plain=http://127.0.0.1:9").sentence


def test_demo_shows_three_prompts_both_ways(smollm2: Path) -> None:
    done = tandem("demo", "--target", smollm2, "--max-tokens", "12")
    assert done.code == 0, done.err
    assert done.out.startswith("Loading the models…\n")
    assert re.search(r"both ways in turn, about \d+ (seconds|minutes)\.", done.out)
    for title in ("edit this code", "explain this", "tell a story"):
        assert f"\n{title}\n" in done.out
    assert len(re.findall(r"whole request +[\d.]+×", done.out)) == 3
    assert len(re.findall(r"generation +[\d.]+×", done.out)) == 3
    assert len(re.findall(r"source: ", done.out)) == 3
    assert len(re.findall(r"text +(identical|first difference at token \d+: .*margin)", done.out)) == 3
    # which of them depends on the clock; test_terminal_words.py has each
    assert any(words in done.out for words in ("An edit repeats its input", "gained little", "came out slower"))


@posix_only
def test_demo_names_a_prompt_before_it_is_answered(smollm2: Path) -> None:
    process = start("demo", "--target", smollm2)
    assert process.stdout is not None
    while line := process.stdout.readline():
        if line == b"edit this code\n":
            break
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate(timeout=PATIENCE)
    assert line, err
    assert process.returncode == 130, err
    assert b"whole request" not in rest


def test_doctor_finds_that_a_reply_can_be_made(smollm2: Path, tmp_path: Path) -> None:
    (tmp_path / smollm2.name).symlink_to(smollm2)
    env = {"TANDEM_MODELS_DIR": str(tmp_path), "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    done = tandem("doctor", env=env)
    assert done.code == 0, done.out + done.err
    assert re.search(r"smollm2 +0\.10 GB, not verified yet", done.out)
    assert re.search(r"Self-test +smollm2: \d+ tokens in 1 s\n", done.out), "no speed: it is of one tiny model"
    assert "HF_HUB_OFFLINE" in done.out
    assert re.search(r"llama\.cpp +llama\.cpp ", done.out)


def test_doctor_without_models_says_what_to_do(tmp_path: Path) -> None:
    env = {"TANDEM_MODELS_DIR": str(tmp_path), "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"}
    done = tandem("doctor", env=env)
    assert done.code == 1
    assert "tandem models get starter" in done.out
    assert "Traceback" not in done.err


def test_bench_asks_short_questions_of_a_streamed_target(files: Path, tmp_path: Path) -> None:
    """The page cache stays as it is here: other tests read from it."""
    out = tmp_path / "out.json"
    done = tandem(
        *("bench", "--target", files / "good.gguf", "--draft", files / "good.gguf", "--workload", "streamed"),
        *("--warm", "--ignore-eos", "--json", out),
    )
    assert done.code == 0, done.err
    head, *rows = (line for line in done.out.splitlines() if line)
    assert head.split() == ["question", "of", "mode", "answer", "passes", "request", "s/token", "peak", "equal"]
    assert sum(row.startswith(("fact", "product", "expression", "code")) for row in rows) == 3 * 8
    assert sum(row.startswith("all") for row in rows) == 3
    assert "as a share of plain's: " in done.out
    runs = json.loads(out.read_text("utf-8"))["runs"]
    assert all(r["predicted_n"] == int(r["prompt_id"].rpartition("-")[2]) for r in runs)
    assert all(r["peak_memory"] > 10_000_000 for r in runs)
    assert {r["passes"] for r in runs if r["mode"] == "plain"} == {3, 7}
    assert all(r["passes"] < 7 for r in runs if r["mode"] == "fixed:8")
