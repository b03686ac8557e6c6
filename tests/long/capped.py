"""A target larger than the memory, under a memory cap: ours beside llama-server, each alone in the cap, in turn.

capped.py --server LLAMA_SERVER --target T --draft D --prompts FILE --memory MB --out DIR [--user UID] [--part 1/6] …

A pass over the prompts is made by plain (no draft is loaded), by auto, and by llama-server plain and with drafts of 3,
8 and 16, each from a dropped page cache in a fresh process; the next round goes the other way round. With --user all
run as an ordinary user with the default lock limit. Each pass is kept in DIR and is not made again, so a run that was
ended goes on; the bars are printed over all passes in DIR of that user. Memory is what the group holds and the system
cannot drop, beyond what it held before the load, once a long text has filled both contexts, against the plan for what
the cap left. Bytes read are the worker's from a reply's first text to its end, beside what the disk could have read in
that time at its rate, which is measured before and after each pass.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from backend.bench.modes import parse_modes
from backend.bench.peers import Peer
from backend.bench.report import compare
from backend.bench.runner import Run, collect, new_job, reply_request
from backend.bench.workloads import ALL, Prompt, load_prompts, part_of
from backend.cli_bench import part
from backend.cli_pair import whole
from backend.errors import EngineError
from backend.library.gguf import read_facts
from backend.outputs import write_whole
from backend.plan.machine import machine
from backend.plan.needs import of_file
from backend.plan.plan import plans
from backend.plan.request import request_for
from backend.protocol import Delta, Finished, LoadOptions, ReplyEvent, Sampling
from tests.long.bars import PEER, Bar, best_of, peers, runs_of, show
from tests.long.cap import Cap, cap, drop_page_cache, own_home
from tests.long.disk import disk_rate, read_bytes
from tests.long.engines import engine, load, supervisor
from tests.long.llama_server import end_in_order, llama_server
from tests.long.memory import fill

OURS = ("plain", "auto")
THEIRS = {f"{PEER}plain": None, f"{PEER}draft3": 3, f"{PEER}draft8": 8, f"{PEER}draft16": 16}
"""llama-server's ways, and how many tokens each drafts."""
_FILLED = 120
"""Seconds that reading a text as long as the context may take."""
_GREEDY = Sampling(temperature=0.0, seed=0)


@dataclass
class Pass:
    """One way's replies to all prompts."""

    way: str
    number: int
    runs: list[dict[str, Any]] = field(default_factory=list)
    planned: int = 0
    """Bytes of memory; so is the next."""
    held: int = 0
    read: int = 0
    """Bytes from disk, in so many seconds:"""
    seconds: float = 0.0
    disk: float = 0.0
    """Bytes a second that the disk can read, before the pass and after it."""
    killed: int = 0
    failed: str = ""


def planned(target: Path, draft: Path | None, n_ctx: int, memory: int) -> int:
    """Bytes that 'tandem plan' would print for so much free memory; 0 where it has no plan."""
    large, small = (of_file(read_facts(path)) if path else None for path in (target, draft))
    assert large is not None
    found = plans(request_for(LoadOptions(n_ctx=n_ctx), large, small), machine(memory))
    return next((plan.taken["memory"] for plan in found if (plan.where == "none") == (draft is None)), 0)


async def ours(args: argparse.Namespace, group: Cap, one: Pass, prompts: Sequence[Prompt]) -> None:
    """Our worker's pass."""
    (mode,) = parse_modes(one.way, has_draft=one.way == "auto")
    draft = args.draft if one.way == "auto" else None
    with own_home(args.user) as env:
        watched = supervisor(args.target, draft, group.prefix(args.user), env)
        async with engine(watched) as own:
            while not (await own.state()).engine:  # noqa: ASYNC110 - the worker's process, which has no event
                await asyncio.sleep(0.1)
            assert watched.endpoint is not None
            pid = watched.endpoint.pid
            before = group.held()
            one.planned = planned(args.target, draft, args.context, group.left())
            await load(own, LoadOptions(n_ctx=args.context, threads=args.threads, strict=False), draft=bool(draft))
            for prompt in prompts:
                request = reply_request(prompt, _GREEDY, args.tokens, False, mode.speculation)
                run = await collect(_watched(own.reply(request, new_job()), pid, one), one.way, prompt, _GREEDY)
                _keep(one, run)
            one.held = group.held() - before  # in case that it does not survive the next
            try:
                async with asyncio.timeout(_FILLED):
                    await fill(own, args.context, draft=bool(draft))
                one.held = group.held() - before
            except TimeoutError:
                one.failed = f"a text as long as the context was not read within {_FILLED} s; "
                one.held = group.held() - before


async def _watched(events: AsyncIterator[ReplyEvent], pid: int, one: Pass) -> AsyncIterator[ReplyEvent]:
    """The same events; what was read from disk between the first text and the end is added up."""
    began = None
    async for event in events:
        if isinstance(event, Delta) and began is None:
            began = time.perf_counter(), read_bytes(pid)
        if isinstance(event, Finished) and began is not None:
            one.seconds += time.perf_counter() - began[0]
            one.read += read_bytes(pid) - began[1]
        yield event


async def theirs(args: argparse.Namespace, group: Cap, one: Pass, prompts: Sequence[Prompt]) -> None:
    """llama-server's pass."""
    flags = ["-m", str(args.target), "-t", str(args.threads), "-c", str(args.context), *args.flags.split()]
    if (drafted := THEIRS[one.way]) is not None:
        flags += ["-md", str(args.draft), "--spec-type", "draft-simple", "--spec-draft-n-max", str(drafted)]
    with llama_server(args.server, flags, group.prefix(args.user)) as (url, _):
        peer = Peer(one.way, url, args.tokens)
        try:
            for prompt in prompts:
                _keep(one, await peer.answer(prompt, _GREEDY))
                one.held = max(one.held, group.held())
        finally:
            await peer.close()


def _keep(one: Pass, run: Run) -> None:
    run.repeat = one.number
    one.runs.append(run.to_json())
    rate = 1e3 * max(0, run.timings.predicted_n - 1) / max(1.0, run.timings.predicted_ms)
    print(f"  {one.way:12} {run.prompt.id:22} {run.timings.predicted_n:4} tokens, {rate:6.3f} tok/s", flush=True)


def make(args: argparse.Namespace, way: str, number: int, prompts: Sequence[Prompt]) -> Pass:
    """One pass, in a cap of its own; a failure is kept too, as it is a result."""
    one = Pass(way, number, disk=disk_rate(args.target))
    with cap(args.memory) as group:
        drop_page_cache()
        try:
            asyncio.run((ours if way in OURS else theirs)(args, group, one, prompts))
        except EngineError as error:
            one.failed = error.message
            print(f"  {way:12} failed: {error.message}")
        one.killed = group.killed()
    one.disk = (one.disk + disk_rate(args.target)) / 2  # disks of rented machines slow down once much was read
    return one


def order(ways: Sequence[str], rounds: int) -> Iterator[tuple[int, str]]:
    """(round, way): forwards and backwards in turn, so that a machine that drifts favours nobody."""
    for number in range(rounds):
        yield from ((number, way) for way in ways[:: -1 if number % 2 else 1])


# -- judging


def bars(passes: Sequence[Pass]) -> Iterator[Bar]:
    """Speeds beside llama-server's."""
    runs = runs_of(record for one in passes for record in one.runs)
    yield from list(best_of(runs, peers(runs), 1.5, enough=0))[-1:]
    for mode, least in (("auto", 4.5), ("plain", 1.3)):
        yield Bar(f"{ALL}: {mode} / {PEER}plain, generation", compare(runs, f"{PEER}plain", mode), least)


def facts(passes: Sequence[Pass]) -> Iterator[str]:
    """Each way over its passes."""
    for way in dict.fromkeys(one.way for one in passes):
        own = [one for one in passes if one.way == way]
        timings = [run.timings for run in runs_of(record for one in own for record in one.runs)]
        ms = sum(t.predicted_ms for t in timings)
        rate = 1e3 * sum(max(0, t.predicted_n - 1) for t in timings) / ms if ms else 0.0
        line = f"{way:12} {rate:6.3f} tok/s, {len(timings)} replies, {max(one.held for one in own) / 1e6:,.0f} MB held"
        if way in OURS and (worst := memory_off(own)) is not None:
            line += f", {worst:+.1%} beside the plan (bar 3 %); "
            line += f"disk of {max(one.disk for one in own) / 1e9:.2f} GB/s used for {disk_share(own):.2f} (bar 0.85)"
        line += f"; ended for want of memory: {sum(one.killed for one in own)}"
        yield line + "".join(f"; failed: {one.failed}" for one in own if one.failed)


def memory_off(passes: Sequence[Pass]) -> float | None:
    """The largest share by which a pass held more (or less) than was planned; None where none came so far."""
    found = [one.held / one.planned - 1 for one in passes if one.planned and one.held]
    return max(found, key=abs, default=None)


def disk_share(passes: Sequence[Pass]) -> float:
    """Bytes read, of those that the disk could have read in the time."""
    could = sum(one.seconds * one.disk for one in passes)
    return sum(one.read for one in passes) / could if could else 0.0


# -- the command


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="capped", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("server", "target", "draft", "prompts", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--memory", type=whole(64), required=True, metavar="MB")
    parser.add_argument("--user", type=whole(1), metavar="UID", help="not as root")
    parser.add_argument("--part", type=part, default=(1, 6), metavar="I/N", help="of the prompts (default: 1/6)")
    parser.add_argument("--rounds", type=whole(1), default=2)
    parser.add_argument("--tokens", type=whole(2), default=32)
    parser.add_argument("--threads", type=whole(1), default=2)
    parser.add_argument("--context", type=whole(512), default=2048)
    parser.add_argument("--flags", default="", help="further ones of llama-server, such as --flags=--no-repack")
    parser.add_argument("--only", nargs="+", choices=[*OURS, *THEIRS], default=[*OURS, *THEIRS])
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    end_in_order()
    who = "root" if args.user is None else "user"
    try:
        prompts = part_of(load_prompts(args.prompts), args.part)
        for number, way in order(args.only, args.rounds):
            file = args.out / f"{who}-{number + 1}-{way}.json"
            if not file.exists():
                print(f"round {number + 1}, {way}", flush=True)
                write_whole(file, json.dumps(asdict(make(args, way, number, prompts))).encode())
    except EngineError as error:
        sys.stderr.write(f"capped: {error.message}\n")
        return 1
    passes = [Pass(**json.loads(file.read_bytes())) for file in sorted(args.out.glob(f"{who}-*.json"))]
    for line in facts(passes):
        print(line)
    return show(bars(passes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
