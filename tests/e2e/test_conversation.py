"""A conversation in the terminal: what is typed, what comes, Ctrl-C."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal, posix_only


@pytest.fixture
def conversation(files: Path) -> Iterator[Terminal]:
    if os.name != "posix":
        pytest.skip("needs a POSIX terminal")
    terminal = Terminal(
        *("chat", "--target", files / "good.gguf", "--draft", files / "draft.gguf"),
        *("--temperature", "1", "--seed", "5", "--max-tokens", "900"),
    )
    terminal.expect("answers, .* drafts")
    terminal.expect("› ")
    yield terminal
    terminal.send("/quit\n")
    assert terminal.end() == 0


@posix_only
def test_a_conversation_with_every_command(conversation: Terminal) -> None:
    t = conversation
    for line, answer in [
        ("/help", "/speculation on|off".replace("|", r"\|")),
        ("/stats", "no reply yet"),
        ("/continue", "no reply to go on with"),
        ("/nosuch", "not a command"),
        ("/seed 7", "Seed 7"),
        ("/seed x", r"\^63"),
        ("/speculation off", "Speculation is off"),
        ("/speculation maybe", "on or"),
        ("/draft nosuch-model", "No model is called"),
        ("/draft some/file.gguf", "models add"),
        ("/draft lookup", "speculation is off"),  # what was switched off stays off
        ("/speculation on", "Speculation is on"),
        ("/draft lookup", "prompt lookup drafts"),
        ("/draft draft", "tiny llama drafts"),
        ("/draft none", "speculation is off"),
        ("/draft draft", "tiny llama drafts"),
        ("/new", "new conversation"),
    ]:
        t.send(line + "\n")
        t.expect(answer)
        t.expect("› ")
    t.send("hello\n")
    t.expect(r"\d+ tokens · ")
    t.expect("› ")
    t.send("/stats\n")
    assert "0 kept from before" in t.expect("seed +7")
    t.expect("› ")


@posix_only
def test_the_next_question_finds_the_last_answer_still_in_memory(smollm2: Path) -> None:
    t = Terminal("chat", "--target", smollm2, "--temperature", "0", "--max-tokens", "12")
    figures = []
    for question in ("What is rain?", "And snow?"):
        t.expect("› ")
        t.send(question + "\n")
        t.expect(r"12 tokens · ")
        t.expect("› ")
        t.send("/stats\n")
        found = re.search(r"prompt +(\d+) tokens in .* ms, (\d+) kept", t.expect("seed +"))
        assert found is not None
        figures.append((int(found[1]), int(found[2])))
    (first, nothing), (_, kept) = figures
    assert nothing == 0
    assert kept >= first + 11  # the question and its answer, but for the token that was never decoded
    t.send("/quit\n")
    assert t.end() == 0


@posix_only
def test_ctrl_c_at_the_prompt_leaves(files: Path) -> None:
    terminal = Terminal("chat", "--target", files / "good.gguf")
    terminal.expect("› ")
    terminal.send("\x03")
    # Python's readline waits for ever if the signal comes between the prompt and its select(): the next one is heard
    assert terminal.end(again="\x03") == 0


@posix_only
def test_ctrl_c_in_a_reply_comes_back_to_the_prompt(smollm2: Path) -> None:
    terminal = Terminal("chat", "--target", smollm2, "--temperature", "0")
    terminal.expect("› ")
    terminal.send("Write a very long story about the sea and all its ships.\n")
    terminal.expect(r"(\w+ ){8}\w+.*\n?.*(\w+ ){4}")
    terminal.send("\x03")
    terminal.expect("stopped")
    terminal.expect("› ")
    terminal.send("/quit\n")
    assert terminal.end() == 0
