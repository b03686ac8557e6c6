"""``tandem plan`` as a person sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backend import cli_plan
from backend.cli import main
from backend.engine.place import _request
from backend.library.gguf import GgufFacts, read_facts
from backend.plan.machine import Machine
from backend.plan.needs import Needs
from backend.plan.plan import Plan, Request, plans
from backend.protocol import LoadOptions
from tests.unit.library.files import write_gguf


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
        (["--target", "qwen3-14b", "--vram", "0", "--memory", "1"], "context: 2,048 tokens would do."),
        (["--target", "qwen3-14b", "--vram", "0", "--memory", "0"], "Choose a smaller model."),
        (["--target", "qwen3-14b", "--vram", "0", "--memory", "0"], "more than 0 bytes of main memory"),
        (["--target", "qwen3-14b", "--memory", "1e7"], "must be from 0 to 1,000,000 GB"),
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


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["--kv-type", "q8_0"], {"kv_type": "q8_0"}),
        (["--kv-type", "q4_0", "--draft-kv-type", "q8_0"], {"kv_type": "q4_0", "draft_kv_type": "q8_0"}),
        (["--context", "4096"], {"n_ctx": 4096}),
    ],
)
def test_what_is_planned_is_what_a_load_checks(
    starter_target: Path,
    starter_draft: Path,
    gemma3_270m: Path,
    smollm2: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    options: dict[str, Any],
) -> None:
    """Also with a sliding window (Gemma), and where a model was trained on less than is usual (SmolLM2)."""
    planned: list[Request] = []

    def watched(request: Request, here: Machine) -> list[Plan]:
        planned.append(request)
        return plans(request, here)

    def nameless(needs: Needs | None) -> Needs | None:
        return replace(needs, name="") if needs is not None else None

    monkeypatch.setattr(cli_plan, "plans", watched)
    for target, draft in ((starter_target, starter_draft), (gemma3_270m, None), (smollm2, None)):
        named = ["--draft", str(draft)] if draft is not None else []
        assert main(["plan", "--target", str(target), *named, *arguments, "--vram", "0", "--memory", "8"]) == 0
        facts: list[GgufFacts | None] = [read_facts(path) if path is not None else None for path in (target, draft)]
        assert facts[0] is not None
        load = _request(LoadOptions(**options), facts[0], facts[1])
        plan = planned[-1]
        assert plan == replace(load, target=plan.target, draft=plan.draft)
        assert nameless(plan.target) == nameless(load.target)
        assert nameless(plan.draft) == nameless(load.draft)


def test_a_published_model_is_planned_as_its_file_will_be(
    gemma3_270m: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from backend.library.catalogue import shipped_catalogue
    from backend.plan.needs import of_catalogue
    from backend.plan.request import request_for

    found = shipped_catalogue().find("gemma3-270m")
    assert found is not None
    entry, variant = found
    guess = of_catalogue(entry.name, entry.shape, variant.size or 0, variant.quant)
    assert guess is not None
    load = _request(LoadOptions(), read_facts(gemma3_270m), None)
    assert request_for(LoadOptions(), guess, None).flash == load.flash is True


def test_a_draft_that_fits_nowhere_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["plan", "--target", "qwen3-14b", "--draft", "qwen3-0.6b", "--vram", "0", "--memory"]
    assert main([*arguments, "3"]) == 0
    assert "The draft (Qwen3 0.6B, Q8_0) fits nowhere beside it.\n" in capsys.readouterr().out
    assert main([*arguments, "16"]) == 0
    assert "fits nowhere" not in capsys.readouterr().out


def test_a_model_that_reads_no_weights_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["per_layer_token_embd.weight", "per_layer_token_embd.other"]
    assert main(["plan", "--target", str(write_gguf(tmp_path / "m.gguf", tensors=rows)), "--memory", "8"]) == 1
    assert "no weights that a token would read" in capsys.readouterr().err


def test_a_file_name_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_gguf(tmp_path / "red\x1b[31m\n\u202e.gguf")
    assert main(["plan", "--target", str(path), "--memory", "8", "--vram", "0"]) == 0
    assert capsys.readouterr().out.startswith("red␛[31m␊, F32")


def test_a_data_folder_that_cannot_be_written_is_no_hindrance(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], smollm2: Path
) -> None:
    monkeypatch.setenv("TANDEM_HOME", "/proc/tandem")
    assert smollm2.is_file()
    for name in ("qwen3-14b", "smollm2"):  # the second is here: what is read of it is kept where that is possible
        assert main(["plan", "--target", name, "--vram", "0", "--memory", "8"]) == 0
    assert capsys.readouterr().err == ""
