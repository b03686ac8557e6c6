"""The end of the context: up to its last cell, and one token too many (K1, K2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import EngineError, ErrorCode
from backend.protocol import Message, Speculation
from tests.engine.rig import OFF, pair, say


@pytest.fixture(scope="module")
def hello(smollm2: Path, tiny_dir: Path):
    with pair(smollm2, smollm2, n_ctx=64) as both:
        yield both


def test_fifty_six_hellos(hello) -> None:
    """llama.cpp crashed on this prompt in a context of 64 (its own contexts are multiples of 256 now: see below)."""
    wanted = Speculation(source="draft", length=16)
    reply = say(hello, "Hello " * 56, speculation=wanted, max_tokens=None, ignore_eos=True, reuse_cache=False)
    assert reply.end.reason == "length"
    assert reply.end.start + reply.end.timings.predicted_n == hello.target.context.n_ctx


@pytest.mark.parametrize("source", ["draft", "lookup", "lookup+draft", "auto"])
def test_every_remaining_room(hello, source: str) -> None:
    """Prompts that leave 1 to k + 2 tokens of context: the pass is clamped, the text is plain decoding's."""
    k, n_ctx = 6, hello.target.context.n_ctx
    base = hello.count([Message(role="user", content="")], {})
    word = hello.target.vocab.tokenize(" Hello", parse_special=False)
    assert len(word) == 1
    for room in range(1, k + 3):
        text = "Hello" + " Hello" * (n_ctx - room - base - 1)
        assert hello.count([Message(role="user", content=text)], {}) == n_ctx - room
        both_ways = [
            say(hello, text, speculation=s, max_tokens=None, ignore_eos=True)
            for s in (OFF, Speculation(source=source, length=k))
        ]
        assert both_ways[0].end.timings.predicted_n == room
        assert both_ways[1].end.timings.predicted_n == room
        assert hello.target.context.sequence().length == n_ctx - 1


def test_one_token_too_many_says_by_how_much(hello) -> None:
    n_ctx = hello.target.context.n_ctx
    with pytest.raises(EngineError, match=r"more than fit into the context of 256") as caught:
        say(hello, "Hello" + " Hello" * n_ctx)
    assert caught.value.code is ErrorCode.CONTEXT_FULL
    details = caught.value.details
    assert details["over"] == details["tokens"] - n_ctx + 1
    assert f"{details['over']} more" in caught.value.message


def test_a_draft_with_less_room_than_the_target_is_clamped_too(hello, smollm2: Path) -> None:
    """The draft's own end comes first: it drafts up to it, then sits out; nothing overruns (K2)."""
    draft = hello.draft.context
    text = "Count: " + "one two three " * 10
    plain = say(hello, text, speculation=OFF, max_tokens=120, ignore_eos=True, reuse_cache=False)
    held = draft.n_ctx
    draft.n_ctx = plain.end.start + 40  # as a draft trained for less would have
    try:
        reply = say(
            hello,
            text,
            speculation=Speculation(source="draft", length=6),
            max_tokens=120,
            ignore_eos=True,
            reuse_cache=False,
        )
        assert draft.sequence().length <= draft.n_ctx
        assert reply.end.timings.draft_n > 20
        assert reply.end.timings.plain > 20
        assert reply.end.timings.predicted_n == 120
    finally:
        draft.n_ctx = held
