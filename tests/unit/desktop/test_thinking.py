"""Replies whose opening tag stands in the prompt: they are read as if it stood in them."""

from __future__ import annotations

from typing import Any

import pytest

from desktop.models import parts
from desktop.models.thinking import noted, opened, still_opened, tagged, whole_text
from desktop.store import Message
from desktop.widgets.markdown_split import Block, split_blocks
from desktop.widgets.thoughts import answer, as_markdown

SAID = "First this.\n</think>\n\nYes."


def reply(content: str, **fields: Any) -> Message:
    return Message(2, 1, 1, "assistant", content, 0.0, **({"settings": noted({})} | fields))


def test_every_beginning_of_it_is_thinking_until_the_tag_is_whole() -> None:
    for n in range(1, len(SAID) + 1):
        blocks = split_blocks(tagged(SAID[:n]), complete=False)
        thought = SAID[:n].partition("</think>")[0].strip()
        assert [block.kind for block in blocks][:1] == ["thinking"], SAID[:n]
        assert thought.startswith(blocks[0].text), "no letter of the tag is shown"
        assert "Yes" not in blocks[0].text
    assert split_blocks(tagged(SAID)) == [Block("thinking", "First this."), Block("prose", "Yes.")]
    assert split_blocks(tagged("a </think>Yes."))[-1] == Block("prose", "Yes."), "the tag need not stand alone"


def test_what_was_cut_off_before_the_end_is_thinking() -> None:
    assert split_blocks(whole_text(reply("First"))) == [Block("thinking", "First")]
    assert answer(whole_text(reply("First"))) == "<think>\nFirst", "and is copied as that"
    assert as_markdown(whole_text(reply("First\n\nthen"))) == "> *Thinking*\n>\n> First\n>\n> then\n\n"


def test_what_is_copied_and_exported() -> None:
    assert answer(whole_text(reply(SAID))) == "Yes."
    assert as_markdown(whole_text(reply(SAID))) == "> *Thinking*\n>\n> First this.\n\nYes."
    assert as_markdown("No thinking.") == "No thinking."


def test_a_model_that_repeats_the_tag_has_it_once() -> None:
    assert tagged("<think>\nhm") == "<think>\nhm"
    assert tagged("") == ""


@pytest.mark.parametrize("settings", [{}, {"thinking_opened": "yes"}, {"thinking_opened": 1}])
def test_only_what_is_known_counts(settings: dict[str, Any]) -> None:
    assert not opened(reply(SAID, settings=settings))
    assert not opened(reply(SAID, parts=({"bytes": 3, "settings": "none"},)))


def test_it_stays_with_the_beginning() -> None:
    more = parts.resumed(reply("First", state="stopped"))
    assert opened(more)
    assert opened(parts.replace(more, settings={})), "the part that follows has a recipe of its own"


def test_a_persons_version_may_be_without_the_thinking() -> None:
    assert still_opened(reply(SAID), SAID + " Indeed.")
    assert not still_opened(reply(SAID), "Yes.")
    assert still_opened(reply("First"), "First, second")
    assert opened(reply("First, second", settings={}, parts=(parts.edited("First, second", None, opened=True),)))
