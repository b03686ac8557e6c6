"""Bars, judged from the files that 'tandem bench --json' and the scripts beside this one wrote, of one run or several.

bars.py compute-bound|memory-bound|fixed|three|turns|sampled|strict FILE.json … [--greedy FILE.json …]

Files of the same prompts count as further repeats, files of other parts of the prompts as more prompts, so a long run
can be made in several. Each ratio is shown for generation and for the whole request, with the 95 % interval of a
bootstrap over prompts; a bar holds when the upper end of the interval reaches it. "Best" is picked on one half of the
repeats (of the prompts where there is one repeat) and compared on the other. Categories under 400 tokens a repeat are
shown, not judged.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from backend.bench.report import Ratio, compare
from backend.bench.runner import Run
from backend.bench.sweep import best_fixed, sweep_modes
from backend.bench.words import lines
from backend.bench.workloads import ALL, Prompt
from backend.protocol import Timings

PEER = "ls-"
"""How the names of llama-server's flag sets begin."""
ENOUGH = 400
"""Tokens of plain in a repeat that a category needs to be judged."""


@dataclass(frozen=True)
class Bar:
    """One ratio that has to reach ``least``; ``judged`` False where too little was measured to say."""

    what: str
    found: Ratio | None
    least: float
    judged: bool = True

    @property
    def holds(self) -> bool | None:
        """None: not judged."""
        if not self.judged or self.found is None:
            return None
        return max(self.found.value, self.found.high) >= self.least

    def __str__(self) -> str:
        said = {True: "holds", False: "does NOT hold", None: "not judged"}[self.holds]
        return f"{self.what:58} {self.found or '-'!s:22} bar {self.least:.2f}: {said}"


# -- reading


def runs_of(records: Iterable[dict[str, Any]]) -> list[Run]:
    """Replies as they were measured, from ``Run.to_json``."""
    return [_run(record) for record in records]


def merged(files: Sequence[Path]) -> list[Run]:
    """The runs of all files; where a prompt was asked in an earlier one, as further repeats of it."""
    runs: list[Run] = []
    for file in files:
        asked: dict[str, int] = {}
        for run in runs:
            asked[run.prompt.id] = max(asked.get(run.prompt.id, 0), run.repeat + 1)
        own = runs_of(json.loads(file.read_bytes())["runs"])
        for run in own:
            run.repeat += asked.get(run.prompt.id, 0)
        runs += own
    return runs


def _run(record: dict[str, Any]) -> Run:
    counted = {f.name: record[f.name] for f in fields(Timings) if record.get(f.name) is not None}
    return Run(
        mode=record["mode"],
        prompt=Prompt(record["prompt_id"], record["category"], ""),
        repeat=record["repeat"],
        seed=record["seed"],
        timings=Timings(**counted),
        text=record["text"],
        tokens=record["tokens"],
        margins=record["margins"],
        own=record["passes"] is not None,
    )


# -- judging


def compute_bound(runs: Sequence[Run]) -> Iterator[Bar]:
    """A target whose checks cost what they compute: at least the best flag set, and never slower than plain."""
    yield from _plain_as_the_peer(runs)
    for how, request in _HOWS:
        yield from (bar for bar in best_of(runs, peers(runs), 1.02, request=request) if bar.what.startswith(ALL))
        yield Bar(f"{ALL}: auto / plain, {how}", compare(runs, "plain", "auto", request=request), 1.06)
        yield from by_category(runs, "auto", 0.97, request=request)
        edits = [run for run in runs if run.prompt.category == "code_edit"]
        yield Bar(f"code_edit: auto / plain, {how}", compare(edits, "plain", "auto", request=request), 1.2)


def memory_bound(runs: Sequence[Run]) -> Iterator[Bar]:
    """A target whose checks cost what they read: well above the best flag set, near the best one of every category."""
    yield from _plain_as_the_peer(runs)
    for _, request in _HOWS:
        for bar in best_of(runs, peers(runs), 0.97, request=request):
            yield Bar(bar.what, bar.found, 1.15) if bar.what.startswith(ALL) else bar


def fixed(runs: Sequence[Run]) -> Iterator[Bar]:
    """Automatic lengths beside the best fixed source and length of each category."""
    for _, request in _HOWS:
        yield from best_of(runs, [mode.name for mode in sweep_modes(True)], 0.95, request=request)


def three(runs: Sequence[Run]) -> Iterator[Bar]:
    """The workload of that name: its categories are one prompt each."""
    for how, request in _HOWS:
        for bar in best_of(runs, [mode.name for mode in sweep_modes(True)], 0.97, request=request, enough=0):
            if not bar.what.startswith((ALL, "story")):
                yield bar
        told = [run for run in runs if run.prompt.category == "story"]
        yield Bar(f"story: auto / plain, {how}", compare(told, "plain", "auto", request=request), 0.97)


def turns(runs: Sequence[Run]) -> Iterator[Bar]:
    """No category slower than plain."""
    for _, request in _HOWS:
        yield from by_category(runs, "auto", 0.97, request=request)


def sampled(runs: Sequence[Run], greedy: Sequence[Run]) -> Iterator[Bar]:
    """At a temperature: no category slower than plain, and most of what is gained greedily."""
    yield from turns(runs)
    for how, request in _HOWS:
        ratios = [compare(one, "plain", "auto", request=request) for one in (runs, greedy)]
        share = _over(*ratios)
        yield Bar(f"{ALL}: auto / plain, of greedy's, {how}", share, 0.85)


def strict(runs: Sequence[Run]) -> Iterator[Bar]:
    """Replies whose texts have to be plain's (``strict.py``): how many are; what it costs stands in the table."""
    base = {(run.prompt.id, run.repeat): run.tokens for run in runs if run.mode == "plain"}
    own = [run for run in runs if run.mode == "auto" and (run.prompt.id, run.repeat) in base]
    equal = sum(run.tokens == base[run.prompt.id, run.repeat] for run in own)
    if own:
        share = equal / len(own)
        yield Bar(f"auto: texts equal to plain's, {equal} of {len(own)}", Ratio(share, share, share, 1), 1.0)


def best_of(
    runs: Sequence[Run], names: Sequence[str], least: float, *, request: bool = False, enough: int = ENOUGH
) -> Iterator[Bar]:
    """Auto against the best of some modes, by category and over all."""
    for best in best_fixed(runs, names, request=request):
        what = f"{best.category}: auto / {best.mode}, {_HOWS[request][0]}"
        yield Bar(what, best.auto_over_best, least, tokens(runs, best.category) >= enough)


def by_category(runs: Sequence[Run], mode: str, least: float, *, request: bool = False) -> Iterator[Bar]:
    """A mode against plain in every category."""
    for category in dict.fromkeys(run.prompt.category for run in runs):
        own = [run for run in runs if run.prompt.category == category]
        what = f"{category}: {mode} / plain, {_HOWS[request][0]}"
        yield Bar(what, compare(own, "plain", mode, request=request), least, tokens(runs, category) >= ENOUGH)


def tokens(runs: Sequence[Run], category: str) -> float:
    """Of plain in a repeat."""
    own = [run for run in runs if run.mode == "plain" and category in (ALL, run.prompt.category)]
    repeats = len({run.repeat for run in own})
    return sum(run.timings.predicted_n for run in own) / max(1, repeats)


def peers(runs: Sequence[Run]) -> list[str]:
    """Flag sets that speculate."""
    names = dict.fromkeys(run.mode for run in runs)
    return [name for name in names if name.startswith(PEER) and name != f"{PEER}plain"]


def acceptance(runs: Sequence[Run], mode: str) -> float | None:
    """Accepted drafts as a share of those that were decided: accepted, or the first that fell in its round."""
    own = [run.timings for run in runs if run.mode == mode and run.own]
    accepted, fell = sum(t.draft_n_accepted for t in own), sum(t.rounds_mismatch for t in own)
    return accepted / (accepted + fell) if accepted + fell else None


def unlike(runs: Sequence[Run]) -> list[str]:
    """Prompts that some contestant read as another number of tokens."""
    read: dict[str, set[int]] = {}
    for run in runs:
        read.setdefault(run.prompt.id, set()).add(run.timings.prompt_n)
    return [name for name, sizes in read.items() if len(sizes) > 1]


_HOWS = (("generation", False), ("request", True))


def _plain_as_the_peer(runs: Sequence[Run]) -> Iterator[Bar]:
    for how, request in _HOWS:
        found = compare(runs, f"{PEER}plain", "plain", request=request)
        yield Bar(f"{ALL}: plain / {PEER}plain, {how}", found, 0.98)


def _over(one: Ratio | None, other: Ratio | None) -> Ratio | None:
    """Of two runs that do not belong together: the interval counts the first one's alone."""
    if one is None or other is None:
        return None
    return Ratio(one.value / other.value, one.low / other.value, one.high / other.value, one.prompts)


# -- showing


def show(bars: Iterable[Bar]) -> int:
    """Print each; 1 where one does not hold."""
    found = list(bars)
    for bar in found:
        print(bar)
    return 1 if any(bar.holds is False for bar in found) else 0


def judge(name: str, files: Sequence[Path], greedy: Sequence[Path] = (), *, table: bool = True) -> int:
    """The table of all files together, each mode's acceptance, and the bars."""
    runs = merged(files)
    for line in lines(runs) if table else ():
        print(line)
    print()
    if other := unlike(runs):
        print(f"Not all read the same prompt: {', '.join(other)}")
    for mode in dict.fromkeys(run.mode for run in runs):
        if (rate := acceptance(runs, mode)) is not None:
            print(f"{mode}: {rate:.3f} of the drafts that were decided were accepted")
    ways = {
        "compute-bound": compute_bound,
        "memory-bound": memory_bound,
        "fixed": fixed,
        "three": three,
        "turns": turns,
    }
    found = sampled(runs, merged(greedy)) if name == "sampled" else (ways | {"strict": strict})[name](runs)
    return show(found)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bars", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ("compute-bound", "memory-bound", "fixed", "three", "turns", "sampled", "strict")
    parser.add_argument("name", choices=names)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.json")
    parser.add_argument("--greedy", nargs="+", type=Path, default=[], metavar="FILE.json", help="of sampled: its base")
    args = parser.parse_args(arguments)
    return judge(args.name, args.files, args.greedy)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
