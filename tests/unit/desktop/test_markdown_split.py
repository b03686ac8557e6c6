"""Cutting replies into blocks: nothing is lost, and only the end of a growing text ever changes."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.widgets.markdown_split import LONG, VERY_LONG, Block, split_blocks
from desktop.widgets.thoughts import answer


def test_prose_code_prose() -> None:
    text = "Here:\n\n```python\ndef f():\n\n    return 1\n```\n\nDone."
    assert split_blocks(text) == [
        Block("prose", "Here:"),
        Block("code", "def f():\n\n    return 1", "python"),
        Block("prose", "Done."),
    ]


def test_nested_fences_tildes_and_an_unclosed_fence() -> None:
    assert split_blocks("````md\n```py\nx\n```\n````") == [Block("code", "```py\nx\n```", "md")]
    assert split_blocks("~~~\n```\n~~~") == [Block("code", "```", "")]
    assert split_blocks("```c++ title=x\nint") == [Block("code", "int", "c++")]
    assert split_blocks("```c++\nint", complete=False) == [Block("code", "int", "c++", closed=False)]


def test_inline_backticks_are_not_a_fence() -> None:
    assert split_blocks("```x`y```") == [Block("prose", "```x`y```")]


def test_a_fence_that_is_still_arriving_is_held_back() -> None:
    for tail in ("`" * 3, "```py", "~~~"):
        assert split_blocks(f"text\n{tail}", complete=False) == [Block("prose", "text", closed=False)]
    assert split_blocks("```py\ncode\n``", complete=False)[-1].text == "code"
    assert split_blocks("```py\ncode\n```", complete=False)[-1].text == "code"


def test_thinking_in_all_its_shapes() -> None:
    assert split_blocks("<think>\nhm\n</think>\n\nYes.") == [Block("thinking", "hm"), Block("prose", "Yes.")]
    assert split_blocks("hm\n</think>\nYes.") == [Block("thinking", "hm"), Block("prose", "Yes.")]
    assert split_blocks("<think>\nhm", complete=False) == [Block("thinking", "hm", closed=False)]
    assert split_blocks("<think>\nhm") == [Block("thinking", "hm")]
    assert split_blocks("<thi", complete=False) == []
    assert split_blocks("<think></think>Yes.") == [Block("prose", "Yes.")]


def test_a_reply_may_speak_about_the_tag() -> None:
    for text in (
        "Models end thinking with `</think>`.\n\nThen they answer.",
        "The tag </think> ends it.",
        "```html\n</think>\n```\nDone.",
        "~~~\n```\n</think>\n~~~",
    ):
        for complete in (True, False):
            assert "thinking" not in [block.kind for block in split_blocks(text, complete)]
        assert answer(text) == text
    quoting = "<think>\nThe tag `</think>` ends me.\n</think>\n`Yes`."
    assert split_blocks(quoting) == [Block("thinking", "The tag `</think>` ends me."), Block("prose", "`Yes`.")]


def test_the_end_of_thinking_waits_for_its_whole_line() -> None:
    """Before the line break it may become a sentence about the tag; it is not shown either."""
    for tail in ("</", "</think", "</think>"):
        assert split_blocks(f"hm\n{tail}", complete=False) == [Block("prose", "hm", closed=False)]
    assert split_blocks("hm\n</think>\n", complete=False) == [Block("thinking", "hm")]
    assert split_blocks("hm\n</think> is a tag", complete=False)[0].kind == "prose"


def test_the_answer_is_what_is_copied() -> None:
    assert answer("<think>\nhm\n</think>\n\n    code\n") == "    code\n"
    assert answer("hm\n</think>\nYes.") == "Yes."
    assert answer("<think>\nhm") == "<think>\nhm"
    assert answer("  as written\n") == "  as written\n"
    assert split_blocks("<thi") == [Block("prose", "<thi")]


def test_very_long_lists_are_cut_before_an_item() -> None:
    items = [f"{n}. " + "word " * 60 + "\n   - below\n   more" for n in range(1, 200)]
    blocks = split_blocks("\n".join(items))
    assert len(blocks) > 2
    assert all(block.text[0].isdigit() for block in blocks)
    assert all(len(block.text) < VERY_LONG + 1000 for block in blocks)
    table = "| a | b |\n|---|---|\n" + "| cell | cell |\n" * 2000
    assert len(split_blocks(table)) == 1


def test_long_prose_is_cut_between_paragraphs_never_in_lists() -> None:
    paragraph = "word " * 100
    blocks = split_blocks("\n\n".join([paragraph.strip()] * 20))
    assert len(blocks) > 2
    assert all(len(b.text) < LONG + 2 * len(paragraph) for b in blocks)
    one_list = "\n\n".join(f"- {paragraph}" for _ in range(20))
    assert len(split_blocks(one_list)) == 1


_pieces = st.lists(
    st.sampled_from(
        [
            "word ",
            "\n",
            "\n\n",
            "```",
            "```py\n",
            "~~~\n",
            "`",
            "- item\n",
            "| a | b |\n",
            "héllo",
            "🙂",
            "x" * 700,
            "- " + "y" * 5000 + "\n",
            "- ",
            "1. ",
            "   ",
            "|---|---|\n",
            "$$",
            "\\[ x",
            "\\]\n",
        ]
    ),
    max_size=40,
)


@settings(max_examples=300)
@given(_pieces)
def test_earlier_blocks_stay_while_a_text_grows(pieces: list[str]) -> None:
    before: list[Block] = []
    text = ""
    for piece in pieces:
        text += piece
        now = split_blocks(text, complete=False)
        assert now[: max(len(before) - 1, 0)] == before[:-1]
        before = now
    assert split_blocks(text)[: max(len(before) - 1, 0)] == before[:-1]


@settings(max_examples=200)
@given(_pieces)
def test_no_word_is_lost(pieces: list[str]) -> None:
    """Every word is shown, in order, but for the fences themselves."""

    def content(text: str) -> list[str]:
        return re.sub(r"(`{3,}|~{3,}).*", "", text).split()

    text = "".join(pieces)
    assert content("\n".join(block.text for block in split_blocks(text))) == content(text)
