"""Prompt files, and the built-in prompts."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.bench.workloads import DEMO, Prompt, load_prompts
from backend.errors import EngineError, ErrorCode


def test_both_forms_of_a_line(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(
        '{"id": "a", "category": "x", "turns": ["first", "second"]}\n\n{"id": 7, "prompt": "Grüße\\u2028"}\n', "utf-8"
    )
    assert load_prompts(file) == [Prompt("a", "x", "first"), Prompt("7", "other", "Grüße\u2028")]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "Line 1"),
        (b'{"id": "a", "prompt": "x"}\n{"id"', "Line 2"),
        (b'{"id": "a", "prompt": "x"}\n["x"]', "not a JSON object"),
        (b'{"id": "a", "prompt": "\xff"}', "UTF-8"),
        (b'{"id": "a", "turns": []}', "neither"),
        (b'{"id": "a", "category": "all", "prompt": "x"}', "over all categories"),
        (b"[" * 100_000, "Line 1"),
        (b'{"id": "a", "prompt": "x"}\n{"id": "a", "prompt": "y"}', "twice"),
    ],
)
def test_wrong_files_get_one_sentence(tmp_path: Path, content: bytes, part: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_bytes(content)
    with pytest.raises(EngineError) as caught:
        load_prompts(file)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert part in caught.value.message


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        load_prompts(tmp_path / "none.jsonl")
    assert caught.value.code is ErrorCode.FILE_MISSING


def test_the_built_in_prompts_differ_in_what_they_repeat() -> None:
    edit, explain, story = DEMO
    code = edit.text.split("```")[1]
    assert code in explain.text
    assert "```" not in story.text
    compile(code.removeprefix("python\n"), "demo", "exec")
