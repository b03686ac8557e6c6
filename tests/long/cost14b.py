"""Real text at the cost of a 14B: a file of Qwen2.5 14B's shape that computes what the starter target does.

python -m tests.long.cost14b OUT.gguf [--exact] [--source SOURCE.gguf]

OUT.gguf (9 GB) is written unless it is there, then its top choices are compared with the source's over some texts.
SOURCE.gguf is the starter target unless named. How it is made: tests/long/widen.py. At this width the norms round
differently, which decides between choices that lie near each other, as another batch size does; --exact takes the
nearest shape whose width is four times the source's, where every bit is the source's. Exit code 1 where more differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from backend.bench.workloads import DEMO, THREE
from backend.engine import native
from backend.engine.cancel import CancelFlag
from backend.engine.load import load_target
from backend.errors import EngineError
from backend.library.library import Library
from backend.protocol import LoadOptions
from backend.text import shown_size
from tests.long.widen import Shape, UnfitError, widen

NAME = "1.5B text at 14B cost"
QWEN_14B = Shape(layers=48, width=5120, heads=40, kv_heads=8, ffn=13824)
"""Qwen2.5 14B. Its 128 rows of tokens that no text has are left out."""
EXACT = Shape(layers=38, width=6144, heads=48, kv_heads=8, ffn=13824)
"""As many weights."""
LEAD = 0.1
NEAR_TIE = 0.5
"""Choices that lead by up to 0.27 were seen to turn with the size of a batch."""
_TOKENS = 64
"""Of each text: the most rows of one pass."""


def choices(model: Path, texts: list[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Top choice and its lead over the second, at every position of the texts."""
    native.install_log(lambda _level, _text: None)
    loaded = load_target(model, model.stem, LoadOptions(n_ctx=256, strict=False), lambda *_: None, CancelFlag())
    try:
        sequence, tops, leads = loaded.context.sequence(), [], []
        for text in texts:
            sequence.clear()
            rows = sequence.decode(loaded.vocab.tokenize(text, parse_special=False)[:_TOKENS])
            best = np.sort(np.partition(rows, -2, axis=1)[:, -2:], axis=1)
            tops.append(rows.argmax(axis=1))
            leads.append(best[:, 1] - best[:, 0])
    finally:
        loaded.close()
    return np.concatenate(tops), np.concatenate(leads)


def compare(source: Path, wide: Path) -> float:
    """Print how far the two agree; the largest lead of a choice that differs."""
    texts = [prompt.text for prompt in (*DEMO, *THREE)]
    (own, lead), (others, other_lead) = choices(source, texts), choices(wide, texts)
    differ, clear = own != others, lead > LEAD
    worst = float(lead[differ].max(initial=0.0))
    print(
        f"{len(own)} positions. Where the first choice leads by more than {LEAD}, {(differ & clear).sum()} of "
        f"{clear.sum()} differ, elsewhere {(differ & ~clear).sum()} of {(~clear).sum()}. Largest lead of one that "
        f"differs: {worst:.3f}. Leads move by {np.abs(lead - other_lead).max():.3f} at most."
    )
    return worst


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="cost14b", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, metavar="OUT.gguf")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--source", type=Path, metavar="SOURCE.gguf")
    args = parser.parse_args(arguments)
    try:
        source = args.source or Library().resolve(Library().starter().target)
        if not args.out.exists():
            began = time.monotonic()
            widen(source, args.out, EXACT if args.exact else QWEN_14B, NAME)
            print(f"wrote {args.out}, {shown_size(args.out.stat().st_size)}, in {time.monotonic() - began:.0f} s")
        worst = compare(source, args.out)
    except (EngineError, UnfitError, OSError) as error:
        sys.stderr.write(f"cost14b: {error}\n")
        return 1
    return 1 if worst > (0.0 if args.exact else NEAR_TIE) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
