"""Strict mode beside the usual one: two workers in one interleaved run, so that its texts and its cost are known.

strict.py --target T --draft D --prompts FILE --out DIR [--part I/N] [--tokens N] [--temperature T]

"plain" and "auto" are the strict worker's, "free" is auto in a worker that is not strict. All answer each prompt in
turn. The run is kept in DIR; then the bar is printed over all runs in DIR, and the table: what strict costs is auto's
ratio beside free's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from backend.bench.modes import Mode
from backend.bench.runner import OwnMode, Run, measure, warm_up
from backend.bench.workloads import load_prompts, part_of
from backend.cli_bench import part
from backend.cli_pair import temperature, whole
from backend.errors import EngineError
from backend.outputs import write_whole
from backend.protocol import LoadOptions, Sampling, Speculation
from tests.long.bars import judge
from tests.long.engines import engine, load, supervisor

_PLAIN, _AUTO = Mode("plain", Speculation(enabled=False)), Mode("auto", Speculation())


async def measured(args: argparse.Namespace, runs: list[Run]) -> None:
    """Fill ``runs``; how far it came is told."""
    prompts = part_of(load_prompts(args.prompts), args.part)
    sampling = Sampling(temperature=args.temperature, seed=0)
    options = LoadOptions(n_ctx=args.context, threads=args.threads, strict=True)
    async with (
        engine(supervisor(args.target, args.draft)) as strict,
        engine(supervisor(args.target, args.draft)) as free,
    ):
        state = await load(strict, options, draft=True)
        print(f"strict: passes of up to {state.exact_rows} tokens are exact", flush=True)
        await load(free, options.model_copy(update={"strict": False}), draft=True)
        modes = [(strict, _PLAIN), (strict, _AUTO), (free, replace(_AUTO, name="free"))]
        own = [OwnMode(client, mode, args.tokens) for client, mode in modes]
        for one in own:
            await warm_up(one.client, prompts[0], sampling, one.mode.speculation)
        async for run in measure(prompts, own, args.repeats, sampling):
            runs.append(run)
            sys.stderr.write(f"\r{len(runs)}/{len(prompts) * len(own) * args.repeats}\033[K")
    sys.stderr.write("\n")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="strict", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("target", "draft", "prompts", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--part", type=part, metavar="I/N")
    parser.add_argument("--tokens", type=whole(2), default=96)
    parser.add_argument("--repeats", type=whole(1), default=1)
    parser.add_argument("--threads", type=whole(1), default=2)
    parser.add_argument("--context", type=whole(512), default=8192)
    parser.add_argument("--temperature", type=temperature, default=0.0)
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    try:
        asyncio.run(measured(args, runs))
    except (EngineError, KeyboardInterrupt) as error:
        sys.stderr.write(f"strict: {error.message if isinstance(error, EngineError) else 'stopped'}\n")
    finally:  # however it ended, what was measured is worth keeping
        if runs:
            record = {"runs": [run.to_json() for run in runs]}
            write_whole(args.out / f"{datetime.now():%Y%m%d-%H%M%S}.json", json.dumps(record).encode())
    return judge("strict", sorted(args.out.glob("*.json"))) if runs else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
