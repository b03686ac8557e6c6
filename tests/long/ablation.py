"""What each part of the automatic choice earns: real replies replayed without it, at measured costs.

ablation.py record --target … --draft … --prompts FILE --out RECORD
ablation.py replay RECORD …

Recording takes the target's greedy replies, at each of their tokens the draft's first choice and its margin, and what
passes cost here. Replaying runs the product's own sources and policy over them: a round's outcome follows from the
record, its time from the costs. So parts that differ by half a percent can be told apart, which no clock here can do.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from backend.bench.workloads import load_prompts
from backend.cli_pair import whole
from backend.equations import LONGEST
from backend.protocol import Message, Speculation
from backend.speculation import calibration, losses, policy
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.contracts import SMALL_READ
from backend.speculation.cost import PassCosts
from backend.speculation.policy import Policy
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import Draw
from tests.engine.rig import OFF, pair, say

Text = dict[str, Any]
_WRONG = 199_999
_HOST_MS = 1.0
_ORDERS = 4
_TYPICAL = 256

# -- recording


def record(args: argparse.Namespace) -> None:
    """Replies, hits, margins and costs, as JSON."""
    texts: list[Text] = []
    with pair(args.target, args.draft, n_ctx=4096, threads=args.threads) as both:
        for prompt in load_prompts(args.prompts):
            reply = say(both, prompt.text, max_tokens=args.max_tokens, speculation=OFF, reuse_cache=False)
            say(both, prompt.text, max_tokens=16, speculation=Speculation(length=random.randint(1, 15)))
            ids = both.target.template.prompt_tokens((Message(role="user", content=prompt.text),), {})
            texts.append({"id": prompt.id, "category": prompt.category, "prompt": ids} | _judged(both, ids, reply.ids))
            sys.stderr.write(f"\r{len(texts)} {prompt.id}\033[K")
        costs = {"target": both.costs.table(), "draft": both.draft_costs.table()}
    args.out.write_text(json.dumps({"texts": texts, "costs": costs, "max_tokens": args.max_tokens}))
    sys.stderr.write("\n")


def _judged(both: Any, prompt: Sequence[int], ids: Sequence[int]) -> Text:
    context = both.draft.context
    sequence = context.sequence()
    sequence.clear()
    rows = [sequence.read(prompt)[-1].copy()]
    for i in range(0, len(ids) - 1, context.max_rows):
        rows += [row.copy() for row in sequence.decode(ids[i : min(i + context.max_rows, len(ids) - 1)])]
    leads = [np.partition(row, -2)[-2:] for row in rows]
    return {
        "ids": list(ids),
        "hits": [int(row.argmax()) == token for row, token in zip(rows, ids, strict=True)],
        "margins": [float(first - second) for second, first in leads],
    }


# -- replaying


class Steady(PassCosts):
    """Costs that stay as recorded."""

    def __init__(self, table: dict[int, float]) -> None:
        super().__init__()
        for n, ms in table.items():
            super().observe(n, ms)

    def observe(self, n: int, ms: float) -> None: ...

    def enter(self, length: int) -> bool:
        return False


class Cache:
    """A draft's memory that counts what is read into it."""

    n_vocab, max_rows, room, branches = 200_000, 16, 1_000_000, 1

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.reads: list[int] = []

    @property
    def length(self) -> int:
        return len(self.tokens)

    def decode(self, tokens: Sequence[int]) -> np.ndarray:
        self.tokens += tokens
        self.reads.append(len(tokens))
        return np.zeros((len(tokens), 1), np.float32)

    def read(self, tokens: Sequence[int]) -> np.ndarray:
        return self.decode(tokens)[-1:]

    @property
    def most_rows(self) -> int:
        return self.max_rows

    def truncate(self, n: int) -> None:
        del self.tokens[n:]

    def keep(self, n: int) -> int:
        self.truncate(n)
        return self.length

    def mark(self) -> None: ...

    def clear(self) -> None:
        self.tokens.clear()


class Told:
    """The greedy rule's draft, from the record; off the reply's path it is sure of some wrong token."""

    name, may_drop = "greedy", True

    def __init__(self, text: Text) -> None:
        self._text = text
        self._start = len(text["prompt"])
        self._random = random.Random(text["id"])

    def draft(self, row: object, history: Sequence[int], position: int) -> Draw:
        i, ids = position - self._start, self._text["ids"]
        if 0 <= i < len(ids) and list(history[self._start : position]) == ids[:i]:
            token = ids[i] if self._text["hits"][i] else _WRONG
            return Draw(self._text["margins"][i], token)
        return Draw(self._random.choice(self._text["margins"]), _WRONG)


def replayed(rig: dict[str, Any], settings: Speculation, order: Sequence[int]) -> np.ndarray:
    """Milliseconds of (plain decoding, generation, the draft's reading of prompts), over all texts in this order."""
    counts, margins, length = BucketCounts(), MarginLogistic(), float(_TYPICAL)
    costs, draft_costs = Steady(rig["target"]), Steady(rig["draft"])
    sums = np.zeros(3)
    for index in order:
        text = rig["texts"][index]
        sums += _reply(text, rig["max_tokens"], settings, counts, margins, costs, draft_costs, length)
        length += 0.2 * (len(text["ids"]) - length)
    return sums


def _reply(
    text: Text,
    most: int,
    settings: Speculation,
    counts: BucketCounts,
    margins: MarginLogistic,
    costs: PassCosts,
    draft_costs: PassCosts,
    length: float,
) -> np.ndarray:
    start, whole_text = len(text["prompt"]), text["prompt"] + text["ids"]
    history = whole_text[: start + 1]
    cache = Cache()
    sources: list[Any] = [Lookup(counts, set())]
    sources.append(DraftModel(cache, Told(text), _WRONG + 1, set(), margins, draft_costs))  # type: ignore[arg-type]

    def rest() -> int:
        done = len(history) - start
        return min(start + most - len(history), max(32, done // 2, round(length) - done))

    chooser = Policy(lambda: settings, costs, rest, start)
    for source in sources:
        source.begin(history)
    ms = read_ms = 0.0
    while len(history) < len(whole_text):
        at = len(history)
        plan = chooser.plan(history, sources, start + most - at - 1)
        reading = aside = 0.0
        if plan.reading is not None:
            in_prompt = cache.length < start
            plan.reading.read(history, start if in_prompt else at - 1)
            reading, aside = (_spent(cache, draft_costs), 0.0) if in_prompt else (0.0, _spent(cache, draft_costs))
            if plan.reading.unseen(history) <= SMALL_READ:
                plan = chooser.plan(history, sources, start + most - at - 1)
        elif plan.following is not None:
            plan.following.follow(history)
            aside = _spent(cache, draft_costs)
        proposal = plan.source.propose(history, plan.k, plan.go_on) if plan.source else None
        tokens = proposal.tokens if proposal else []
        stood = 0
        while stood < len(tokens) and whole_text[at + stood : at + stood + 1] == [tokens[stood]]:
            stood += 1
        history += whole_text[at : at + stood + 1]
        step = costs.at(len(tokens) + 1) + _spent(cache, draft_costs) + aside + (_HOST_MS if plan.source else 0.0)
        for source in sources:
            source.truncate(at + stood)
            source.observe(history, at, proposal if proposal and proposal.source == source.name else None, stood)
        chooser.spent(step + reading, reading, len(history) - at)
        ms, read_ms = ms + step, read_ms + reading
    return np.array([(len(text["ids"]) - 1) * costs.at(1), ms, read_ms])


def _spent(cache: Cache, costs: PassCosts) -> float:
    reads, cache.reads = cache.reads, []
    return sum(costs.at(n) for n in reads)


# -- parts

Part = tuple[Callable[[], AbstractContextManager[Any]], Speculation]
_AUTO = Speculation()


def _without(owner: Any, name: str, stand_in: Any) -> Part:
    return (lambda: patch.object(owner, name, stand_in)), _AUTO


PARTS: dict[str, Part] = {
    "everything": (nullcontext, _AUTO),
    "no lookup": (nullcontext, Speculation(source="draft")),
    "no draft": (nullcontext, Speculation(source="lookup")),
    "no lean of a text": _without(calibration._Lean, "follow", lambda *_: None),
    "losses not remembered": _without(losses, "_LOST", 0.0),
    "first copies of any length": _without(losses, "_FIRST", LONGEST),
    "no margins": _without(MarginLogistic, "__call__", lambda self, _: self.mean),
    "no following": _without(policy, "_FOLLOW_SHARE", 0.0),
    "long prompts read without waiting": _without(policy, "_AT_ONCE", 10**9),
    "reading at once": _without(Policy, "_worth_reading", lambda *_: True),
    "passes held to cost alike": _without(Policy, "_pass", lambda self, _: self._target.at(1)),
    "fixed 3": (nullcontext, Speculation(source="draft", length=3)),
    "fixed 8": (nullcontext, Speculation(source="draft", length=8)),
}


def replay(args: argparse.Namespace) -> None:
    """A table of each record."""
    for path in args.records:
        _replay(path)


def _replay(path: Path) -> None:
    stored = json.loads(path.read_text())
    rig = {name: {int(n): ms for n, ms in table.items()} for name, table in stored["costs"].items()}
    rig |= {"texts": stored["texts"], "max_tokens": stored["max_tokens"]}
    order = list(range(len(rig["texts"])))
    orders = [random.Random(i).sample(order, len(order)) for i in range(_ORDERS)]
    print(f"{path.name}: {len(order)} replies, target {_shown(rig['target'])}, draft {_shown(rig['draft'])} ms a pass")
    print(f"{'':28}{'generation':>12}{'request':>12}   against everything")
    best: np.ndarray | None = None
    for name, (taken_out, settings) in PARTS.items():
        with taken_out():
            plain, ms, read = sum((replayed(rig, settings, order) for order in orders), np.zeros(3))
        figures = np.array([plain / ms, plain / (ms + read)])
        best = figures if best is None else best
        change = figures / best - 1
        print(f"{name:28}{figures[0]:12.3f}{figures[1]:12.3f}   {change[0]:+8.1%}{change[1]:+8.1%}")


def _shown(table: dict[int, float]) -> str:
    return " ".join(f"{n}:{ms:.0f}" for n, ms in sorted(table.items()) if n in (1, 2, 4, 8, 16, 64))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="ablation", description="What each part of the automatic choice earns.")
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    for name in ("target", "draft", "prompts", "out"):
        recording.add_argument(f"--{name}", type=Path, required=True)
    recording.add_argument("--max-tokens", type=whole(2), default=96)
    recording.add_argument("--threads", type=whole(1), default=2)
    recording.set_defaults(run=record)
    replaying = commands.add_parser("replay")
    replaying.add_argument("records", type=Path, nargs="+")
    replaying.set_defaults(run=replay)
    args = parser.parse_args(arguments)
    args.run(args)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
