"""Endurance: a real worker under random requests, stops, swaps, toggles and kills, for as long as asked.

usage: python -m tests.long.soak [MINUTES] [SEED]   (default 10 minutes)
       python -m tests.long.soak killed [KILLS] [SEED]   the program itself killed while it writes (``killed.py``)

After every reply the identities hold (the engine asserts them) and its tokens cover its text. The worker's memory must
not grow by more than 64 MiB after its first 25 replies, with and without a draft each. Exit code 1 with a list of what
went wrong.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from contextlib import aclosing

from backend.client.managed import ManagedEngine
from backend.errors import EngineError, ErrorCode
from backend.protocol import (
    Delta,
    DraftRequest,
    Finished,
    LoadOptions,
    LoadRequest,
    Message,
    ReplyRequest,
    Sampling,
    Speculation,
)
from backend.supervisor import Supervisor
from tests.long import killed

PROMPTS = (
    "Count from one to forty in words.",
    "Rename `total` to `amount` and return all of it:\n```python\ntotal = 0\nfor x in xs:\n    total += x\n```",
    "Write two sentences about rain. 雨について。 كم الساعة؟ 🌧️",
    "a",
    "Repeat after me, ten times: the quick brown fox jumps over the lazy dog.",
)
GROWTH = 64 * 2**20


class Soak:
    """One run."""

    def __init__(self, seed: int, target: str, draft: str | None) -> None:
        self.random = random.Random(seed)
        self.supervisor = Supervisor()
        self.engine = ManagedEngine(self.supervisor)
        self.target, self.draft = target, draft
        self.faults: list[str] = []
        self.counts: dict[str, int] = {}
        self.level: dict[bool, int] = {}
        """The worker's memory once warm, without and with a draft: a draft's context takes tens of MiB itself."""

    def did(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    async def load(self) -> None:
        request = LoadRequest(target=self.target, draft=self.draft, options=LoadOptions(n_ctx=2048))
        async with aclosing(self.engine.load(request, f"load-{time.time_ns()}")) as progress:  # type: ignore[type-var]
            async for _ in progress:
                pass
        self.level.clear()

    def request(self) -> ReplyRequest:
        pick = self.random
        turns = [Message(role="user", content=pick.choice(PROMPTS)) for _ in range(pick.choice((1, 1, 2)))]
        messages = [turns[0], *([Message(role="assistant", content="Yes."), turns[1]] if len(turns) > 1 else [])]
        return ReplyRequest(
            messages=tuple(messages),
            sampling=Sampling(temperature=pick.choice((0.0, 0.0, 0.7, 1.5)), seed=pick.randrange(1000)),
            max_tokens=pick.choice((1, 2, 17, 60, 150)),
            stop=pick.choice(((), (), ("\n\n",), (" the ", "fox"))),
            speculation=pick.choice(
                (None, None, Speculation(length=4), Speculation(source="lookup"), Speculation(rule="rejection"))
            ),
            reuse_cache=pick.random() < 0.8,
        )

    async def reply(self, stop_after: float | None = None, meanwhile: str = "") -> None:
        job = f"soak-{time.time_ns()}"
        text, finished, began, asked = "", None, time.monotonic(), None
        async with aclosing(self.engine.reply(self.request(), job)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, Delta):
                    text += event.text
                    if sum(t.n_bytes for t in event.tokens) != len(event.text.encode()):
                        self.faults.append("a chunk's tokens do not cover its text")
                    if meanwhile:
                        await self.disturb(meanwhile)
                        meanwhile = ""
                if isinstance(event, Finished):
                    finished = event
                if stop_after is not None and asked is None and time.monotonic() - began > stop_after:
                    asked = time.monotonic()
                    await self.engine.cancel(job)
        if finished is None:
            self.faults.append("a reply ended without its record")
        elif asked is not None and finished.reason == "cancelled":
            self.did("stopped")
            if (late := time.monotonic() - asked) > 1.0:
                self.faults.append(f"a stop took {late:.2f} s on this loaded machine")
        self.did("reply")

    async def disturb(self, what: str) -> None:
        if what == "toggle":
            await self.engine.set_speculation(Speculation(enabled=self.random.random() < 0.6))
        elif what == "swap":
            draft = self.draft if self.random.random() < 0.6 else None
            swap = self.engine.set_draft(DraftRequest(draft=draft), f"swap-{time.time_ns()}")
            async with aclosing(swap) as steps:  # type: ignore[type-var]
                async for _ in steps:
                    pass
        self.did(what)

    async def kill(self) -> None:
        endpoint = self.supervisor.endpoint
        assert endpoint is not None
        os.kill(endpoint.pid, signal.SIGKILL)
        try:
            await self.reply()
            self.faults.append("a killed worker answered")
        except EngineError as error:
            if error.code is not ErrorCode.WORKER_GONE:
                self.faults.append(f"a killed worker was told as {error.code}: {error.message}")
        await self.engine.restart()
        await self.load()
        self.did("kill")

    async def step(self) -> None:
        dice = self.random.random()
        if dice < 0.55:
            await self.reply()
        elif dice < 0.75:
            await self.reply(stop_after=self.random.random() * 1.5)
        elif dice < 0.98:
            await self.reply(meanwhile=self.random.choice(("toggle", "swap")))
        else:
            await self.kill()

    async def check_memory(self, warm: bool) -> None:
        state = await self.engine.state()
        drafting = state.draft is not None
        if not warm:
            return
        grown = state.memory - self.level.setdefault(drafting, state.memory)
        if grown > GROWTH:
            self.faults.append(f"the worker grew by {grown / 2**20:.0f} MiB")
            self.level[drafting] = state.memory

    async def run(self, minutes: float) -> int:
        until = time.monotonic() + 60 * minutes
        loaded = 0
        try:
            await self.load()
            while time.monotonic() < until and len(self.faults) < 20:
                kills = self.counts.get("kill", 0)
                await self.step()
                loaded = 0 if self.counts.get("kill", 0) != kills else loaded + 1
                await self.check_memory(warm=loaded >= 25)
        finally:
            await self.engine.close()
        print(", ".join(f"{n} × {what}" for what, n in sorted(self.counts.items())))
        for fault in self.faults:
            print("FAULT:", fault)
        print("no faults" if not self.faults else f"{len(self.faults)} faults")
        return 1 if self.faults else 0


def main(argv: list[str]) -> int:
    if argv[:1] == ["killed"]:
        return killed.main(argv[1:])
    minutes = float(argv[0]) if argv else 10.0
    seed = int(argv[1]) if len(argv) > 1 else 1
    print(f"{minutes:g} minutes, seed {seed}")
    target = "smollm2"
    return asyncio.run(Soak(seed, target, target).run(minutes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
