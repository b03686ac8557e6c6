"""The API while settings, drafts and models change, its events, and its discretion."""

from __future__ import annotations

import asyncio
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
    LoadRequest,
    Message,
    RoundRecord,
    Speculation,
    State,
)
from tests.server.asking import COUNT, ask, chat, settle
from tests.server.conftest import Worker, last, load_smollm2

pytestmark = pytest.mark.model


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


def test_a_thousand_quick_requests_leave_no_job_behind(loaded: Worker) -> None:
    async def talk(client: RemoteEngine) -> None:
        for i in range(1000):
            if i % 50 == 0:
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
            elif i % 3 == 0:  # the same id again and again: a job left behind would refuse it
                await last(client.reply(ask("Hi", 1), "same"))
            elif i % 3 == 1:
                with pytest.raises(EngineError):
                    await last(client.reply(ask("Hi", 1, stop=("x",)).model_copy(update={"messages": ()}), "same"))
            else:
                await client.count([Message(role="user", content="Hi")], {})

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
