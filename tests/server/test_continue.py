"""Going on where the assistant's text ends, as OpenAI-shaped requests ask for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backend.client import RemoteEngine
from backend.client.reply import reply_body
from backend.protocol import Finished, Message, ReplyRequest
from tests.server.asking import COUNT, chat, chunks
from tests.server.conftest import Worker, last

pytestmark = pytest.mark.model


def going_on(text: str, **fields: Any) -> dict[str, Any]:
    body = chat(COUNT, continue_final_message=True, add_generation_prompt=False, **fields)
    return body | {"messages": [*body["messages"], {"role": "assistant", "content": text}]}


def test_the_answer_is_only_what_is_new(loaded: Worker) -> None:
    whole = loaded.json("POST", "/v1/chat/completions", chat(COUNT))["choices"][0]
    first = loaded.json("POST", "/v1/chat/completions", chat(COUNT, max_tokens=6))
    text = first["choices"][0]["message"]["content"]
    answer = loaded.json("POST", "/v1/chat/completions", going_on(text, max_tokens=10))
    (second,) = answer["choices"]
    assert second["message"]["role"] == "assistant"
    assert text + second["message"]["content"] == whole["message"]["content"]
    assert first["choices"][0]["x_finished"]["prefix"] == []
    assert second["x_finished"]["prefix"] == first["choices"][0]["x_finished"]["ids"]
    assert answer["usage"]["prompt_tokens"] == second["x_finished"]["start"] == first["usage"]["prompt_tokens"] + 6
    assert answer["usage"]["completion_tokens"] == 10
    assert second["finish_reason"] == "length"
    parts = chunks(loaded, going_on(text, max_tokens=10))
    streamed = "".join(p["choices"][0]["delta"].get("content") or "" for p in parts)
    assert streamed == second["message"]["content"]
    assert parts[-1]["x_finished"]["prefix"] == second["x_finished"]["prefix"]


def test_without_the_flag_another_turn_begins(loaded: Worker) -> None:
    """As OpenAI has it: an assistant's message at the end is a finished one."""
    body = going_on("One, two,") | {"continue_final_message": False}
    another = loaded.json("POST", "/v1/chat/completions", body)
    same = loaded.json("POST", "/v1/chat/completions", going_on("One, two,"))
    assert another["usage"]["prompt_tokens"] > same["usage"]["prompt_tokens"]
    assert another["choices"][0]["x_finished"]["prefix"] == []


def test_nothing_to_go_on_from_is_a_bad_request(loaded: Worker) -> None:
    for body in (chat(COUNT, continue_final_message=True), going_on("")):
        status, _, raw = loaded.ask("POST", "/v1/chat/completions", body)
        assert status == 400
        assert "assistant's text" in json.loads(raw)["error"]["message"]


def test_the_client_hands_the_beginning_on(loaded: Worker) -> None:
    messages = (Message(role="user", content=COUNT), Message(role="assistant", content="One, two,"))
    request = ReplyRequest(messages=messages, max_tokens=4, continue_final_message=True)

    async def talk(client: RemoteEngine) -> Any:
        return await last(client.reply(request, "on"))

    end = loaded.run(talk)
    assert isinstance(end, Finished)
    pieces = loaded.json("POST", "/x/pieces", {"ids": list(end.prefix)})["pieces"]
    assert "".join(pieces) == "One, two,"


def test_foreign_servers_are_asked_in_vllms_words() -> None:
    messages = (Message(role="user", content="a"), Message(role="assistant", content="b"))
    body = reply_body(ReplyRequest(messages=messages, continue_final_message=True), "job", "their model")
    assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)
    assert "continue_final_message" not in reply_body(ReplyRequest(messages=messages), "job", "their model")
