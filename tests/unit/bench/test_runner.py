"""Who runs when, and what becomes of a reply's events; a peer over a real socket."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from backend.bench.modes import Mode
from backend.bench.peers import Peer, parse_peer
from backend.bench.runner import OwnMode, Run, collect, measure, order
from backend.bench.workloads import Prompt
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Delta,
    Finished,
    PromptProgress,
    ReplyEvent,
    ReplyRequest,
    Sampling,
    Speculation,
    Timings,
    TokenRecord,
)

PROMPTS = [Prompt(str(i), "c", f"question {i}") for i in range(4)]


class Recorder:
    """A contestant that notes when it was asked, and with which seed."""

    def __init__(self, name: str, log: list[tuple[str, str, int]]) -> None:
        self.name = name
        self._log = log

    async def answer(self, prompt: Prompt, sampling: Sampling, repeat: int = 0) -> Run:
        assert sampling.seed is not None
        self._log.append((prompt.id, self.name, sampling.seed))
        return Run(self.name, prompt, 0, sampling.seed, Timings(), "")


def measured(repeats: int) -> tuple[list[Run], list[tuple[str, str, int]]]:
    log: list[tuple[str, str, int]] = []

    async def work() -> list[Run]:
        contestants = [Recorder("a", log), Recorder("b", log), Recorder("c", log)]
        return [r async for r in measure(PROMPTS, contestants, repeats, Sampling(seed=100))]

    return asyncio.run(work()), log


def test_modes_take_turns_within_each_prompt() -> None:
    _, log = measured(2)
    groups = [log[i : i + 3] for i in range(0, len(log), 3)]
    assert len(groups) == 8
    for group in groups:
        assert len({(prompt, seed) for prompt, _, seed in group}) == 1  # one prompt, one seed
        assert {name for _, name, _ in group} == {"a", "b", "c"}
    assert all(groups[i] != groups[i + 4] for i in range(4))  # another order in the next repeat
    assert len({seed for *_, seed in log}) == 8


def test_later_turns_stand_after_plains_replies_for_everybody() -> None:
    """Whoever answers first, and whatever the others say."""
    heard: list[tuple[str, str, list[str]]] = []

    class Speaker(Recorder):
        async def answer(self, prompt: Prompt, sampling: Sampling, repeat: int = 0) -> Run:
            heard.append((self.name, prompt.id, [message.content for message in prompt.messages]))
            return Run(self.name, prompt, 0, 0, Timings(), f"{self.name} says {prompt.text}")

    async def work(names: str) -> list[Run]:
        asked = [Prompt("p", "c", "one", later=("two", "three")), Prompt("q", "c", "alone")]
        return [r async for r in measure(asked, [Speaker(name, []) for name in names.split()], 1, Sampling())]

    runs = asyncio.run(work("auto plain plain#2"))
    assert [r.prompt.id for r in runs] == [*["p"] * 3, *["p/2"] * 3, *["p/3"] * 3, *["q"] * 3]
    second = ["one", "plain says one", "two"]
    assert [said for _, name, said in heard if name == "p/2"] == [second] * 3
    assert [said for _, name, said in heard if name == "p/3"] == [[*second, "plain says two", "three"]] * 3
    assert [r.prompt.id for r in asyncio.run(work("auto"))] == ["p", "q"], "nobody says what was replied"


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_everybody_stands_everywhere_equally_often(n: int) -> None:
    for place in range(n):
        assert len(set(Counter(order(range(n), turn)[place] for turn in range(2 * n)).values())) == 1


def test_every_reply_of_ours_begins_with_nothing_in_memory() -> None:
    """And none hears what was learnt in another repeat, in another way, or in a person's chats."""
    asked: list[ReplyRequest] = []

    class Client:
        async def reply(self, request: ReplyRequest, _job: str) -> AsyncIterator[ReplyEvent]:
            asked.append(request)
            yield Finished("stop", Timings(), 7, 3, (1, 2), "digest")

    own = [OwnMode(Client(), Mode(name, Speculation()), 8) for name in ("plain", "auto")]  # type: ignore[arg-type]

    async def work() -> None:
        async for _ in measure(PROMPTS[:1], own, 2, Sampling(seed=7)):
            pass

    asyncio.run(work())
    assert [request.reuse_cache for request in asked] == [False] * 4
    assert len({request.learner for request in asked} - {""}) == 4


def test_repeats_are_told_apart() -> None:
    runs, _ = measured(2)
    assert Counter(r.repeat for r in runs) == {0: 12, 1: 12}


def token(i: int, margin: float) -> TokenRecord:
    return TokenRecord(i, 1, "plain", None, 0, i, margin=margin)


def test_a_reply_becomes_a_record_with_every_agreed_field() -> None:
    async def events() -> AsyncIterator[ReplyEvent]:
        yield PromptProgress(3, 3, 0)
        yield Delta("a", (token(1, 0.5),), Timings())
        yield Delta("b", (token(2, 0.25), token(3, 4.0)), Timings())
        yield Finished("length", Timings(predicted_n=3, passes=2), 9, 3, (1, 2, 3), "t", note="why")

    run = asyncio.run(collect(events(), "auto", PROMPTS[0], Sampling(seed=9)))
    record = json.loads(json.dumps(run.to_json()))
    agreed = (
        "mode prompt_id category predicted_n predicted_ms prompt_n prompt_ms draft_prompt_ms request_ms passes "
        "draft_n draft_n_accepted text_sha256 tokens"
    )
    assert set(agreed.split()) <= set(record)
    assert record["tokens"] == [1, 2, 3]
    assert record["margins"] == [0.5, 0.25, 4.0]
    assert record["text_sha256"] == "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603"
    assert (record["passes"], record["note"], record["seed"]) == (2, "why", 9)


def test_an_error_names_mode_and_prompt_and_a_stop_stays_a_stop() -> None:
    async def failing() -> AsyncIterator[ReplyEvent]:
        yield PromptProgress(0, 3, 0)
        raise EngineError(ErrorCode.CONTEXT_FULL, "Too long.", {"over": 3})

    async def stopped() -> AsyncIterator[ReplyEvent]:
        yield Finished("cancelled", Timings(), 0, 0, (), "t")

    with pytest.raises(EngineError, match="auto, prompt 0: Too long") as caught:
        asyncio.run(collect(failing(), "auto", PROMPTS[0], Sampling()))
    assert caught.value.details == {"over": 3}
    with pytest.raises(EngineError) as caught:
        asyncio.run(collect(stopped(), "auto", PROMPTS[0], Sampling()))
    assert caught.value.code is ErrorCode.CANCELLED


class Server(BaseHTTPRequestHandler):
    """Streams what llama-server streams."""

    asked: ClassVar[dict[str, Any]]
    models: ClassVar[Any] = [{"id": "some-model"}]
    timings: ClassVar[dict[str, Any]] = {}
    usage: ClassVar[Any] = {"prompt_tokens": 5, "completion_tokens": 2}

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            self.send_error(404)
            return
        self._send("application/json", json.dumps({"data": self.models}))

    def do_POST(self) -> None:
        type(self).asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chunks: list[dict[str, Any]] = [
            {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]},
            {"choices": [{"delta": {"content": "Hello "}, "finish_reason": None}]},
            {"choices": [{"delta": {"content": "you"}, "finish_reason": None}]},
            {"choices": [{"delta": {}, "finish_reason": "length"}]},
            {
                "choices": [],
                "usage": self.usage,
                "timings": {
                    "cache_n": 0,
                    "prompt_n": 5,
                    "prompt_ms": 10.0,
                    "predicted_n": 2,
                    "predicted_ms": 30.5,
                    "predicted_per_second": 65.6,
                }
                | self.timings,
            },
        ]
        self._send("text/event-stream", "".join(f"data: {json.dumps(c)}\n\n" for c in chunks) + "data: [DONE]\n\n")

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_address[1]}"
        httpd.shutdown()
        thread.join()


def answer(server: str) -> Run:
    async def work() -> Run:
        peer = parse_peer(f"server={server}/v1", 2, ignore_eos=True)
        try:
            return await peer.answer(PROMPTS[1], Sampling(temperature=0.0, seed=3))
        finally:
            await peer.close()

    return asyncio.run(work())


@pytest.mark.parametrize("models", [None, 5, {"a": 1}, [], ["x"], [None], [{"id": None}]])
def test_a_server_that_names_no_model_is_asked_for_its_default(
    server: str, models: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Server, "models", models)
    assert answer(server).text == "Hello you"
    assert Server.asked["model"] == "default"


@pytest.mark.parametrize("wrong", [{"predicted_ms": float("nan")}, {"predicted_n": -4}, {"prompt_ms": 1e300}])
@pytest.mark.parametrize("usage", ["5", {"prompt_tokens": "abc", "completion_tokens": [1]}, {"prompt_tokens": 1e999}])
def test_figures_that_cannot_be_are_not_taken(
    server: str, wrong: dict[str, Any], usage: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Server, "timings", wrong)
    monkeypatch.setattr(Server, "usage", usage)
    timings = answer(server).timings
    assert (timings.prompt_n, timings.predicted_n) == (0, 0)
    assert 0 <= timings.predicted_ms < 60_000, "by this side's clock"


def test_a_peer_gives_its_own_figures_and_reads_every_prompt_anew(server: str) -> None:
    run = answer(server)
    assert run.mode == "server"
    assert run.text == "Hello you"
    assert (run.timings.prompt_ms, run.timings.predicted_n, run.timings.predicted_ms) == (10.0, 2, 30.5)
    assert run.timings.request_ms == 40.5
    assert run.to_json()["passes"] is None
    assert run.tokens == []
    asked = Server.asked
    assert asked["messages"] == [{"role": "user", "content": "question 1"}]
    wanted = {"cache_prompt": False, "max_tokens": 2, "temperature": 0.0, "ignore_eos": True, "model": "some-model"}
    assert {name: asked[name] for name in wanted} == wanted


@pytest.mark.parametrize("text", ["server", "=http://x", "server=127.0.0.1:80", "server=http://", "server=http://[::1"])
def test_a_peer_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(EngineError, match="NAME=URL"):
        parse_peer(text, 8, ignore_eos=False)


def test_a_peers_password_is_refused_and_not_repeated() -> None:
    with pytest.raises(EngineError, match="no user name or password") as refused:
        parse_peer("server=http://me:hush@127.0.0.1:80", 8, ignore_eos=False)
    assert "hush" not in refused.value.message


def test_a_peer_that_is_not_there() -> None:
    async def work() -> None:
        peer = Peer("server", "http://127.0.0.1:9", 2)
        try:
            await peer.answer(PROMPTS[0], Sampling())
        finally:
            await peer.close()

    with pytest.raises(EngineError, match=r"server, prompt 0: .*does not answer"):
        asyncio.run(work())
