"""The worker's routes with a real model behind them, over real sockets."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from typing import Any

import pytest

from backend.client import RemoteEngine
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Delta,
    Finished,
    LoadOptions,
    LoadProgress,
    LoadRequest,
    Message,
    PromptProgress,
    ReplyRequest,
)
from tests.server.asking import COUNT, LONG, ask, chat, chunks, settle
from tests.server.conftest import Worker, last, load_smollm2

pytestmark = pytest.mark.model


def test_models_names_the_loaded_target(loaded: Worker) -> None:
    listed = loaded.json("GET", "/v1/models")
    assert listed["object"] == "list"
    assert [(m["id"], m["object"]) for m in listed["data"]] == [("smollm2", "model")]


def test_whole_answer(loaded: Worker) -> None:
    answer = loaded.json("POST", "/v1/chat/completions", chat(COUNT, x_job="whole-1"))
    assert answer["object"] == "chat.completion"
    assert answer["id"] == "whole-1"
    assert answer["model"] == "smollm2"
    (choice,) = answer["choices"]
    text = choice["message"]["content"]
    assert text
    assert choice["finish_reason"] == "length"
    assert sum(t["n_bytes"] for t in choice["x_tokens"]) == len(text.encode())
    assert len(choice["x_tokens"]) == answer["usage"]["completion_tokens"] == answer["timings"]["predicted_n"] == 16
    assert answer["usage"]["prompt_tokens"] == choice["x_finished"]["start"]
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + 16
    assert choice["x_finished"]["reason"] == "length"
    assert choice["x_finished"]["tokenizer"]
    assert choice["x_finished"]["ids"] == [t["id"] for t in choice["x_tokens"]]


def test_streamed_answer_says_the_same(loaded: Worker) -> None:
    whole = loaded.json("POST", "/v1/chat/completions", chat(COUNT))
    parts = chunks(loaded, chat(COUNT, x_cache=False, stream_options={"include_usage": True}))
    assert {p["object"] for p in parts} == {"chat.completion.chunk"}
    assert len({p["id"] for p in parts}) == 1
    *parts, usage = parts
    assert usage["choices"] == []
    assert usage["usage"]["completion_tokens"] == 16
    assert parts[0]["choices"][0]["delta"]["role"] == "assistant"
    assert parts[0]["x_prompt"]["total"] == usage["usage"]["prompt_tokens"]
    text = "".join(p["choices"][0]["delta"].get("content") or "" for p in parts)
    assert text == whole["choices"][0]["message"]["content"]
    for part in parts:
        content = part["choices"][0]["delta"].get("content") or ""
        assert sum(t["n_bytes"] for t in part.get("x_tokens", ())) == len(content.encode())
    assert [p["choices"][0]["finish_reason"] for p in parts] == [None] * (len(parts) - 1) + ["length"]
    assert parts[-1]["x_finished"]["ids"] == whole["choices"][0]["x_finished"]["ids"]
    assert parts[-1]["timings"]["predicted_n"] == 16


@pytest.mark.parametrize("stream", [False, True])
def test_stop_string(loaded: Worker, stream: bool) -> None:
    body = chat(COUNT, max_tokens=40)
    text = loaded.json("POST", "/v1/chat/completions", body)["choices"][0]["message"]["content"]
    stop = text[20:26]
    expected = text[: text.index(stop)]
    if stream:
        parts = chunks(loaded, body | {"stop": [stop]})
        got = "".join(p["choices"][0]["delta"].get("content") or "" for p in parts)
        reason = parts[-1]["choices"][0]["finish_reason"]
    else:
        choice = loaded.json("POST", "/v1/chat/completions", body | {"stop": stop})["choices"][0]
        got, reason = choice["message"]["content"], choice["finish_reason"]
    assert got == expected
    assert reason == "stop"


def test_same_seed_same_text(loaded: Worker) -> None:
    body = chat("Tell me a story.", temperature=0.9, seed=11, x_cache=False)
    first, second = (loaded.json("POST", "/v1/chat/completions", body)["choices"][0] for _ in range(2))
    assert first["message"] == second["message"]
    assert first["x_finished"]["seed"] == 11


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "bad_request"),
        (b'{"messages": [{"role": "user", "content": "\xff"}]}', 400, "bad_request"),
        (chat(""), 400, "bad_request"),
        (chat("\ud800"), 400, "bad_request"),
        (chat("Hello", temperature=-1), 400, "bad_request"),
        (chat("Hello", tools=[{"type": "function"}]), 400, "unsupported_content"),
        (chat("word " * 20000), 400, "context_full"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_have_a_status_before_anything_streams(
    loaded: Worker, body: Any, status: int, code: str, stream: bool
) -> None:
    if isinstance(body, dict):
        body = body | {"stream": stream}
    got, headers, raw = loaded.ask("POST", "/v1/chat/completions", body)
    error = json.loads(raw)["error"]
    assert (got, error["code"]) == (status, code)
    assert error["message"].endswith(".")
    assert headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/x/models/load", {"target": "half \ud800"}),
        ("/v1/chat/completions", chat("Hello", x_speculation={"half \ud800": 1})),
        ("/v1/chat/completions", chat("Hello", repeat_penalty=1e-300)),
    ],
)
def test_an_answer_that_quotes_half_a_character_is_an_answer(bare: Worker, path: str, body: Any) -> None:
    _, _, raw = bare.ask("POST", path, body)
    assert b'"code":"model_unknown"' in raw or b'"code":"bad_request"' in raw


@pytest.mark.parametrize("temperature", [5e-324, 1e-7])
def test_a_temperature_of_next_to_nothing_is_greedy(loaded: Worker, temperature: float) -> None:
    greedy, tiny = (
        loaded.json("POST", "/v1/chat/completions", chat(COUNT, temperature=t))["choices"][0]["message"]
        for t in (0, temperature)
    )
    assert tiny == greedy


def test_pieces(loaded: Worker) -> None:
    """What tokens stand for, and the vocabulary that says so."""

    async def talk(client: RemoteEngine) -> None:
        state = await client.state()
        assert state.target is not None
        digest, pieces = await client.pieces([40, 41, 42])
        assert digest == state.target.tokenizer
        assert len(pieces) == 3
        assert all(isinstance(piece, str) for piece in pieces)
        for wrong in ([state.target.n_vocab], [-1], []):
            with pytest.raises(EngineError) as caught:
                await client.pieces(wrong)
            assert caught.value.code in (ErrorCode.BAD_TOKEN, ErrorCode.BAD_REQUEST)

    loaded.run(talk)


def test_count(loaded: Worker) -> None:
    message = {"role": "user", "content": COUNT}
    counted = loaded.json("POST", "/x/count", {"messages": [message]})
    answer = loaded.json("POST", "/v1/chat/completions", chat(COUNT))
    assert counted == {"tokens": answer["usage"]["prompt_tokens"], "n_ctx": 8192}


def test_judging_a_reply_needs_a_draft_and_ids(loaded: Worker) -> None:
    asked = {"messages": chat(COUNT)["messages"]}
    assert loaded.ask("POST", "/x/judge", asked)[0] == 400
    for wrong in ([], [1.5], ["1"], [-1], [True], 3):
        assert loaded.ask("POST", "/x/judge", asked | {"ids": wrong})[0] == 400
    if loaded.json("GET", "/x/state")["draft"] is not None:
        answer = loaded.json("POST", "/x/judge", asked | {"ids": [1, 2, 3]})
        assert len(answer["hits"]) == 3


def test_two_clients_at_once_queue(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> list[tuple[str, float]]:
        ends: list[tuple[str, float]] = []

        async def one(name: str) -> str:
            text = ""
            async for event in client.reply(ask(COUNT, 32), name):
                text += event.text if isinstance(event, Delta) else ""
            ends.append((name, time.monotonic()))
            return text

        first = asyncio.create_task(one("first"))
        await asyncio.sleep(0.05)
        texts = await asyncio.gather(first, one("second"))
        assert texts[0] == texts[1] != ""
        return ends

    assert [name for name, _ in loaded.run(talk)] == ["first", "second"]


def test_beyond_the_queue_the_answer_is_busy(loaded: Worker) -> None:
    settle(loaded)  # what an earlier test left would end meanwhile and make room

    async def talk(client: RemoteEngine) -> list[str]:
        async def one(i: int) -> str:
            try:
                return type(await last(client.reply(ask(COUNT, 4000, ignore_eos=True), f"busy-{i}"))).__name__
            except EngineError as error:
                return error.code

        running = client.reply(ask(COUNT, 4000, ignore_eos=True), "busy-running")
        await anext(running)  # from here on it takes no place in the queue
        tasks = [asyncio.create_task(one(i)) for i in range(13)]
        while sum(t.done() for t in tasks) < 5:  # noqa: ASYNC110 - those beyond the eight that may wait
            await asyncio.sleep(0.02)
        status, headers, _ = await asyncio.to_thread(loaded.ask, "POST", "/v1/chat/completions", chat("Hello"))
        assert status == 429
        assert int(headers["retry-after"]) > 0
        for i in range(13):
            await client.cancel(f"busy-{i}")
        await client.cancel("busy-running")
        assert isinstance(await last(running), Finished)
        return await asyncio.gather(*tasks)

    outcomes = loaded.run(talk)
    assert outcomes.count("busy") == 5
    assert outcomes.count("cancelled") + outcomes.count("Finished") == 8
    settle(loaded)


def test_counting_does_not_wait_for_a_reply(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        reply = client.reply(ask(COUNT, 400, ignore_eos=True), "long")
        await anext(reply)
        tokens, n_ctx = await client.count([Message(role="user", content="Hello")], {})
        assert tokens > 0
        assert n_ctx == 8192
        assert (await client.state()).phase in ("reading", "generating")
        await client.cancel("long")
        assert isinstance(await last(reply), Finished)

    loaded.run(talk)


def fastest_cancel(loaded: Worker, request: ReplyRequest, kind: type, skip: int) -> float:
    """The quickest of three cancels: seconds from asking to the end of the reply (the machine is shared)."""

    async def talk(client: RemoteEngine) -> float:
        spent = []
        for i in range(3):
            reply = client.reply(request, f"cancel-{i}")
            seen = 0
            async for event in reply:
                seen += isinstance(event, kind)
                if seen > skip:
                    break
            began = time.perf_counter()
            await client.cancel(f"cancel-{i}")
            end = await last(reply)
            spent.append(time.perf_counter() - began)
            assert isinstance(end, Finished)
            assert end.reason == "cancelled"
        return min(spent)

    return loaded.run(talk)


@pytest.mark.alone
def test_cancel_while_generating(loaded: Worker) -> None:
    assert fastest_cancel(loaded, ask(COUNT, 4000, ignore_eos=True), Delta, 3) < 0.2
    settle(loaded)


@pytest.mark.alone
def test_cancel_while_reading_a_long_prompt(loaded: Worker) -> None:
    assert fastest_cancel(loaded, ask(LONG, reuse_cache=False), PromptProgress, 0) < 0.2
    settle(loaded)
    text = loaded.json("POST", "/v1/chat/completions", chat(COUNT))["choices"][0]["message"]["content"]
    again = loaded.json("POST", "/v1/chat/completions", chat(COUNT, x_cache=False))["choices"][0]["message"]["content"]
    assert text == again  # what was read before the cancel did no harm


@pytest.mark.alone
def test_cancel_while_loading(fresh: Worker) -> None:
    async def talk(client: RemoteEngine) -> float:
        spent = []
        for i in range(3):
            load = client.load(LoadRequest(target="smollm2", options=LoadOptions(threads=1)), f"load-{i}")
            assert isinstance(await anext(load), LoadProgress)
            began = time.perf_counter()
            await client.cancel(f"load-{i}")
            try:
                await last(load)
            except EngineError as error:
                assert error.code == "cancelled"  # noqa: PT017 - the model may also have been quicker
                spent.append(time.perf_counter() - began)
                assert (await client.state()).phase == "idle"
                assert (await client.state()).target is None
        assert spent, "every load was over before it could be cancelled"
        return min(spent)

    assert fresh.run(talk) < 0.2
    load_smollm2(fresh)


def test_cancel_of_a_waiting_reply_and_of_one_that_is_still_on_its_way(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        running = client.reply(ask(COUNT, 4000, ignore_eos=True), "running")
        await anext(running)
        await client.cancel("early")
        for name in ("waiting", "early"):
            reply = asyncio.create_task(last(client.reply(ask(COUNT), name)))
            await asyncio.sleep(0.1)
            await client.cancel("waiting")
            with pytest.raises(EngineError) as caught:
                await asyncio.wait_for(reply, 2)
            assert caught.value.code == "cancelled"
        await client.cancel("running")
        await last(running)
        await client.cancel("nothing of this name")

    loaded.run(talk)
    settle(loaded)


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away_frees_the_engine(loaded: Worker, stream: bool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", loaded.port, timeout=20)
    body = chat(COUNT, max_tokens=7000, x_ignore_eos=True, stream=stream)
    headers = {"Authorization": f"Bearer {loaded.endpoint.secret}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    if stream:
        connection.getresponse().read(100)
    deadline = time.monotonic() + 10
    while loaded.json("GET", "/x/state")["phase"] != "generating":
        assert time.monotonic() < deadline
    connection.close()
    began = time.monotonic()
    settle(loaded)
    assert time.monotonic() - began < 5  # 7000 tokens take minutes
