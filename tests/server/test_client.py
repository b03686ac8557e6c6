"""The client: against servers that are not ours, and against a worker that dies."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from backend.client import ManagedEngine, RemoteEngine
from backend.client.reply import reply_body
from backend.errors import EngineError
from backend.protocol import Delta, Finished, LoadRequest, Message, ReplyRequest, Sampling, State
from backend.supervisor import Supervisor
from tests.server.conftest import Worker, last, load_smollm2

T = TypeVar("T")
HELLO = ReplyRequest(messages=(Message(role="user", content="Hello"),))


def sse(*messages: Any) -> str:
    return "".join(f"data: {m if isinstance(m, str) else json.dumps(m)}\n\n" for m in messages)


def delta(content: str | None = None, reason: str | None = None, **fields: Any) -> dict[str, Any]:
    part = {"content": content} if content is not None else {}
    return {"choices": [{"index": 0, "delta": part | fields, "finish_reason": reason}]}


class Foreign:
    """A server elsewhere: answers each path with what the test says, over a real socket, and keeps what it was sent."""

    def __init__(self, stream: str, status: int = 200, kind: str = "text/event-stream", *, hang: bool = False) -> None:
        self.stream, self.status, self.kind, self.hang = stream, status, kind, hang
        self.bodies: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.connections: set[Any] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(asyncio.current_task())
        while head := await self._head(reader):
            path = head.split()[1]
            length = next((int(h.split(":")[1]) for h in head.split("\r\n") if h.lower().startswith("content-len")), 0)
            body = await reader.readexactly(length)
            if path == "/v1/models":
                self._answer(writer, 200, "application/json", json.dumps({"data": [{"id": "their-model"}]}))
            elif path == "/v1/chat/completions":
                self.bodies.append(json.loads(body))
                if self.hang:
                    head_only = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
                    writer.write((head_only + self.stream).encode())
                    await writer.drain()
                    await reader.read()  # ends when the client leaves
                    self.left.set()
                    break
                self._answer(writer, self.status, self.kind, self.stream)
            else:
                self._answer(writer, 404, "text/plain", "not here")
        writer.close()
        await writer.wait_closed()

    async def _head(self, reader: asyncio.StreamReader) -> str:
        try:
            return (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, ConnectionError):
            return ""

    def _answer(self, writer: asyncio.StreamWriter, status: int, kind: str, text: str) -> None:
        raw = text.encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(raw)}\r\n\r\n".encode() + raw
        )


def against(foreign: Callable[[], Foreign], talk: Callable[[RemoteEngine, Foreign], Awaitable[T]]) -> T:
    async def main() -> T:
        other = foreign()
        server = await asyncio.start_server(other.serve, "127.0.0.1", 0)
        client = RemoteEngine(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/", "key")
        try:
            return await talk(client, other)
        finally:
            await client.close()
            server.close()
            await asyncio.gather(*other.connections)

    return asyncio.run(main())


def read_reply(stream: str, **fields: Any) -> tuple[str, Finished]:
    async def talk(client: RemoteEngine, _foreign: Foreign) -> tuple[str, Finished]:
        events = [event async for event in client.reply(HELLO, "job")]
        assert isinstance(events[-1], Finished)
        assert sum(isinstance(e, Finished) for e in events) == 1
        return "".join(e.text for e in events if isinstance(e, Delta)), events[-1]

    return against(lambda: Foreign(stream, **fields), talk)


LLAMA_SERVER = sse(
    delta(None, role="assistant"),
    delta("Hel", new_field=[1]),
    delta("lo"),
    delta(None, "stop")
    | {"timings": {"prompt_n": 9, "prompt_ms": 5.0, "predicted_n": 3, "predicted_ms": 20.0,
                   "predicted_per_second": 150.0, "draft_n": 2, "draft_n_accepted": 1}},
    {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}},
    "[DONE]",
)  # fmt: skip
VLLM = sse(
    delta("", role="assistant"),
    delta("Hello", None),
    delta("", "length", stop_reason=None),
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}},
    "[DONE]",
)
OLLAMA_WITHOUT_DONE = sse(delta("Hello", None, role="assistant"), delta("", "stop", role="assistant"))
ODD = ": comment\r\n\r\ndata: not json\n\ndata: 3\n\n" + sse(
    {"choices": None},
    {"choices": [None]},
    {"choices": [{"delta": None}]},
    delta("Hello") | {"x_tokens": [{"id": "?"}], "timings": 7, "x_prompt": [], "x_finished": {"reason": "won"}},
    delta(None, "tool_calls"),
    "[DONE]",
    delta("after the end"),
)


@pytest.mark.parametrize("stream", [LLAMA_SERVER, VLLM, OLLAMA_WITHOUT_DONE, ODD])
def test_foreign_streams_read_as_replies(stream: str) -> None:
    text, end = read_reply(stream)
    assert text == "Hello"
    assert end.reason == ("length" if stream is VLLM else "stop")


def test_foreign_figures() -> None:
    timings = read_reply(LLAMA_SERVER)[1].timings
    assert (timings.prompt_n, timings.predicted_n, timings.predicted_ms) == (9, 3, 20.0)
    assert timings.acceptance == 0.5
    timings = read_reply(VLLM)[1].timings  # theirs are missing: counted by them, timed by us
    assert (timings.prompt_n, timings.predicted_n) == (7, 2)
    assert timings.request_ms > 0


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept(name: str) -> None:
    stream = sse(delta(None, **{name: "Let me "}), delta(None, **{name: "think."}), delta("Hello"), "[DONE]")
    stream = stream.replace("data: [DONE]", sse(delta(None, "stop")) + "data: [DONE]")
    assert read_reply(stream)[0] == "<think>\nLet me think.\n</think>\n\nHello"


def test_an_answer_that_is_not_streamed_although_asked() -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]}
    assert read_reply(json.dumps(answer), kind="application/json")[0] == "Hello"


@pytest.mark.parametrize(
    ("stream", "status", "kind", "code"),
    [
        (sse(delta("Hel")), 200, "text/event-stream", "worker_gone"),  # broke off
        (sse(delta("Hel"), {"error": {"message": "no", "code": 500}}), 200, "text/event-stream", "bad_request"),
        (
            sse(delta("Hel")) + 'event: error\ndata: {"error": {"message": "no"}}\n\n',
            200,
            "text/event-stream",
            "bad_request",
        ),
        ('{"error": {"message": "wrong key"}}', 401, "application/json", "unauthorized"),
        ('{"error": {"message": "slow down"}}', 429, "application/json", "busy"),
        ('{"error": {"message": "no", "details": ["a", 1]}}', 400, "application/json", "bad_request"),
        (sse({"error": {"message": "no", "details": [1]}}), 200, "text/event-stream", "bad_request"),
        ('{"detail": "what?"}', 422, "application/json", "bad_request"),
        ("<html>gateway</html>", 502, "text/html", "bad_request"),
        ("", 500, "text/plain", "bad_request"),
    ],
)
def test_foreign_failures(stream: str, status: int, kind: str, code: str) -> None:
    with pytest.raises(EngineError) as caught:
        read_reply(stream, status=status, kind=kind)
    assert caught.value.code == code
    assert caught.value.message
    assert isinstance(caught.value.details, dict)


def test_what_a_foreign_server_is_sent_and_what_it_lacks() -> None:
    async def talk(client: RemoteEngine, foreign: Foreign) -> None:
        state = await client.state()
        assert state.target is not None
        assert state.target.name == "their-model"
        await last(client.reply(HELLO, "job"))
        (body,) = foreign.bodies
        assert body["model"] == "their-model"
        assert not [name for name in body if name.startswith("x_")]
        for missing in (client.unload(), client.count([Message(role="user", content="Hello")], {})):
            with pytest.raises(EngineError, match="is not a Tandem engine"):
                await missing
        await client.cancel("nothing")

    against(lambda: Foreign(VLLM), talk)


def test_cancelling_a_foreign_reply_leaves_the_stream() -> None:
    async def talk(client: RemoteEngine, foreign: Foreign) -> None:
        reply = client.reply(HELLO, "job")
        assert isinstance(await anext(reply), Delta)
        await client.cancel("job")
        end = await asyncio.wait_for(last(reply), 2)
        assert isinstance(end, Finished)
        assert end.reason == "cancelled"
        await asyncio.wait_for(foreign.left.wait(), 2)

    against(lambda: Foreign(sse(delta("Hel")), hang=True), talk)


def test_nobody_there_and_proxies_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

    async def main() -> None:
        client = RemoteEngine(f"http://127.0.0.1:{port}")
        try:
            with pytest.raises(EngineError) as caught:
                await client.state()
            assert caught.value.code == "worker_gone"
        finally:
            await client.close()

    asyncio.run(main())


def test_a_proxy_for_the_web_does_not_catch_the_worker(bare: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert isinstance(bare.run(lambda client: client.state()), State)


def test_wrong_key(bare: Worker) -> None:
    async def main() -> None:
        client = RemoteEngine(bare.endpoint.url, "wrong")
        try:
            with pytest.raises(EngineError) as caught:
                await client.state()
            assert caught.value.code == "unauthorized"
        finally:
            await client.close()

    asyncio.run(main())


def test_text_that_cannot_be_sent(bare: Worker) -> None:
    request = ReplyRequest.model_construct(messages=(Message.model_construct(role="user", content="\ud800"),))
    with pytest.raises(EngineError) as caught:
        bare.run(lambda client: last(client.reply(request, "job")))
    assert caught.value.code == "bad_request"
    assert "U+D800" in caught.value.message


def test_bodies_for_our_own_worker_say_everything() -> None:
    request = HELLO.model_copy(update={"sampling": Sampling(seed=3), "stop": ("x",), "reuse_cache": False})
    body = reply_body(request, "job", None)
    assert (body["x_job"], body["x_cache"], body["seed"], body["stop"]) == ("job", False, 3, ["x"])
    assert set(Sampling.model_fields) <= set(body)


# -- a worker that dies


@pytest.mark.model
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_kill_in_the_middle_of_a_reply(fresh: Worker) -> None:
    load_smollm2(fresh)

    async def main() -> None:
        engine = ManagedEngine(fresh.supervisor)
        request = HELLO.model_copy(update={"max_tokens": 4000, "ignore_eos": True})
        text = ""
        listening = asyncio.create_task(last(engine.events()))

        async def read() -> None:
            nonlocal text
            async for event in engine.reply(request, "job"):
                if isinstance(event, Delta):
                    if not text:
                        os.kill(fresh.endpoint.pid, signal.SIGKILL)
                    text += event.text

        for task in (asyncio.create_task(read()), listening):
            with pytest.raises(EngineError) as caught:
                await asyncio.wait_for(task, 10)
            assert caught.value.code == "worker_gone"
            assert caught.value.details["kind"] == "killed"
        assert text  # what had arrived is the caller's
        with pytest.raises(EngineError) as caught:
            await engine.state()  # not silently replaced
        assert caught.value.details["kind"] == "killed"
        await engine.restart()
        state = await engine.state()
        assert state.target is None
        assert state.phase == "idle"
        listening = asyncio.create_task(last(engine.events()))
        await asyncio.sleep(0.1)
        await engine.restart()  # of a healthy one: its listeners learn that it is gone
        with pytest.raises(EngineError) as caught:
            await asyncio.wait_for(listening, 10)
        assert caught.value.code == "worker_gone"
        await engine.close()

    asyncio.run(main())


def test_managed_starts_by_itself_and_close_ends_the_worker(tandem_home: Path) -> None:
    async def main() -> int:
        supervisor = Supervisor()
        engine = ManagedEngine(supervisor)
        await engine.cancel("nothing")
        assert supervisor.endpoint is None
        states = await asyncio.gather(*(engine.state() for _ in range(5)))
        assert all(isinstance(state, State) for state in states)
        assert supervisor.endpoint is not None
        await engine.close()
        assert supervisor.endpoint is None
        with pytest.raises(EngineError):
            await engine.state()
        return 0

    assert asyncio.run(main()) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_engine_that_hangs_is_said_and_can_be_restarted(tandem_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped, not dead: no connection ends, and only the silence tells."""
    monkeypatch.setattr("backend.client.remote.SILENCE", 4.0)

    async def talk() -> str:
        supervisor = Supervisor(env={"TANDEM_HOME": str(tandem_home)})
        engine = ManagedEngine(supervisor)
        try:
            heard = asyncio.create_task(last(engine.events()))
            await engine.state()
            assert supervisor.endpoint is not None
            pid = supervisor.endpoint.pid
            os.kill(pid, signal.SIGSTOP)
            with pytest.raises(EngineError) as caught:
                await asyncio.wait_for(heard, 15)
            assert caught.value.code == "worker_gone"
            await engine.restart()
            assert supervisor.endpoint is not None
            assert supervisor.endpoint.pid != pid
            assert isinstance(await engine.state(), State)
            return caught.value.message
        finally:
            await engine.close()

    assert "no sign of life" in asyncio.run(talk())


def test_what_is_stopped_while_the_engine_starts_does_not_begin(tandem_home: Path) -> None:
    """Ctrl-C in the first second, or a second choice in the window: the stop has no worker to go to yet."""

    async def talk() -> str:
        engine = ManagedEngine(Supervisor(env={"TANDEM_HOME": str(tandem_home)}))
        try:
            load = asyncio.ensure_future(last(engine.load(LoadRequest(target="nosuch"), "early")))
            await asyncio.sleep(0.1)
            await engine.cancel("early")
            with pytest.raises(EngineError) as caught:
                await load
            return caught.value.code.value
        finally:
            await engine.close()

    assert asyncio.run(talk()) == "cancelled"
