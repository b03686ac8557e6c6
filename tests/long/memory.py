"""The plan against the worker: what it holds in memory once its contexts are full, and how fast it is.

memory.py [--cost14b FILE] [--only NAME …]

Each pair is loaded in a worker of its own and continues a text as long as its context, with drafts of 48 tokens: so
both contexts are filled by full-size batches and the largest passes are made. Weights are read into memory here instead
of being mapped, as of mapped ones nothing tells what is in use; one target is streamed. What the worker held before the
load is taken off. Speeds, of pairs, are expected at the memory's speed of that moment, at the acceptance found, and
with what passes of several tokens took at the load. FILE is written by tests/long/cost14b.py. Exit code 1 where memory
is off by more than 5 % or speed by more than 25 %.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from backend.bench.runner import collect, new_job, reply_request
from backend.bench.workloads import DEMO, THREE, Prompt
from backend.client.managed import ManagedEngine
from backend.errors import EngineError
from backend.library.gguf import read_facts
from backend.library.library import Library
from backend.plan.free import free_main_memory
from backend.plan.machine import Machine, machine, measured_memory_rate
from backend.plan.needs import of_file
from backend.plan.plan import TYPICAL_ACCEPTANCE, Plan, plans
from backend.plan.request import request_for
from backend.protocol import LoadOptions, Message, Sampling, Speculation, Timings
from tests.long.engines import load, supervisor

MEMORY, SPEED = 0.05, 0.25
"""How far off a figure may be."""
_GREEDY = Sampling(temperature=0, seed=0)
_PLAIN = Speculation(enabled=False)
_DRAFTED = Speculation(source="draft")
_ENOUGH = 20
"""Drafted tokens that tell an acceptance."""
_REST = 96
"""Tokens of the context that the prompt leaves free: chat marks, and a reply of one large pass."""
_TOKENS = 32


@dataclass(frozen=True)
class Case:
    """A pair and its context."""

    name: str
    target: Path
    draft: Path | None
    n_ctx: int
    memory: int | None = None
    """Bytes to make do with."""


@dataclass(frozen=True)
class Speed:
    """Tokens a second: as planned at the acceptance found, and as measured."""

    what: str
    planned: float
    measured: float


def held(pid: int) -> int:
    """Bytes of a process that the system cannot drop (Linux): anonymous, locked, and in the pool of streamed layers.

    Of the pool also what is not mapped just now.
    """
    own, name, fields = _pools(pid), "", dict[str, int]()
    for line in [*Path(f"/proc/{pid}/smaps").read_text(errors="replace").splitlines(), "0-0 end"]:
        head, *rest = line.split(maxsplit=5)
        if not head.endswith(":"):  # the next mapping
            own += 0 if "memfd:" in name else max(fields.get("Anonymous", 0), fields.get("Locked", 0))
            name, fields = rest[-1], {}
        elif rest[-1] == "kB":
            fields[head[:-1]] = int(rest[0]) * 1024
    return own


def _pools(pid: int) -> int:
    """Of the files in memory that a process has open."""
    found = dict[int, int]()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            if str(link.readlink()).startswith("/memfd:"):
                at = link.stat()
                found[at.st_ino] = 512 * at.st_blocks
    return sum(found.values())


async def reply(own: ManagedEngine, prompt: Prompt, tokens: int, speculation: Speculation) -> Timings:
    """What a reply of so many tokens took, on the caches that are there."""
    request = reply_request(prompt, _GREEDY, tokens, True, speculation).model_copy(update={"reuse_cache": True})
    return (await collect(own.reply(request, new_job()), "memory", prompt, _GREEDY)).timings


async def fill(own: ManagedEngine, n_ctx: int, *, draft: bool) -> None:
    """A reply at the end of a text of real sentences that is as long as the context, of both models."""
    text = "\n\n".join(prompt.text for prompt in (*THREE, *DEMO))
    tokens, _ = await own.count((Message(role="user", content=text),), {})
    room = n_ctx - _REST
    long = Prompt("long", "long", (text * (room // tokens + 2))[: len(text) * room // tokens])
    await reply(own, long, 56, Speculation(source="draft" if draft else "lookup", length=48))


class Trial:
    """One case in a worker of its own."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.supervisor = supervisor(case.target, case.draft)
        self.engine = ManagedEngine(self.supervisor)
        streamed = self._plan(machine(case.memory or free_main_memory()), LoadOptions(n_ctx=case.n_ctx)).streamed
        self.options = LoadOptions(n_ctx=case.n_ctx, strict=False, use_mmap=streamed > 0, streamed=streamed)
        self._rates: list[float] = []
        self._passes: dict[int, float] = {}

    async def run(self) -> tuple[Plan, int, list[Speed]]:
        """The plan, what the load and a full context added to the worker's memory, and speeds."""
        try:
            while not (await self.engine.state()).engine:  # noqa: ASYNC110 - the worker's process, which has no event
                await asyncio.sleep(0.1)
            before = held(self._pid)
            cost = (await load(self.engine, self.options, draft=self.case.draft is not None)).cost
            assert cost is not None
            self._passes = {n: ms / cost.at(1) for n, ms in cost.target.items()}
            speeds = await self._speeds() if self.case.draft and not self.options.streamed else []
            await fill(self.engine, self.case.n_ctx, draft=self.case.draft is not None)
            return self.plan(), held(self._pid) - before, speeds
        finally:
            await self.engine.close()

    def plan(self, acceptance: float = TYPICAL_ACCEPTANCE) -> Plan:
        """With the draft loaded, whether or not it pays."""
        rate = statistics.median(self._rates) if self._rates else None
        here = machine(self.case.memory or free_main_memory() + held(self._pid), memory_rate=rate, passes=self._passes)
        return self._plan(here, self.options, acceptance)

    def _plan(self, here: Machine, options: LoadOptions, acceptance: float = TYPICAL_ACCEPTANCE) -> Plan:
        target, draft = of_file(read_facts(self.case.target)), self.case.draft
        request = request_for(options, target, of_file(read_facts(draft)) if draft else None)
        found = plans(replace(request, acceptance=acceptance), here)
        return next(plan for plan in found if (plan.where == "none") == (draft is None))

    @property
    def _pid(self) -> int:
        assert self.supervisor.endpoint is not None
        return self.supervisor.endpoint.pid

    async def _speeds(self) -> list[Speed]:
        """Plain, and with the draft, in turn; the memory is measured before each."""
        plain: list[Timings] = []
        drafted: list[Timings] = []
        for prompt in DEMO[::2]:
            for replies, speculation in ((plain, _PLAIN), (drafted, _DRAFTED)):
                self._rates.append(measured_memory_rate(psutil.cpu_count(logical=False) or 1))
                replies.append(await reply(self.engine, prompt, _TOKENS, speculation))
        accepted, ended = sum(t.draft_n_accepted for t in drafted), sum(t.rounds_mismatch for t in drafted)
        alpha = min(0.99, accepted / (accepted + ended)) if accepted + ended > _ENOUGH else TYPICAL_ACCEPTANCE
        plan = self.plan(alpha)
        return [
            Speed("plain", 1e3 / plan.plain_ms, _rate(plain)),
            Speed(f"with the draft (k {plan.k}, {alpha:.2f})", 1e3 / plan.ms, _rate(drafted)),
        ]


def _rate(replies: Sequence[Timings]) -> float:
    return 1e3 * sum(t.predicted_n - 1 for t in replies) / sum(t.predicted_ms for t in replies)


def show(case: Case, plan: Plan, own: int, speeds: Sequence[Speed]) -> bool:
    """Lines of the table; whether all of it is near enough."""
    planned = plan.taken["memory"]
    found = [(f"{planned / 1e6:,.0f} MB planned, {own / 1e6:,.0f} held", planned / own - 1, MEMORY)]
    for s in speeds:
        what = f"{s.what}: {s.planned:.2f} tok/s expected, {s.measured:.2f} measured"
        found.append((what, s.planned / s.measured - 1, SPEED))
    for what, off, most in found:
        print(f"{case.name:16} {what:70} {off:+6.1%} {'met' if abs(off) <= most else 'NOT met'}", flush=True)
    return all(abs(off) <= most for _, off, most in found)


def cases(cost14b: Path | None) -> list[Case]:
    """The starter pair at three sizes of context and streamed, another family, a large target where one is named."""
    library = Library()
    starter = library.starter()
    target, draft = library.resolve(starter.target), library.resolve(starter.draft)
    found = [Case(f"starter-{n_ctx}", target, draft, n_ctx) for n_ctx in (1024, 4096, 8192)]
    found.append(Case("starter-streamed", target, draft, 1024, memory=1_500_000_000))
    found.append(Case("gemma-8192", library.resolve("gemma3-270m"), None, 8192))
    if cost14b is not None:
        found.append(Case("14b-1024", cost14b, draft, 1024))
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="memory", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cost14b", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="such as starter-4096")
    args = parser.parse_args(arguments)
    good = True
    with tempfile.TemporaryDirectory() as home:  # nothing learnt earlier, nothing kept
        os.environ["TANDEM_HOME"] = home
        try:
            for case in cases(args.cost14b):
                if not args.only or case.name in args.only:
                    good &= show(case, *asyncio.run(Trial(case).run()))
        except EngineError as error:
            sys.stderr.write(f"memory: {error.message}\n")
            return 1
    if args.cost14b is None:
        print("Not measured: a large target; name a file of tests/long/cost14b.py with --cost14b.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
