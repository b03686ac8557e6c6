"""The best fixed draft length of each category, and how the automatic choice compares with it.

The best of many is partly luck: it is picked on one half of the measurements and compared on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.bench.modes import Mode, baseline
from backend.bench.report import Ratio, compare
from backend.bench.runner import Run
from backend.bench.workloads import ALL
from backend.protocol import Speculation

LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16)


@dataclass(frozen=True, slots=True)
class Best:
    """One category's best fixed mode; all ratios are of the half it was not picked on."""

    category: str
    mode: str
    over_plain: Ratio | None
    auto_over_plain: Ratio | None
    auto_over_best: Ratio | None


def sweep_modes(has_draft: bool, rule: str = "coupled") -> list[Mode]:
    """Every source with every length."""
    sources = ("draft", "lookup") if has_draft else ("lookup",)
    return [
        Mode(f"{source}:{length}", Speculation(source=source, length=length, rule=rule))  # type: ignore[arg-type]
        for source in sources
        for length in LENGTHS
    ]


def best_fixed(runs: Sequence[Run], fixed: Sequence[str], auto: str = "auto", *, request: bool = False) -> list[Best]:
    """For each category and for all together; empty without plain or without fixed modes.

    Args:
        runs: of all modes.
        fixed: the modes of which one is picked.
        auto: what is compared with it.
        request: by whole requests instead of generation.
    """
    plain = baseline(dict.fromkeys(run.mode for run in runs))
    names = [name for name in fixed if any(run.mode == name for run in runs)]
    if plain is None or not names:
        return []
    categories = list(dict.fromkeys(run.prompt.category for run in runs))
    found = []
    for category in [*categories, ALL] if len(categories) > 1 else categories:
        chosen = [run for run in runs if category in (ALL, run.prompt.category)]
        first, second = halves(chosen)
        speeds = {name: compare(first, plain, name, request=request) for name in names}
        known = {name: ratio.value for name, ratio in speeds.items() if ratio is not None}
        if known:
            best = max(known, key=lambda name: known[name])
            pairs = ((plain, best), (plain, auto), (best, auto))
            found.append(
                Best(category, best, *(compare(second, base, other, request=request) for base, other in pairs))
            )
    return found


def halves(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """By repeats where there are two or more, else by prompts; the same for every mode."""
    prompts = {name: i for i, name in enumerate(dict.fromkeys(run.prompt.id for run in runs))}
    repeated = len({run.repeat for run in runs}) > 1
    odd = [(run.repeat if repeated else prompts[run.prompt.id]) % 2 for run in runs]
    return [r for r, o in zip(runs, odd, strict=True) if not o], [r for r, o in zip(runs, odd, strict=True) if o]
