"""The worker's routes with a real model behind them, over real sockets."""

from __future__ import annotations

import asyncio
import http.client
import json
import time
from typing import Any

import pytest

from backend.client import RemoteEngine
from backend.client.http import Message as Sse
from backend.errors import EngineError
from backend.protocol import (
    Comparison,
    Delta,
    DraftRequest,
    Finished,
    LoadOptions,
    LoadProgress,
    LoadRequest,
    Message,
    PromptProgress,
    ReplyRequest,
    RoundRecord,
    Sampling,
    Speculation,
    State,
)
from tests.server.conftest import Worker, last, load_smollm2

pytestmark = pytest.mark.model

COUNT = "Count from one to forty, in words, separated by commas."
LONG = "word " * 7000
GREEDY = Sampling(temperature=0)


def ask(text: str, n: int = 24, **fields: Any) -> ReplyRequest:
    fields = {"sampling": GREEDY} | fields
    return ReplyRequest(messages=(Message(role="user", content=text),), max_tokens=n, **fields)


def chat(text: str, **fields: Any) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": text}],
        "temperature": 0,
        "max_tokens": 16,
        "x_ignore_eos": True,
    } | fields


def chunks(worker: Worker, body: dict[str, Any]) -> list[Any]:
    status, headers, raw = worker.ask("POST", "/v1/chat/completions", body | {"stream": True})
    assert status == 200, raw
    assert headers["content-type"].startswith("text/event-stream")
    lines = [line for line in raw.decode().split("\n\n") if line and not line.startswith(":")]
    assert all(line.startswith("data: ") for line in lines)
    assert lines[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]


def settle(worker: Worker) -> None:
    """Until the engine is idle again."""
    deadline = time.monotonic() + 20
    while True:
        state = worker.json("GET", "/x/state")
        if state["phase"] == "ready" and state["queue"] == 0:
            return
        assert time.monotonic() < deadline, state
        time.sleep(0.02)


# -- shapes


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


# -- one engine, several clients


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
    async def talk(client: RemoteEngine) -> list[str]:
        async def one(i: int) -> str:
            try:
                return type(await last(client.reply(ask(COUNT, 4000, ignore_eos=True), f"busy-{i}"))).__name__
            except EngineError as error:
                return error.code

        tasks = [asyncio.create_task(one(i)) for i in range(14)]
        while sum(t.done() for t in tasks) < 4:  # noqa: ASYNC110 - those beyond the running one and eight waiting
            await asyncio.sleep(0.02)
        status, headers, _ = await asyncio.to_thread(loaded.ask, "POST", "/v1/chat/completions", chat("Hello"))
        assert status == 429
        assert int(headers["retry-after"]) > 0
        for i in range(14):
            await client.cancel(f"busy-{i}")
        return await asyncio.gather(*tasks)

    outcomes = loaded.run(talk)
    assert outcomes.count("busy") >= 4
    assert outcomes.count("cancelled") + outcomes.count("Finished") == 14 - outcomes.count("busy")
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


# -- cancelling


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


def test_cancel_while_generating(loaded: Worker) -> None:
    assert fastest_cancel(loaded, ask(COUNT, 4000, ignore_eos=True), Delta, 3) < 0.2
    settle(loaded)


def test_cancel_while_reading_a_long_prompt(loaded: Worker) -> None:
    assert fastest_cancel(loaded, ask(LONG, reuse_cache=False), PromptProgress, 0) < 0.2
    settle(loaded)
    text = loaded.json("POST", "/v1/chat/completions", chat(COUNT))["choices"][0]["message"]["content"]
    again = loaded.json("POST", "/v1/chat/completions", chat(COUNT, x_cache=False))["choices"][0]["message"]["content"]
    assert text == again  # what was read before the cancel did no harm


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


# -- settings, drafts, events


def test_speculation_settings(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        state = await client.set_speculation(Speculation(enabled=False))
        assert not state.speculation.enabled
        end = await last(client.reply(ask(COUNT, 32, ignore_eos=True), "off"))
        assert isinstance(end, Finished)
        assert end.timings.draft_n == 0
        assert end.timings.passes == 31
        await client.set_speculation(Speculation(source="lookup", length=4))
        assert (await client.state()).speculation.length == 4
        end = await last(client.reply(ask("Repeat ten times: ab ab ab ab ab ab ab ab", 48, ignore_eos=True), "on"))
        assert isinstance(end, Finished)
        assert end.timings.draft_n > 0
        await client.set_speculation(Speculation())

    loaded.run(talk)


def test_swapping_the_draft_leaves_the_target(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        async def swap(draft: str | None) -> State:
            state = await last(client.set_draft(DraftRequest(draft=draft), f"swap-{draft}"))
            assert isinstance(state, State)
            return state

        state = await swap("smollm2")
        assert state.draft is not None
        assert state.draft.id == "smollm2"
        end = await last(client.reply(ask(COUNT, 24, speculation=Speculation(source="draft", length=4)), "drafted"))
        assert isinstance(end, Finished)
        assert end.timings.draft_n_accepted > 0
        with pytest.raises(EngineError) as caught:
            await swap("coder")
        assert caught.value.code == "draft_incompatible"
        with pytest.raises(EngineError) as caught:
            await swap("nothing of this name")
        assert caught.value.code == "model_unknown"
        state = await client.state()
        assert state.target is not None
        assert state.target.id == "smollm2"
        assert state.draft_note
        state = await swap(None)
        assert state.draft is None
        assert state.phase == "ready"

    loaded.run(talk)


def test_swapping_the_draft_while_a_reply_runs(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        reply = client.reply(ask(COUNT, 150, ignore_eos=True, speculation=Speculation(source="draft", length=3)), "r")
        async for event in reply:
            if isinstance(event, Delta):
                break
        state = await last(client.set_draft(DraftRequest(draft="smollm2"), "swap"))
        assert isinstance(state, State)
        assert state.draft is not None
        end = await last(reply)
        assert isinstance(end, Finished)
        assert end.reason == "length"
        assert end.timings.draft_n > 0
        await last(client.set_draft(DraftRequest(draft=None), "swap"))

    loaded.run(talk)


def test_events_carry_states_and_rounds(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        states: list[tuple[float, State]] = []
        rounds: list[tuple[str, RoundRecord]] = []

        async def listen() -> None:
            async for news in client.events():
                if isinstance(news, State):
                    states.append((time.monotonic(), news))
                else:
                    rounds.append(news)

        listener = asyncio.create_task(listen())
        while not states:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        began = time.monotonic()
        # Long enough for several looks at the state, ten of which are sent a second.
        end = await last(client.reply(ask(COUNT, 300, ignore_eos=True), "watched"))
        await asyncio.sleep(0.4)
        spent = time.monotonic() - began
        listener.cancel()
        assert isinstance(end, Finished)
        assert {job for job, _ in rounds} == {"watched"}
        assert sum(r.emitted for _, r in rounds) == end.timings.predicted_n
        assert {s.phase for _, s in states} >= {"generating", "ready"}
        assert len(states) <= 10 * spent + 3
        assert states[-1][1].phase == "ready"

    loaded.run(talk)


def test_compare(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        items = [item async for item in client.compare(ask(COUNT, 32, speculation=Speculation(length=4)), "compare")]
        result = items[-1]
        assert isinstance(result, Comparison)
        assert result.plain_text
        assert result.identical or result.difference is not None
        for side, text in (("plain", result.plain_text), ("speculation", result.speculation_text)):
            events = [i[1] for i in items if isinstance(i, tuple) and i[0] == side]
            assert "".join(e.text for e in events if isinstance(e, Delta)) == text
            assert isinstance(events[-1], Finished)

    loaded.run(talk)


def test_compare_is_cancelled(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        compare = client.compare(ask(COUNT, 2000, ignore_eos=True), "compare")
        await anext(compare)
        await client.cancel("compare")
        with pytest.raises(EngineError) as caught:
            await last(compare)
        assert caught.value.code == "cancelled"

    loaded.run(talk)
    settle(loaded)


# -- loading


def test_without_a_model(bare: Worker) -> None:
    status, _, raw = bare.ask("POST", "/v1/chat/completions", chat("Hello"))
    assert (status, json.loads(raw)["error"]["code"]) == (404, "no_model")
    status, _, raw = bare.ask("POST", "/x/count", {"messages": chat("Hello")["messages"]})
    assert (status, json.loads(raw)["error"]["code"]) == (404, "no_model")
    assert bare.json("GET", "/v1/models")["data"] == []
    assert bare.json("POST", "/x/models/unload", {})["phase"] == "idle"


def test_a_request_during_a_load_waits_for_it(fresh: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        load = client.load(LoadRequest(target="smollm2", options=LoadOptions(n_ctx=2048, threads=1)), "load")
        await anext(load)
        reply = asyncio.create_task(last(client.reply(ask(COUNT), "reply")))
        assert isinstance(await last(load), State)
        assert isinstance(await reply, Finished)

    fresh.run(talk)


def test_a_load_that_fails(fresh: Worker, tandem_home: Any) -> None:
    load_smollm2(fresh)

    async def talk(client: RemoteEngine) -> None:
        with pytest.raises(EngineError) as caught:
            await last(client.load(LoadRequest(target="nothing of this name"), "load"))
        assert caught.value.code == "model_unknown"
        assert (await client.state()).target is not None  # the old pair is still there
        state = await last(
            client.load(
                LoadRequest(target="smollm2", draft="nothing of this name", options=LoadOptions(n_ctx=2048, threads=1)),
                "load",
            )
        )
        assert isinstance(state, State)
        assert state.target is not None
        assert state.draft is None
        assert "nothing of this name" in state.draft_note
        state = await client.unload()
        assert (state.phase, state.target) == ("idle", None)
        with pytest.raises(EngineError) as caught:
            await last(client.reply(ask(COUNT), "reply"))
        assert caught.value.code == "no_model"

    fresh.run(talk)


def test_damaged_file(tandem_home: Any, smollm2: Any) -> None:
    from tests.server.conftest import make_worker

    damaged = tandem_home.parent / "damaged.gguf"
    damaged.write_bytes(smollm2.read_bytes()[:5_000_000])
    worker = make_worker(tandem_home, {"damaged": damaged})

    async def talk(client: RemoteEngine) -> None:
        with pytest.raises(EngineError) as caught:
            await last(client.load(LoadRequest(target="damaged"), "load"))
        assert caught.value.code in ("file_truncated", "file_damaged")
        state = await client.state()
        assert state.phase in ("failed", "idle")
        assert state.target is None

    worker.run(talk)
    worker.supervisor.stop()


# -- endurance and discretion


def test_a_thousand_quick_requests_leave_no_job_behind(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        body = {"messages": [{"role": "user", "content": "Hi"}], "x_job": "same"}
        for i in range(1000):
            if i % 4 == 0:  # the same id again and again: a job left behind would refuse it
                await last(client.reply(ask("Hi", 1), "same"))
            elif i % 4 == 1:
                with pytest.raises(EngineError):
                    await last(client.reply(ask("Hi", 1, stop=("x",)).model_copy(update={"messages": ()}), "same"))
            elif i % 4 == 2:
                await client.count([Message(role="user", content="Hi")], {})
            else:
                reply = client.reply(ask("Hi", 50), "left")
                await anext(reply)
                await reply.aclose()
                await client.cancel("left")
                while True:  # its end is a moment away
                    try:
                        await last(client.reply(ask("Hi", 1), "left"))
                        break
                    except EngineError as error:
                        assert error.code in ("bad_request", "cancelled")  # noqa: PT017
        assert body

    loaded.run(talk)
    settle(loaded)


def test_prompts_and_secrets_are_never_logged(loaded: Worker) -> None:
    canary = "the zebra drinks at midnight"
    loaded.ask("POST", "/v1/chat/completions", chat(canary))
    loaded.ask("POST", "/v1/chat/completions", chat(canary, temperature=-1))
    loaded.ask("POST", "/v1/chat/completions", chat(canary + " word" * 20000))
    loaded.ask("POST", "/x/count", {"messages": chat(canary)["messages"]})
    loaded.ask("POST", "/v1/chat/completions", f'{{"messages": "{canary}"'.encode())
    assert "loaded smollm2" in loaded.log
    assert "zebra" not in loaded.log
    assert loaded.endpoint.secret not in loaded.log
    assert loaded.endpoint.secret not in repr(loaded.endpoint)


def test_sse_messages_are_one_json_object_each(loaded: Worker) -> None:
    _, _, raw = loaded.ask("POST", "/x/compare", chat(COUNT, max_tokens=4))
    for block in raw.decode().split("\n\n"):
        if not block or block.startswith(":"):
            continue
        event, data = block.split("\n")
        assert Sse(event.removeprefix("event: "), data.removeprefix("data: ")).json()
