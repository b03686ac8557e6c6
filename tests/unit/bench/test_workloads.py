"""Prompt files, and the built-in prompts."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from backend.bench.workloads import DEMO, Prompt, load_prompts, part_of
from backend.cli_bench import part
from backend.errors import EngineError, ErrorCode


def test_both_forms_of_a_line(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(
        '{"id": "a", "category": "x", "turns": ["first", "second"]}\n\n{"id": 7, "prompt": "Grüße\\u2028"}\n', "utf-8"
    )
    assert load_prompts(file) == [Prompt("a", "x", "first"), Prompt("7", "other", "Grüße\u2028")]


def test_later_turns_are_kept_where_they_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text('{"id": "a", "turns": ["first", "second"]}\n{"id": "b", "turns": ["only", 7]}\n', "utf-8")
    assert [prompt.later for prompt in load_prompts(file)] == [(), ()]
    with pytest.raises(EngineError, match="Line 2"):
        load_prompts(file, all_turns=True)
    file.write_text('{"id": "a", "turns": ["first", "second"]}\n', "utf-8")
    (prompt,) = load_prompts(file, all_turns=True)
    turn = prompt.next_turn("reply")
    assert (turn.id, turn.category, turn.later) == ("a/2", prompt.category, ())
    assert [(m.role, m.content) for m in turn.messages] == [
        ("user", "first"), ("assistant", "reply"), ("user", "second"),
    ]  # fmt: skip


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


def test_the_parts_of_a_file_are_all_of_it() -> None:
    prompts = [Prompt(str(i), "c", "x") for i in range(5)]
    parts = [part_of(prompts, part(text)) for text in ("1/3", "2/3", "3/3")]
    assert [[int(prompt.id) for prompt in one] for one in parts] == [[0, 3], [1, 4], [2]]
    assert part_of(prompts, None) == prompts
    with pytest.raises(EngineError, match="Part 6 of 6 is empty"):
        part_of(prompts, (6, 6))


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/", "-1/2"])
def test_what_is_no_part(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="such as 1/3"):
        part(text)
