"""What a chat-completions body may hold, and the sentence for everything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.errors import EngineError
from backend.protocol import Speculation
from backend.server.openai import parse_json, reply_request, take_job_id, wants_stream

HELLO = [{"role": "user", "content": "Hello"}]
SAID = [*HELLO, {"role": "assistant", "content": "Hi"}]
THOUGHT = [*HELLO, {"role": "assistant", "content": "Hi", "reasoning_content": "A greeting."}]


def body(**fields: Any) -> dict[str, Any]:
    return {"messages": HELLO} | fields


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"messages": None}, "messages must be a list"),
        ({"messages": "Hello"}, "messages must be a list"),
        ({"messages": []}, "messages is empty"),
        ({"messages": ["Hello"]}, "messages.0 must be an object"),
        ({"messages": [{"role": "user", "content": ""}]}, "The message is empty"),
        ({"messages": [{"role": "user", "content": " \n\t"}]}, "The message is empty"),
        ({"messages": [{"role": "user", "content": None}]}, "messages.0.content must be text"),
        ({"messages": [{"role": "user"}]}, "messages.0.content must be text"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages.0.content must be text"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content.0.text must be text"),
        ({"messages": [{"role": "king", "content": "Hello"}]}, "messages.0.role must be 'system'"),
        ({"messages": [{"content": "Hello"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": "a\ud800b"}]}, "U+D800"),
        ({"messages": [*HELLO, {"role": "user", "content": "\udfff"}]}, "messages.1.content holds half of a character"),
        ({"stop": ["\ud800"]}, "stop.0 holds half of a character"),
        ({"chat_template_kwargs": {"a": ["\udc00"]}}, "chat_template_kwargs.a.0 holds half"),
        ({"chat_template_kwargs": [1]}, "chat_template_kwargs must be an object"),
        ({"temperature": -1}, "temperature must be greater than or equal to 0, but is -1"),
        ({"temperature": "warm"}, "temperature"),
        ({"temperature": 1e9}, "less than or equal to 100"),
        ({"top_p": 0}, "top_p must be greater than 0, but is 0"),
        ({"top_p": 1.5}, "top_p must be less than or equal to 1, but is 1.5"),
        ({"top_k": -2}, "top_k"),
        ({"min_p": 2}, "min_p"),
        ({"repeat_penalty": 0}, "repeat_penalty"),
        ({"seed": -2}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"max_tokens": 0}, "max_tokens must be greater than or equal to 1, but is 0"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"stop": ""}, "a stop string must not be empty"),
        ({"stop": 3}, "stop must be a string or a list of strings"),
        ({"stop": ["a", 3]}, "stop must be a string or a list of strings"),
        ({"stream": "yes"}, "stream must be true or false"),
        ({"x_cache": 1}, "x_cache must be true or false"),
        ({"x_speculation": {"rule": "lucky"}}, "x_speculation.rule must be 'coupled'"),
        ({"x_speculation": {"lenght": 3}}, "x_speculation.lenght"),
        ({"continue_final_message": "yes"}, "continue_final_message must be true or false"),
        ({"continue_final_message": True}, "needs the assistant's text"),
        ({"continue_final_message": True, "messages": [*HELLO, {"role": "assistant"}]}, "needs the assistant's text"),
        ({"continue_final_message": True, "messages": THOUGHT}, "reasoning must be a part of its content"),
        ({"continue_final_message": True, "add_generation_prompt": True, "messages": SAID}, "exclude each other"),
    ],
)
def test_bad_requests(fields: dict[str, Any], words: str) -> None:
    def parse() -> None:
        wants_stream(body(**fields))
        reply_request(body(**fields))

    with pytest.raises(EngineError) as caught:
        parse()
    assert caught.value.code == "bad_request"
    assert words in caught.value.message
    assert caught.value.message.endswith(".")
    caught.value.message.encode("utf-8")


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:…"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "something_new"}]}]},
        {"messages": [{"role": "user", "content": ["text"]}]},
        {"messages": [*HELLO, {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}]},
        {"tools": [{"type": "function"}]},
        {"functions": [{"name": "f"}]},
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema"}},
        {"n": 2},
        {"logprobs": True},
        {"logit_bias": {"50256": -100}},
        {"presence_penalty": 0.5},
        {"frequency_penalty": -0.5},
    ],
)
def test_unsupported(fields: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        reply_request(body(**fields))
    assert caught.value.code == "unsupported_content"
    assert "Tandem does not handle" in caught.value.message


def test_what_programs_send_by_default_is_fine() -> None:
    request = reply_request(
        body(
            model="gpt-4o",
            n=1,
            tools=[],
            tool_choice="auto",
            logprobs=False,
            logit_bias={},
            presence_penalty=0,
            frequency_penalty=0.0,
            response_format={"type": "text"},
            user="someone",
            stream=True,
            stream_options={"include_usage": True},
            something_new={"a": 1},
            temperature=None,
            stop=None,
            max_tokens=None,
            seed=None,
        )
    )
    assert request.messages[0].content == "Hello"
    sampling = request.sampling  # OpenAI's defaults: the plain distribution
    assert (sampling.temperature, sampling.top_p, sampling.top_k, sampling.min_p) == (1.0, 1.0, 0, 0.0)
    assert sampling.seed is None
    assert request.max_tokens is None
    assert request.speculation is None


def test_everything_at_once() -> None:
    request = reply_request(
        {
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
                    "name": "x",
                },
                {"role": "assistant", "content": "three", "x_ids": [1, 2], "x_tokenizer": "t"},
                {"role": "user", "content": "four"},
            ],
            "temperature": 0,
            "top_k": -1,
            "seed": 7,
            "max_tokens": 5,
            "max_completion_tokens": 9,
            "stop": "END",
            "chat_template_kwargs": {"enable_thinking": False},
            "x_speculation": {"enabled": False},
            "x_cache": False,
            "x_probabilities": True,
            "x_ignore_eos": True,
            "continue_final_message": False,
        }
    )
    assert not request.continue_final_message
    assert [m.content for m in request.messages] == ["Be brief.", "one\ntwo", "three", "four"]
    assert request.messages[2].x_ids == (1, 2)
    assert request.sampling.temperature == 0
    assert request.sampling.top_k == 0
    assert request.sampling.seed == 7
    assert request.max_tokens == 9
    assert request.stop == ("END",)
    assert request.template_kwargs == {"enable_thinking": False}
    assert request.speculation == Speculation(enabled=False)
    assert (request.reuse_cache, request.probabilities, request.ignore_eos) == (False, True, True)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'{"a": "\xff"}', "not valid UTF-8 (byte 7)"),
        (b'{"a": "\xed\xa0\x80"}', "not valid UTF-8"),
        (b'{"a": NaN}', "NaN is not a JSON number"),
        (b'{"a": -Infinity}', "-Infinity is not a JSON number"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "too many digits"),
    ],
)
def test_bodies_that_are_no_json(raw: bytes, words: str) -> None:
    with pytest.raises(EngineError) as caught:
        parse_json(raw)
    assert caught.value.code == "bad_request"
    assert words in caught.value.message


@pytest.mark.parametrize("job", ["", "a/b", "é", "a\nb", "x" * 129, 3])
def test_bad_job_ids(job: Any) -> None:
    with pytest.raises(EngineError, match="x_job"):
        take_job_id({"x_job": job})


def test_job_id_is_taken_out() -> None:
    raw = {"x_job": "reply-1", "target": "x"}
    assert take_job_id(raw) == "reply-1"
    assert raw == {"target": "x"}
    assert take_job_id({}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["messages", "temperature", "top_p", "seed", "stop", "max_tokens", "chat_template_kwargs", "tools", "n",
          "response_format", "stream", "stream_options", "x_speculation", "x_cache", "logit_bias",
          "continue_final_message"]  # fmt: skip


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_any_body_gives_a_request_or_an_engine_error(fields: dict[str, Any]) -> None:
    """Nothing else may come out, whatever goes in: anything else would be a bug report."""
    try:
        wants_stream(body(**fields))
        request = reply_request(body(**fields))
    except EngineError as error:
        json.dumps(error.to_wire()).encode()
    else:
        assert request.messages
