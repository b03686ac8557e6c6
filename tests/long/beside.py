"""Plain and automatic decoding beside llama-server under several flag sets, in one interleaved run.

beside.py compute-bound|memory-bound --server LLAMA_SERVER --target T --draft D --prompts FILE --out DIR [--part I/N] …

A server is started for each flag set of the table and computes only while it is asked; weights of types that are not
repacked (BF16) are mapped once for all of them. All ours and all theirs answer each prompt in turn. The run is kept in
DIR; then the bars (bars.py) are printed over all runs in DIR. So a long run can be made in parts, in any order and at
any time: --part 1/3, 2/3 and 3/3 are a repeat of all prompts, and the same again are another.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from backend.cli import main as tandem
from backend.cli_bench import part
from backend.cli_pair import whole
from backend.errors import EngineError
from tests.long.bars import PEER, judge
from tests.long.llama_server import end_in_order, llama_server

DRAFT = "-md {draft} --spec-type draft-simple"
NGRAM = "--spec-ngram-simple-size-n {} --spec-ngram-simple-size-m {}"
SETS: dict[str, dict[str, str]] = {
    "compute-bound": {
        "plain": "",
        "draft3": DRAFT,
        "ngram-mod": "--spec-type ngram-mod",
        "ngram-6-15": f"--spec-type ngram-simple {NGRAM.format(6, 15)}",
    },
    "memory-bound": {
        "plain": "",
        "draft3": DRAFT,
        "draft8": f"{DRAFT} --spec-draft-n-max 8 --spec-draft-p-min 0.6",
        "ngram-3-8": f"--spec-type ngram-simple {NGRAM.format(3, 8)}",
        "ngram-draft4": "-md {draft} --spec-type ngram-simple,draft-simple "
        f"{NGRAM.format(6, 12)} --spec-draft-n-max 4 --spec-draft-p-min 0.5",
    },
}
"""llama-server's flag sets beside which each rig is measured."""


def flags(text: str, target: str, draft: str, context: int, threads: int) -> list[str]:
    """A flag set of the table as arguments."""
    common = ["-m", target, "-t", str(threads), "-c", str(context)]
    return [*common, *(word.format(draft=draft) for word in text.split())]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="beside", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rig", choices=list(SETS))
    for name in ("server", "target", "draft", "prompts", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--part", type=part, metavar="I/N")
    parser.add_argument("--limit", type=whole(1))
    parser.add_argument("--tokens", type=whole(2), default=96)
    parser.add_argument("--repeats", type=whole(1), default=1)
    parser.add_argument("--threads", type=whole(1), default=2)
    parser.add_argument("--context", type=whole(512), default=8192)
    parser.add_argument("--modes", default="plain,plain#2,auto")
    parser.add_argument("--only", nargs="+", metavar="SET", help="flag sets of the table")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    end_in_order()
    try:
        code = measure(args)
    except EngineError as error:
        sys.stderr.write(f"beside: {error.message}\n")
        return 1
    found = sorted(args.out.glob("*.json"))
    return code or judge(args.rig, found, table=len(found) > 1)


def measure(args: argparse.Namespace) -> int:
    """One run into the folder; the benchmark's own exit code."""
    own = ["--target", str(args.target), "--draft", str(args.draft), "--context", str(args.context)]
    own += ["--threads", str(args.threads), "--modes", args.modes, "--prompts", str(args.prompts)]
    own += ["--max-tokens", str(args.tokens), "--repeats", str(args.repeats)]
    own += ["--json", str(args.out / f"{datetime.now():%Y%m%d-%H%M%S}.json")]
    if args.part:
        own += ["--part", "{}/{}".format(*args.part)]
    if args.limit:
        own += ["--limit", str(args.limit)]
    with ExitStack() as servers:
        for name, text in SETS[args.rig].items():
            if args.only and name not in args.only:
                continue
            argv = flags(text, str(args.target), str(args.draft), args.context, args.threads)
            url, _ = servers.enter_context(llama_server(args.server, argv))
            own += ["--peer", f"{PEER}{name}={url}"]
        return tandem(["bench", *own])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
