"""``tandem bench``: ways of decoding side by side, interleaved, as a table and as JSON."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.bench import streamed
from backend.bench.clairvoyant import Bound, Reached, bound_of, reached
from backend.bench.modes import Mode, baseline, parse_modes
from backend.bench.peers import Peer, parse_peer
from backend.bench.record import facts, record
from backend.bench.report import summarise
from backend.bench.runner import Contestant, OwnMode, Run, measure, warm_up
from backend.bench.sweep import Best, best_fixed, sweep_modes
from backend.bench.words import differences, lines, verdict
from backend.bench.workloads import WORKLOADS, Prompt, load_prompts, part_of
from backend.cli import complain, progress, version
from backend.cli_pair import PairChoice, add_pair_options, choose_pair, temperature, whole
from backend.cli_session import Session
from backend.client import EngineClient
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import split_parts
from backend.library.library import Library
from backend.outputs import checked, write_whole
from backend.protocol import CostTable, Sampling, State
from backend.wire import to_bytes

_INTERRUPTED = 130
_SOON = 2.0
"""Seconds."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``bench``."""
    bench = subparsers.add_parser(
        "bench",
        help="measure ways of decoding side by side",
        epilog="Modes: plain, auto, fixed:N, draft, lookup, lookup+draft, the last three also with :N; @rejection "
        "changes the rule, #2 makes another mode of the same (plain,plain#2 states the noise). See docs/benchmarks.md.",
    )
    add_pair_options(bench)
    asked = bench.add_mutually_exclusive_group(required=True)
    asked.add_argument("--prompts", type=Path, metavar="FILE", help="JSON Lines: id, category, turns")
    asked.add_argument(
        "--workload",
        choices=sorted(WORKLOADS),
        help="built-in prompts; three: refactor, explain, tell a story; streamed: answers of 4 and 8 tokens, for a "
        "target larger than the memory",
    )
    bench.add_argument(
        "--max-tokens", type=whole(2), metavar="N", help="tokens a reply (default: 64; of the workload three 256)"
    )
    bench.add_argument(
        "--modes", help=f"comma-separated (default: plain,auto; of the workload streamed {streamed.MODES})"
    )
    bench.add_argument("--repeats", type=whole(1), default=1, metavar="R", help="rounds over all prompts (default: 1)")
    bench.add_argument("--temperature", type=temperature, default=0.0, metavar="T", help="default: 0, greedy")
    bench.add_argument("--seed", type=whole(0, 2**62), default=0, metavar="N", help="default: 0")
    bench.add_argument("--rule", choices=("coupled", "rejection"), default="coupled", help="default: coupled")
    bench.add_argument("--ignore-eos", action="store_true", help="every reply has --max-tokens tokens")
    bench.add_argument("--limit", type=whole(1), metavar="N", help="only the first N prompts of each category")
    bench.add_argument(
        "--part", type=part, metavar="I/N", help="only every Nth prompt, from the Ith on: a long run in several"
    )
    bench.add_argument(
        "--turns",
        choices=("first", "all"),
        default="first",
        help="all: also the later turns of a file's prompts, each after plain's replies (default: first)",
    )
    bench.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=URL",
        help="another server in the same run; may be repeated",
    )
    bench.add_argument("--warm", action="store_true", help="with the workload streamed: leave the page cache as it is")
    bench.add_argument("--sweep", action="store_true", help="add every fixed length and name the best of each category")
    bench.add_argument("--json", type=Path, metavar="OUT", help="write every run to this file")
    bench.add_argument("--html", type=Path, metavar="OUT", help="write the report as a page with plots")
    bench.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """The command."""
    args.short = args.workload == "streamed"
    every = args.turns == "all"
    asked = WORKLOADS[args.workload] if args.workload else load_prompts(args.prompts, all_turns=every)
    prompts = _limited(part_of(streamed.questions(args.max_tokens) if args.short else asked, args.part), args.limit)
    args.max_tokens = args.max_tokens or (256 if args.workload else 64)
    args.modes = args.modes or (streamed.MODES if args.short else "plain,auto")
    choice = choose_pair(args.target, args.draft)
    args.bound = choice.draft is not None and args.temperature == 0.0 and not args.short
    modes = parse_modes(args.modes, has_draft=choice.draft is not None, rule=args.rule)
    if args.sweep:
        known = {mode.name for mode in modes}
        modes += [mode for mode in sweep_modes(choice.draft is not None, args.rule) if mode.name not in known]
    peers = [parse_peer(text, args.max_tokens, args.ignore_eos) for text in args.peer]
    names = [mode.name for mode in modes] + [peer.name for peer in peers]
    if len(set(names)) < len(names):
        raise EngineError(ErrorCode.BAD_REQUEST, "A peer has the name of another mode; give each a name of its own.")
    if every and baseline(names) is None:
        raise EngineError(
            ErrorCode.BAD_REQUEST, "Later turns are asked after plain's replies; add plain to --modes for --turns all."
        )
    for note in choice.notes:
        complain(note)
    outputs = [path for path in (args.json, args.html) if path is not None]
    with checked(outputs, [] if args.workload else [args.prompts]):
        return _run(args, prompts, choice, modes, peers)


def _run(
    args: argparse.Namespace, prompts: Sequence[Prompt], choice: PairChoice, modes: Sequence[Mode], peers: list[Peer]
) -> int:
    sampling = Sampling(temperature=args.temperature, seed=args.seed)
    runs: list[Run] = []
    bounded: list[tuple[Run, Bound]] = []
    code = 0
    with Session(choice.files, keeps=True) as session:
        state = session.load(choice.load_request(args, settle=True))
        own = [OwnMode(session.client, mode, args.max_tokens, args.ignore_eos) for mode in modes]
        cold = _cold(args, choice)
        try:
            session.run(_measure(args, prompts, own, peers, sampling, runs, bounded, cold))
        except EngineError as error:
            if error.code is not ErrorCode.CANCELLED:
                raise
            code = _INTERRUPTED
        finally:  # however it ended, what was measured so far is worth keeping
            _keep(args, _latest(session, state), runs, reached(runs, bounded))
    return code


def _keep(args: argparse.Namespace, state: State, runs: Sequence[Run], bounds: Sequence[Reached]) -> None:
    """Write and show what was measured; first the file, as a closed pipe may end the showing."""
    best, options = _best(args, runs), _options(args)
    try:
        if args.json is not None and runs:  # else what an earlier run left there stays
            write_whole(args.json, to_bytes(record(runs, state, options, version(), best, bounds)))
        if args.html is not None and runs:
            from backend.bench.html import page  # matplotlib takes a second to import

            costs = (state.cost or CostTable()).target
            head = verdict(summarise(runs), pair=state.draft is not None)
            text = page(runs, facts(state, options, version()), costs, best, bounds, verdict=head)
            write_whole(args.html, text.encode())
    finally:  # a disk that filled up meanwhile must not take the table too
        short = itertools.chain(streamed.table(runs), differences(runs)) if args.short and runs else ()
        for line in short or (lines(runs, best, bounds) if runs else ()):
            print(line)


def _latest(session: Session, state: State) -> State:
    """With the costs as measured by now, if the worker still answers, and soon: nothing is written yet."""

    async def ask() -> State:
        async with asyncio.timeout(_SOON):
            return await session.client.state()

    try:
        return session.run(ask())
    except (EngineError, TimeoutError):
        return state


def _best(args: argparse.Namespace, runs: Sequence[Run]) -> list[Best]:
    return best_fixed(runs, [mode.name for mode in sweep_modes(True)]) if args.sweep else []


def _options(args: argparse.Namespace) -> dict[str, Any]:
    return {
        "prompts": args.workload or args.prompts.name,
        "sweep": args.sweep,
        "part": "/".join(map(str, args.part)) if args.part else None,
        "limit": args.limit,
        "turns": args.turns,
        "max_tokens": args.max_tokens,
        "modes": args.modes,
        "repeats": args.repeats,
        "temperature": args.temperature,
        "seed": args.seed,
        "rule": args.rule,
        "ignore_eos": args.ignore_eos,
        "warm": args.warm,
        "cheaper_draft": args.cheaper_draft,
        "peers": args.peer,
    }


async def _measure(
    args: argparse.Namespace,
    prompts: Sequence[Prompt],
    own: Sequence[OwnMode],
    peers: Sequence[Peer],
    sampling: Sampling,
    runs: list[Run],
    bounded: list[tuple[Run, Bound]],
    cold: Sequence[Path],
) -> None:
    contestants: list[Contestant] = [*own, *peers]
    if args.short:
        contestants = [*(streamed.Cold(one, cold, one.client) for one in own), *(streamed.Cold(p, cold) for p in peers)]
    total = sum(1 + len(prompt.later) for prompt in prompts) * len(contestants) * args.repeats
    replies = f"{total} {'reply' if total == 1 else 'replies'}"
    if not sys.stderr.isatty():
        complain(f"{replies}; the table follows at the end.")
    try:
        progress(replies if args.short else f"warming up, then {replies}")
        for one in () if args.short else own:
            await warm_up(one.client, prompts[0], sampling, one.mode.speculation)
        for peer in () if args.short else peers:
            await peer.warm_up(prompts[0], sampling)
        async for one_run in measure(prompts, contestants, args.repeats, sampling):
            runs.append(one_run)
            if (client := _to_bound(args, own, one_run)) is not None:
                bounded.append((one_run, await bound_of(client, one_run)))
            progress(f"{len(runs)}/{total} {one_run.prompt.id} {one_run.mode}")
    finally:
        progress("")
        for peer in peers:
            with contextlib.suppress(EngineError):
                await peer.close()


def _to_bound(args: argparse.Namespace, own: Sequence[OwnMode], run: Run) -> EngineClient | None:
    """Greedy replies of auto with a draft have a bound: its reading of them tells which guesses stand."""
    return own[0].client if args.bound and run.mode == "auto" and run.repeat == 0 else None


def _cold(args: argparse.Namespace, choice: PairChoice) -> list[Path]:
    """Files of the models that each reply is to read anew from disk; none where the page cache stays as it is."""
    if not args.short or args.warm:
        return []
    named = [name for name in (choice.target, choice.draft) if name is not None]
    files = [path for name in named for path in split_parts(choice.files.get(name) or Library().resolve(name))]
    complain(f"The page cache is {streamed.drop_page_cache(files)}.")
    return files


def part(text: str) -> tuple[int, int]:
    """An argparse type: ``I/N``, with I from 1 to N."""
    which, _, of = text.partition("/")
    if not (which.isdecimal() and of.isdecimal() and 1 <= int(which) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 1/3, the first of three")
    return int(which), int(of)


def _limited(prompts: Sequence[Prompt], limit: int | None) -> list[Prompt]:
    kept: dict[str, list[Prompt]] = {}
    for prompt in prompts:
        group = kept.setdefault(prompt.category, [])
        if limit is None or len(group) < limit:
            group.append(prompt)
    return [prompt for prompt in prompts if prompt in kept[prompt.category]]
