"""What the tests of the API ask, and how they read what comes."""

from __future__ import annotations

import json
import time
from typing import Any

from backend.protocol import (
    Message,
    ReplyRequest,
    Sampling,
)
from tests.server.conftest import Worker

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
