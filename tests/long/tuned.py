"""What 'tandem tune' promises of drafts against what they give: predicted and measured speed-up of generation.

tuned.py --target T --drafts D,E,F --prompts FILE [--part I/N] [--tokens N]

The target answers each prompt plainly. Each draft in turn is loaded and reads the answers, as 'tandem tune' has it;
then drafts of the best length that it promises, and plain decoding, answer the same prompts in turn. Exit code 1 where
a prediction is off by more than 15 %.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from backend.bench.modes import parse_modes
from backend.bench.report import Ratio, compare
from backend.bench.runner import OwnMode, measure, warm_up
from backend.bench.tune import Failed, try_drafts
from backend.bench.workloads import Prompt, load_prompts, part_of
from backend.chats import Reply
from backend.cli_bench import part
from backend.cli_pair import whole
from backend.client import ManagedEngine
from backend.errors import EngineError
from backend.forecast import Forecast
from backend.protocol import LoadOptions, Sampling
from backend.supervisor import Supervisor
from tests.long.engines import engine, load

NEAR = 0.15
"""How far off a prediction may be."""
_GREEDY = Sampling(temperature=0.0, seed=0)


def line(found: Forecast, length: int, ratio: Ratio | None) -> tuple[str, bool]:
    """What was promised and given, and whether they are near each other."""
    promised = found.speedups[length]
    off = promised / ratio.value - 1 if ratio is not None else float("inf")
    good = abs(off) <= NEAR
    text = f"{found.draft:28} {found.acceptance:6.1%} accepted, a step {found.step:.2f} of a pass; drafts of {length}: "
    return f"{text}{promised:.3f} promised, {ratio or '-'} measured, {off:+.1%} {'met' if good else 'NOT met'}", good


async def run(args: argparse.Namespace) -> bool:
    """Whether all are near."""
    prompts = part_of(load_prompts(args.prompts), args.part)
    drafts = {path.stem: path for path in map(Path, args.drafts.split(","))}
    async with engine(Supervisor({"target": args.target} | drafts)) as own:
        await load(own, LoadOptions(n_ctx=args.context, threads=args.threads), draft=False)
        answers = await _answers(own, prompts, args.tokens)
        good = True
        for name in drafts:
            good &= await _try(own, name, answers, prompts, args)
    return good


async def _answers(own: ManagedEngine, prompts: Sequence[Prompt], tokens: int) -> list[Reply]:
    (plain,) = (OwnMode(own, mode, tokens) for mode in parse_modes("plain", has_draft=False))
    found = [await plain.answer(prompt, _GREEDY) for prompt in prompts]
    return [Reply(one.prompt.messages, tuple(one.tokens)) for one in found if one.tokens]


async def _try(
    own: ManagedEngine, name: str, answers: Sequence[Reply], prompts: Sequence[Prompt], args: argparse.Namespace
) -> bool:
    async for step in try_drafts(own, [name], answers):
        if isinstance(step, Failed):
            print(f"{name}: {step.why}")
            return False
        if isinstance(step, Forecast):
            found = step
    # where none pays, the length that loses least is as good a promise as any
    length = found.best or max(found.speedups, key=lambda k: found.speedups[k])
    modes = parse_modes(f"plain,draft:{length}", has_draft=True)
    ways = [OwnMode(own, mode, args.tokens, series=name) for mode in modes]
    for way in ways:
        await warm_up(own, prompts[0], _GREEDY, way.mode.speculation)
    runs = [one async for one in measure(prompts, ways, args.repeats, _GREEDY)]
    text, good = line(found, length, compare(runs, "plain", f"draft:{length}"))
    print(text, flush=True)
    return good


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="tuned", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", type=Path, required=True)
    parser.add_argument("--drafts", required=True, metavar="FILE,FILE,…")
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--part", type=part, metavar="I/N")
    parser.add_argument("--tokens", type=whole(2), default=96)
    parser.add_argument("--repeats", type=whole(1), default=1)
    parser.add_argument("--threads", type=whole(1), default=2)
    parser.add_argument("--context", type=whole(512), default=8192)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as home:  # nothing learnt earlier, nothing kept
        os.environ["TANDEM_HOME"] = home
        try:
            return 0 if asyncio.run(run(args)) else 1
        except EngineError as error:
            sys.stderr.write(f"tuned: {error.message}\n")
            return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
