"""How a file's text stands in the prompt: always inside its own block, whatever it says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.documents import Attachment, asked, estimated_tokens, first_part
from backend.documents.attachment import from_columns, to_columns
from desktop.widgets.markdown_split import split_prose

TEXTS = st.text(st.sampled_from("`~ab \n\t>#é🌊\u2028")) | st.text()
NAMES = st.text(min_size=1)


def made(text: str, name: str = "a.py", language: str = "python") -> Attachment:
    return Attachment(name, language, text, len(text.encode("utf-8", "replace")))


def test_a_message_with_files_reads_so() -> None:
    files = [made("x = 1\n"), replace(made("long", "b.txt", ""), part="the first 4 of 9 characters")]
    assert asked("What is this?", files) == (
        "File: a.py\n```python\nx = 1\n```\n\n"
        "File: b.txt (the first 4 of 9 characters)\n```\nlong\n```\n\n"
        "What is this?"
    )
    assert asked("  ", files[:1]) == "File: a.py\n```python\nx = 1\n```"
    assert asked("as typed ", ()) == "as typed "


@given(TEXTS, NAMES, TEXTS)
def test_no_text_can_close_its_own_fence(text: str, name: str, typed: str) -> None:
    """Neither can a name open one: what was typed begins where the block ends."""
    block = made(text, name).block
    prose, code = split_prose(block)
    assert (prose.kind, code.kind, code.language) == ("prose", "code", "python")
    shown = text.encode("utf-8", "replace").decode()
    assert code.text == shown.removesuffix("\n")
    assert code.closed
    assert prose.text.startswith("File: ")
    assert "\n" not in prose.text
    whole = asked(typed, [made(text, name)])
    assert whole.startswith(block)
    assert whole.removeprefix(block).strip() == typed.strip()


@pytest.mark.parametrize("word", ["", "py`thon", "a b", "x\ny", "x" * 40])
def test_a_language_that_is_none_is_left_out(word: str) -> None:
    assert made("x", language=word).block == "File: a.py\n```\nx\n```"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb.txt", "a b.txt"),
        ("exe\u202etxt.gpj", "exetxt.gpj"),
        ("\x1b[31mred", "[31mred"),
        ("half\udce9.txt", "half?.txt"),
        ("\u200b", "file"),
        ("n" * 300, "n" * 79 + "…"),
    ],
)
def test_names_are_shown_on_one_harmless_line(name: str, shown: str) -> None:
    assert made("x", name).shown == shown


@given(st.lists(TEXTS.filter(str.strip), max_size=4), st.integers(0, 60))
def test_the_first_part_is_the_beginning(texts: list[str], length: int) -> None:
    files = [made(text, f"{n}.txt") for n, text in enumerate(texts)]
    kept = first_part(files, length)
    whole, part = "".join(texts), "".join(a.text for a in kept)
    assert whole.startswith(part)
    assert len(part) <= length
    for before, after in zip(files, kept, strict=False):
        assert (after == before) == (after.text == before.text)
        assert after.text == before.text or f"of {len(before.text):,} characters" in after.part
    if length >= len(whole):
        assert kept == tuple(files)


def test_a_cut_is_made_at_a_lines_end_where_one_is_near() -> None:
    (cut,) = first_part([made("0123456789\n" * 10)], 115 - 10)
    assert cut.text == "0123456789\n" * 9
    assert cut.part == "the first 99 of 110 characters"
    (again,) = first_part([cut], 40)
    assert again.part == "the first 99 of 110 characters, of that the first 33 of 99 characters"


@given(st.lists(st.tuples(TEXTS, NAMES), max_size=4))
def test_the_database_gives_back_what_it_got(files: list[tuple[str, str]]) -> None:
    attachments = tuple(replace(made(*file), note="n", part="p") for file in files)
    assert from_columns(*to_columns(attachments)) == attachments


@pytest.mark.parametrize("facts", ["", "3", "[1]", "[{}]", '[{"name": "x"}]', "[" * 100_000])
def test_damaged_facts_are_a_value_error(facts: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        from_columns(facts, "name\ntext\n")


def test_an_estimate_is_near_what_tokenizers_make() -> None:
    assert estimated_tokens("The keeper lights the lamp. " * 100) == pytest.approx(700, rel=0.2)
    assert estimated_tokens("灯台守" * 100) == pytest.approx(260, rel=0.2)
