"""Where the host's part of a round goes, and whether a long conversation makes it dearer: the loop without its models.

host_parts.py [--history N] [--rounds N]

The product's own rounds, sources, policy and sampling over a made-up text that repeats itself, with rows of 152
thousand scores; the models are tables that know the text and are sometimes wrong. Before rows are handed out as much
memory is read as no cache holds, as a pass does. Each part's time is its own, what it calls is counted there. What a
reply costs beside its rounds (text, events, the way to the client) is in 'make bench' and not in here.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backend.cli_pair import whole
from backend.protocol import Sampling, Speculation
from backend.sampling.chain import Chain
from backend.speculation.calibration import BucketCounts, MarginLogistic
from backend.speculation.cost import PassCosts
from backend.speculation.policy import Policy
from backend.speculation.round import Rounds
from backend.speculation.sources.draft_model import DraftModel
from backend.speculation.sources.lookup import Lookup
from backend.speculation.verify import make_rule

VOCABULARY = 152_064
_MOST_ROWS = 17
_BEYOND_CACHES = 96 << 20
_WRONG = 0.25
"""Share of positions at which the draft does not know the text."""
_MODELS = "models"
CASES = {
    "greedy": (Sampling(temperature=0.0, seed=1), 0.5),
    "at 0.7, top-k 40, top-p 0.95": (Sampling(temperature=0.7, seed=1), 2.0),
    "at 1, unfiltered": (Sampling(temperature=1.0, top_k=0, top_p=1.0, seed=1), 3.0),
}
"""Sampling, and the milliseconds that a round may take."""


def text_of(n: int, seed: int = 5) -> list[int]:
    """Tokens of which every second stretch stood before."""
    made = random.Random(seed)
    text = [made.randrange(VOCABULARY) for _ in range(64)]
    while len(text) < n:
        at, length = made.randrange(len(text) - 48), made.randrange(12, 48)
        text += text[at : at + length] + [made.randrange(VOCABULARY) for _ in range(length)]
    return text[:n]


class Parts:
    """Seconds by part; of calls within calls each counts its own."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def watch(self, part: str, thing: object, *names: str) -> None:
        """Count the calls of these methods of this object."""
        for name in names:
            setattr(thing, name, self._counted(part, getattr(thing, name)))

    def _counted(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **more: Any) -> Any:
            self._inner.append(0.0)
            began = time.perf_counter()
            try:
                return call(*args, **more)
            finally:
                took = time.perf_counter() - began
                self.seconds[part] += took - self._inner.pop()
                self._inner[-1] += took

        return counted


class Table:
    """A model that says what stands in the text, sure of it; at some places something else."""

    n_vocab, max_rows, most_rows, branches, room = VOCABULARY, _MOST_ROWS, 512, 1, 1_000_000

    def __init__(self, text: Sequence[int], wrong: float) -> None:
        made = random.Random(3)
        self._next = [made.randrange(VOCABULARY) if made.random() < wrong else token for token in text[1:]]
        self._rows = np.random.default_rng(3).normal(0.0, 2.0, (_MOST_ROWS, VOCABULARY)).astype(np.float32)
        self._peaks: list[tuple[int, int, np.float32]] = []
        self._other = np.ones(_BEYOND_CACHES // 8)
        self.tokens: list[int] = []

    @property
    def length(self) -> int:
        return len(self.tokens)

    def decode(self, tokens: Sequence[int]) -> Any:
        for row, token, score in self._peaks:
            self._rows[row, token] = score
        at, self._peaks = len(self.tokens), []
        self.tokens += tokens
        for row in range(len(tokens)):
            token = self._next[at + row]
            self._peaks.append((row, token, self._rows[row, token]))
            self._rows[row, token] = 40.0
        self._other.sum()
        return self._rows[: len(tokens)]

    def read(self, tokens: Sequence[int]) -> Any:
        self.tokens += tokens[:-1]
        return self.decode(tokens[-1:])

    def truncate(self, n: int) -> None:
        del self.tokens[n:]

    def keep(self, n: int) -> int:
        self.truncate(n)
        return self.length

    def settle(self, path: Sequence[int]) -> None:
        raise AssertionError("it cannot branch")

    def grow(self, tokens: Sequence[int], parents: Sequence[int]) -> Any:
        raise AssertionError("it cannot branch")

    def mark(self) -> None: ...

    def clear(self) -> None:
        self.tokens.clear()


def measured(history: int, rounds: int, sampling: Sampling) -> tuple[dict[str, float], float]:
    """Milliseconds a round by part, the models left out, and tokens a round."""
    text, parts = text_of(history + rounds * 2 * _MOST_ROWS), Parts()
    target, small = Table(text, 0.0), Table(text, _WRONG)
    rule = make_rule(Chain(sampling), "coupled", 1, history)
    costs, draft_costs = PassCosts(), PassCosts()
    for n in (1, 2, 4, 8, 16):
        costs.observe(n, 50.0 + n)
        draft_costs.observe(n, 4.0 + n / 4)
    draft = DraftModel(small, rule, VOCABULARY, (), MarginLogistic(), draft_costs)
    lookup, settings = Lookup(BucketCounts(), ()), Speculation()
    policy = Policy(lambda: settings, costs, lambda: 10_000, history)
    loop = Rounds(target, [lookup, draft], rule, policy, costs, text[:history], (), len(text))
    row = target.read(text[:history])[-1]
    loop.first(row)
    small.tokens += text[: history - 1]  # it has read the prompt
    loop.round()  # the index over the history is made once
    parts.watch(_MODELS, target, "decode", "read")
    parts.watch(_MODELS, small, "decode", "read")
    parts.watch("scores", rule, "choose", "judge", "draft")
    parts.watch("policy", policy, "plan", "spent")
    parts.watch("lookup", lookup, "expect", "propose", "observe", "truncate", "hear")
    parts.watch("draft model", draft, "expect", "propose", "observe", "truncate", "hear", "read", "follow")
    parts.watch("the round itself", loop, "round")
    before = len(loop.history)
    for _ in range(rounds):
        loop.round()
    found = {part: 1e3 * seconds / rounds for part, seconds in parts.seconds.items() if part != _MODELS}
    return found, (len(loop.history) - before) / rounds


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="host_parts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--history", type=whole(64), nargs="+", default=[500, 32_000], metavar="N")
    parser.add_argument("--rounds", type=whole(1), default=200)
    args = parser.parse_args(arguments)
    good = True
    for name, (sampling, bar) in CASES.items():
        for history in args.history:
            found, tokens = measured(history, args.rounds, sampling)
            total = sum(found.values())
            good &= total <= bar
            shares = ", ".join(f"{part} {ms:.3f}" for part, ms in sorted(found.items(), key=lambda item: -item[1]))
            said = f"bar {bar:.1f}: {'met' if total <= bar else 'NOT met'}"
            print(f"{name}, history {history:,}: {total:.3f} ms a round of {tokens:.1f} tokens, {said} ({shares})")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
