"""Trees of drafts against chains, on a target read from disk: the product's own loop, both ways in turn.

trees.py --target … --draft … --prompts FILE --memory MB [--every N] [--tokens N] [--temperature T] [--source draft]

As much of the target is read from disk in every pass as the plan says for so much memory; that much is not taken from
the machine, so nothing else is short of it. Each prompt is answered by chains and by trees, which learn apart.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from backend.bench.workloads import load_prompts
from backend.cli_pair import whole
from backend.engine import native
from backend.library.gguf import read_model
from backend.plan.machine import machine
from backend.plan.needs import of_file
from backend.plan.plan import plans
from backend.plan.request import request_for
from backend.protocol import LoadOptions, Sampling, Speculation, Timings
from backend.speculation.policy import Policy
from tests.engine.rig import first_difference, pair, say

_CONTEXT = 2048
Way = Callable[[], AbstractContextManager[Any]]
WAYS: dict[str, Way] = {
    "chains": lambda: patch.object(Policy, "_branches", lambda *_: False),
    "trees": nullcontext,
}


def from_disk(target: Path, draft: Path, megabytes: int) -> int:
    """Bytes of the target that do not fit beside the draft into so much memory."""
    large, small = (of_file(read_model([path])) for path in (target, draft))
    request = request_for(LoadOptions(n_ctx=_CONTEXT), large, small)
    return max(plan.streamed for plan in plans(request, machine(megabytes * 1_000_000)))


def counted(t: Timings) -> np.ndarray:
    """Tokens, milliseconds, passes, tokens checked, and milliseconds of drafting and of passes."""
    return np.array([t.predicted_n - 1, t.predicted_ms, t.passes, t.verified + t.beside, t.draft_ms, t.verify_ms])


def race(args: argparse.Namespace) -> None:
    """Print each reply, and what both came to."""
    native.install_log(lambda _level, _text: None)
    streamed = from_disk(args.target, args.draft, args.memory)
    prompts = load_prompts(args.prompts)[:: args.every]
    sampling, wanted = Sampling(temperature=args.temperature, seed=7), Speculation(source=args.source)
    sums = {way: np.zeros(6) for way in WAYS}
    with pair(args.target, args.draft, n_ctx=_CONTEXT, threads=args.threads, streamed=streamed) as both:
        print(f"{both.target.info.streamed / 1e9:.1f} GB from disk in each pass")
        for i, prompt in enumerate(prompts):
            replies = {}
            for way in list(WAYS)[:: 1 if i % 2 else -1]:
                with WAYS[way]():
                    more = {"max_tokens": args.tokens, "sampling": sampling, "speculation": wanted, "learner": way}
                    replies[way] = say(both, prompt.text, reuse_cache=False, **more)
                figures = counted(replies[way].end.timings)
                sums[way] += figures
                print(f"{prompt.id:20} {way:7} {_line(figures)}", flush=True)
            at = first_difference(*replies.values())
            if at is not None:
                print(f"{'':20} differ at {at}, lead {min(r.margins[at] for r in replies.values()):.3f}")
        print("a pass, ms:", {n: round(ms) for n, ms in both.costs.table().items()})
    for way, figures in sums.items():
        print(f"{'all':20} {way:7} {_line(figures)}")


def _line(figures: np.ndarray) -> str:
    tokens, ms, passes, checked, drafting, verifying = figures
    return (
        f"{1e3 * tokens / ms:6.3f} tok/s, {tokens / passes:5.2f} a pass, {checked / passes:5.1f} checked, "
        f"{drafting / passes:5.0f} ms of drafts and {verifying / passes:5.0f} ms a pass"
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="trees", description="Trees of drafts against chains.")
    for name in ("target", "draft", "prompts"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--memory", type=whole(1), required=True, metavar="MB")
    parser.add_argument("--every", type=whole(1), default=6)
    parser.add_argument("--tokens", type=whole(2), default=32)
    parser.add_argument("--threads", type=whole(1), default=2)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--source", choices=("draft", "auto"), default="auto")
    race(parser.parse_args(arguments))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
