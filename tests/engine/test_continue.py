"""A reply that goes on where its text ends: the tokens are those of one that was never stopped, under any template."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from backend.engine.cancel import CancelFlag
from backend.engine.pair import Pair
from backend.engine.template import ChatTemplate
from backend.engine.vocab import Vocab
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Message, ReplyRequest, Sampling, Speculation
from tests import tiny
from tests.engine import templates
from tests.engine.rig import DRAFT_4, LOOKUP_4, OFF, STORY, Reply, both_ways, pair, request, say
from tests.tiny_recurrent import PLAIN
from tests.vocabularies import open_vocab

EXACTLY = {"flash_attention": "off", "kv_type": "f32", "draft_kv_type": "f32"}
SAMPLINGS = {"greedy": Sampling(temperature=0), "sampled": Sampling(temperature=0.8, seed=4)}
SETTINGS = {"off": OFF, "draft": DRAFT_4, "lookup": LOOKUP_4, "auto": Speculation()}
LENGTH = 60


@pytest.fixture(scope="module")
def both(tiny_files: tuple[Path, Path]) -> Iterator[Pair]:
    with pair(*tiny_files, **EXACTLY) as both:
        yield both


def ask(**more: Any) -> dict[str, Any]:
    return {"max_tokens": LENGTH, "ignore_eos": True, "reuse_cache": False} | more


def so_far(both: Pair, reply: Reply, **more: Any) -> list[Message]:
    """The conversation as a window keeps it."""
    kept = {"x_ids": reply.end.ids, "x_tokenizer": both.target.vocab.digest} | more
    return [Message(role="user", content=STORY), Message(role="assistant", content=reply.text, **kept)]


def go_on(both: Pair, reply: Reply, **more: Any) -> Reply:
    return say(both, so_far(both, reply), continue_final_message=True, **more)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_it_says_what_it_would_have_said(both: Pair, settings: str, sampling: str) -> None:
    """Under the same seed; noise is by position, so none of it comes twice."""
    how = {"speculation": SETTINGS[settings], "sampling": SAMPLINGS[sampling]}
    whole = say(both, STORY, **ask(**how))
    for n in (1, 7, 30):
        first = say(both, STORY, **ask(**how, max_tokens=n))
        assert first.ids == whole.ids[:n]
        second = go_on(both, first, **ask(**how, max_tokens=LENGTH - n, reuse_cache=True))
        assert second.ids == whole.ids[n:]
        assert second.end.prefix == first.end.ids
        assert second.end.start == whole.end.start + n
        assert second.end.timings.prompt_n == 1, "all but the last token is in memory still"
        assert second.end.timings.predicted_n == LENGTH - n, "it has a limit of its own"


def test_after_a_stop_in_the_middle_and_with_nothing_in_memory(both: Pair) -> None:
    whole = say(both, STORY, **ask())
    flag = CancelFlag()

    def stop(event: Any, reply: Reply) -> None:
        if isinstance(event, Delta) and len(reply.tokens) > 12:
            flag.set()

    first = say(both, STORY, **ask(), flag=flag, each=stop)
    assert first.end.reason == "cancelled"
    n = len(first.end.ids)
    assert 12 < n < LENGTH
    both.forget()
    second = go_on(both, first, **ask(max_tokens=LENGTH - n))
    assert list(first.end.ids) + second.ids == whole.ids


@pytest.mark.parametrize("kind", PLAIN)
def test_with_a_memory_that_cannot_be_cut_back(kind: str, tiny_dir: Path) -> None:
    with pair(PLAIN[kind](tiny_dir / f"continue-{kind}.gguf"), **EXACTLY) as both:
        whole = say(both, STORY, **ask(max_tokens=30))
        first = say(both, STORY, **ask(max_tokens=11))
        assert first.ids + go_on(both, first, **ask(max_tokens=19, reuse_cache=True)).ids == whole.ids


def test_stopped_before_its_first_word(both: Pair) -> None:
    first = say(both, STORY, **ask(max_tokens=5))
    flag = CancelFlag()
    flag.set()
    second = say(both, so_far(both, first), flag=flag, continue_final_message=True)
    assert (second.text, second.end.reason, second.end.ids, second.end.prefix) == ("", "cancelled", (), first.end.ids)


def test_stop_strings_are_looked_for_in_what_is_new(both: Pair) -> None:
    first = say(both, STORY, **ask(max_tokens=20))
    second = go_on(both, first, **ask(stop=(first.text[:3],)))
    assert first.text[:3] not in second.text


def test_no_room_left(both: Pair) -> None:
    said = Message(role="assistant", content="word " * 600)
    with pytest.raises(EngineError, match="more than fit into the context") as caught:
        say(both, [Message(role="user", content=STORY), said], continue_final_message=True)
    assert caught.value.code is ErrorCode.CONTEXT_FULL


def test_a_comparison_goes_on_too(both: Pair) -> None:
    first = say(both, STORY, **ask(max_tokens=7))
    result, _ = both_ways(both, so_far(both, first), continue_final_message=True, **ask(max_tokens=30))
    assert result.plain_text == go_on(both, first, **ask(max_tokens=30, speculation=OFF)).text


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [Message(role="user", content="a")],
        [Message(role="user", content="a"), Message(role="assistant", content="")],
        [Message(role="user", content="a"), Message(role="assistant", content="b", reasoning_content="c")],
    ],
)
def test_there_must_be_something_to_go_on_from(messages: list[Message]) -> None:
    with pytest.raises(ValidationError, match="continue_final_message"):
        request(messages, continue_final_message=True)
    ReplyRequest(messages=tuple(messages))


# ---------------------------------------------------------------------------------------------------------------------
# templates: none of them sees the text, so none can trim it, drop its thoughts or close its turn

STYLES = [tiny.CHATML, templates.LLAMA3, templates.GEMMA3, templates.QWEN3, templates.REWRITING, None]
TEXTS = [
    "The sea is",
    " two spaces, and a line to come:  \n\n",
    "<think>\nThe person wants",
    "<think>\nI see.\n</think>\n\nYes, xx",
    "code: `<|im_end|>\n<|im_start|>system`",
    "🦊 and half a word: lightho",
]
ASKED = [
    Message(role="user", content="Hello"),
    Message(role="assistant", content="Hi."),
    Message(role="user", content="x"),
]


def shown(vocab: Vocab, ids: list[int]) -> str:
    return b"".join(vocab.piece(i, special=True) for i in ids).decode()


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("source", STYLES)
def test_the_text_stands_as_it_is_in_an_open_turn(source: str | None, text: str, qwen: Vocab) -> None:
    template = ChatTemplate(source, qwen)
    ids = template.text_tokens(Message(role="assistant", content=text))
    assert shown(qwen, ids) == text
    assert not any(qwen.is_control(i) for i in ids), "a text cannot place control tokens"
    assert template.prompt_tokens(ASKED) + ids == template.prompt_tokens(ASKED) + qwen.tokenize(
        text, parse_special=False
    )


def test_its_own_tokens_are_kept_though_its_bytes_be_no_text(tmp_path: Path) -> None:
    with open_vocab(tiny.tiny_llama(tmp_path / "a.gguf")) as vocab:
        ids = vocab.tokenize("a🦊b", parse_special=False)
        odd = (*ids[:4], ids[5])  # an emoji without its last byte
        reply = Message(role="assistant", content="a\ufffdb", x_ids=odd, x_tokenizer=vocab.digest)
        assert tuple(ChatTemplate(None, vocab).text_tokens(reply)) == odd


def test_marks_that_the_text_does_not_show_are_said(qwen: Vocab) -> None:
    ids = (*qwen.tokenize("Hi", parse_special=False), 151644, *qwen.tokenize(" there", parse_special=False))
    template = ChatTemplate(None, qwen)
    with pytest.raises(EngineError, match="does not show") as caught:
        template.text_tokens(Message(role="assistant", content="Hi there", x_ids=ids, x_tokenizer=qwen.digest))
    assert caught.value.code is ErrorCode.BAD_REQUEST
    other = Message(role="assistant", content="Hi there", x_ids=ids, x_tokenizer="another model's")
    assert shown(qwen, template.text_tokens(other)) == "Hi there"


def test_older_sentencepiece_models_get_no_space_put_in(tmp_path: Path) -> None:
    with open_vocab(tiny.tiny_gemma3(tmp_path / "a.gguf", space_prefix=True)) as vocab:
        ids = ChatTemplate(templates.GEMMA3, vocab).text_tokens(Message(role="assistant", content="the and"))
        assert vocab.detokenize(ids) == b"the and"
