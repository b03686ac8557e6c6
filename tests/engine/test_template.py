"""Chat templates: what they render, and one BOS at most."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.engine.template import ChatTemplate
from backend.engine.vocab import Vocab
from backend.errors import EngineError, ErrorCode
from tests import tiny
from tests.engine import templates
from tests.engine.templates import HELLO, says, source_of
from tests.vocabularies import open_vocab


@pytest.fixture(scope="module")
def gemma(gemma3_270m: Path) -> Iterator[Vocab]:
    with open_vocab(gemma3_270m) as vocab:
        yield vocab


def test_qwen25(starter_draft: Path, qwen: Vocab) -> None:
    template = ChatTemplate(source_of(starter_draft), qwen)
    text = (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello  \n<|im_end|>\n"
        "<|im_start|>assistant\nHi!<|im_end|>\n<|im_start|>user\nWhy? 😀<|im_end|>\n<|im_start|>assistant\n"
    )
    assert template.render(HELLO) == text
    assert template.variables == []
    assert template.note == ""
    assert template.render(HELLO[1:2]).startswith("<|im_start|>system\nYou are Qwen")


def test_smollm2(smollm2: Path) -> None:
    with open_vocab(smollm2) as vocab:
        template = ChatTemplate(source_of(smollm2), vocab)
        text = template.render(HELLO[1:])
        assert text.startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
        assert text.endswith("<|im_start|>user\nWhy? 😀<|im_end|>\n<|im_start|>assistant\n")
        assert template.prompt_tokens(HELLO[1:]) == vocab.tokenize(text, parse_special=True)


def test_llama3_style_trims_and_has_a_variable(qwen: Vocab) -> None:
    template = ChatTemplate(templates.LLAMA3, qwen)
    assert template.variables == ["date_string"]
    text = template.render(HELLO, {"date_string": "1 Jan 2031"})
    assert "Today Date: 1 Jan 2031\n\nBe brief.<|eot_id|>" in text
    assert "\n\nHello<|eot_id|>" in text
    assert "26 Jul 2024" in template.render(HELLO)


def test_gemma_style_gets_the_system_prompt_in_the_first_user_message(gemma: Vocab) -> None:
    template = ChatTemplate(templates.GEMMA3, gemma)
    assert template.render(HELLO).startswith("<bos><start_of_turn>user\nBe brief.\n\nHello<end_of_turn>\n")
    assert "takes no system prompt" in template.note


def test_a_refusal_that_is_not_about_the_system_prompt_is_told(gemma: Vocab) -> None:
    template = ChatTemplate(templates.GEMMA3, gemma)
    for messages in (
        [says("user", "a"), says("user", "b")],
        [says("system", "s"), says("user", "a"), says("user", "b")],
    ):
        with pytest.raises(EngineError, match="must alternate") as info:
            template.render(messages)
        assert info.value.code == ErrorCode.TEMPLATE_FAILED
    with pytest.raises(EngineError, match="System role not supported"):
        template.render([says("system", "alone")])


def test_qwen3_style_thinking_switch(qwen: Vocab) -> None:
    template = ChatTemplate(templates.QWEN3, qwen)
    assert template.variables == ["enable_thinking"]
    ask = [says("user", "2+2?")]
    assert template.render(ask).endswith("<|im_start|>assistant\n")
    assert template.render(ask, {"enable_thinking": True}).endswith("<|im_start|>assistant\n")
    assert template.render(ask, {"enable_thinking": False}).endswith("<think>\n\n</think>\n\n")
    thought = [*ask, says("assistant", "4", reasoning_content="hard"), says("user", "sure?")]
    assert "hard" not in template.render(thought)


def test_unknown_variables_are_refused_and_the_known_named(qwen: Vocab) -> None:
    with pytest.raises(EngineError, match="no variable thinking: it has enable_thinking") as info:
        ChatTemplate(templates.QWEN3, qwen).render(HELLO, {"thinking": True})
    assert info.value.code == ErrorCode.BAD_REQUEST
    assert info.value.details == {"unknown": ["thinking"], "variables": ["enable_thinking"]}
    with pytest.raises(EngineError, match="no variable messages: it has none"):
        ChatTemplate(tiny.CHATML, qwen).prompt_tokens(HELLO, {"messages": []})


@pytest.mark.parametrize("source", [None, "", " \n"])
def test_no_template_means_chatml_and_a_note(source: str | None, qwen: Vocab) -> None:
    template = ChatTemplate(source, qwen)
    assert template.fallback
    assert "ChatML" in template.note
    assert template.render([says("user", "a")]) == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"
    assert qwen.eos in template.prompt_tokens([says("user", "a")])


def test_developer_is_system(qwen: Vocab) -> None:
    assert "<|im_start|>system\nx<|im_end|>" in ChatTemplate(None, qwen).render([says("developer", "x"), HELLO[1]])


def test_what_templates_expect_of_their_surroundings(qwen: Vocab) -> None:
    source = (
        "{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m | tojson }}{% endfor %}"
        "{% generation %}|{{ {'a': '<é>'} | tojson(indent=1) }}{% endgeneration %}"
        "|{{ strftime_now('%Y') | length }}|{{ tools is none }}|{{ eos_token }}|{{ 'a' ~ 1 }}|{{ '%s-%d' % ('a', 2) }}"
    )
    text = ChatTemplate(source, qwen).render(HELLO)
    assert text == '{"role": "system", "content": "Be brief."}|{\n "a": "<é>"\n}|4|True|<|im_end|>|a1|a-2'


def test_bad_messages(qwen: Vocab) -> None:
    template = ChatTemplate(None, qwen)
    with pytest.raises(EngineError, match="no message") as info:
        template.render([])
    assert info.value.code == ErrorCode.BAD_REQUEST
    for message in (says("user", "a\ud800"), says("assistant", "a", reasoning_content="\udfff")):
        with pytest.raises(EngineError, match="half of a character") as info:
            template.prompt_tokens([message, says("user", "x")])
        assert info.value.code == ErrorCode.BAD_REQUEST


@pytest.mark.parametrize("prefix", ["", "{{ bos_token }}", "{{ bos_token }}{{ bos_token }}"])
def test_exactly_one_bos_where_the_model_wants_it(prefix: str, gemma: Vocab, tmp_path: Path) -> None:
    with open_vocab(tiny.tiny_llama(tmp_path / "a.gguf", add_bos=True)) as llama:
        for vocab in (gemma, llama):
            ids = ChatTemplate(prefix + tiny.CHATML, vocab).prompt_tokens(HELLO)
            assert ids[0] == vocab.bos
            assert ids.count(vocab.bos) == 1


def test_no_bos_where_the_model_wants_none(qwen: Vocab) -> None:
    assert qwen.bos is not None
    ids = ChatTemplate(tiny.CHATML, qwen).prompt_tokens(HELLO)
    assert qwen.bos not in ids
