"""``tandem plan`` as a person sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.cli import main


def test_a_pair_of_the_catalogue_is_planned_without_its_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--target", "qwen3-14b", "--vram", "8", "--memory", "16"]) == 0
    title, place, head, *rows, verdict = capsys.readouterr().out.splitlines()
    assert title.startswith("Qwen3 14B, Q4_K_M with Qwen3 0.6B, Q8_0; weights estimated from the catalogue; 8,192 tok")
    assert place == "On 8.0 GB on GPU 0, 16.0 GB of memory that reads 40 GB/s (assumed)"
    assert head.split()[:3] == ["plan", "GPU", "0"]
    assert {row.split("  ")[0] for row in rows} == {"no draft", "draft on a GPU", "draft in memory"}
    assert verdict.startswith("Best: draft")
    assert "estimates" in verdict


def test_a_file_is_planned_by_its_own_weights(smollm2: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--target", str(smollm2), "--vram", "0", "--memory", "4"]) == 0
    out = capsys.readouterr().out
    assert "SmolLM2-135M" in out, "by the name of the file that was named"
    assert "weights from the file" in out
    assert "no GPU" in out


def test_what_memory_reads_is_measured_here(smollm2: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--target", str(smollm2), "--vram", "0"]) == 0
    assert "(measured now)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "qwen3-14b", "--vram", "0", "--memory", "1"], "does not fit"),
        (["--target", "no-such-model", "--vram", "0"], "no-such-model"),
        (["--target", "qwen3-14b", "--memory", "much"], "not a number"),
        (["--target", "qwen3-14b", "--acceptance", "1.5"], "between 0 and 1"),
        (["--target", "/nowhere/x.gguf", "--vram", "0"], "x.gguf"),
        (["--target", "qwen3-14b", "--draft", "smollm2", "--memory", "16", "--vram", "0"], "vocabulary sizes"),
        (["--target", "qwen2.5-coder-1.5b", "--draft", "smollm2", "--memory", "16", "--vram", "0"], "differ"),
    ],
)
def test_what_cannot_be_planned_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *arguments]) != 0
    shown = capsys.readouterr()
    assert said in shown.out + shown.err
