"""Whether a prompt ends in an opening tag: the reply then begins within its thinking."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.engine.prompt import opens_thinking
from backend.engine.template import ChatTemplate
from backend.protocol import Message
from tests.vocabularies import open_vocab

OPENS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
)
ASKED = [Message(role="user", content="Why? <think>")]


@pytest.mark.parametrize(
    ("end", "opens"),
    [("<think>\n", True), ("<think>", True), ("<think>\n\n</think>\n\n", False), ("", False), ("`<think>` ", False)],
)
def test_what_the_template_ends_in(starter_draft: Path, end: str, opens: bool) -> None:
    with open_vocab(starter_draft) as vocab:
        ids = ChatTemplate(OPENS + end, vocab).prompt_tokens(ASKED)
        assert opens_thinking(vocab, ids) == opens
        assert not opens_thinking(vocab, [])
