"""What a benchmark found: speeds by category, ratios to plain with their intervals, and where texts differ.

Ratios of generation are of milliseconds per token, summed over a category, so a long reply counts for more than a
short one; those of the request are of its whole time, a reply of another length counted as if it had plain's. Their
interval is a bootstrap over prompts: each is drawn with all its repeats (which say nearly the same) and with both
modes' figures, so that what slowed both alike cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.bench.modes import baseline
from backend.bench.runner import Run
from backend.bench.workloads import ALL

Figures = NDArray[np.float64]
"""Columns: plain ms, plain tokens, other ms, other tokens; a row for each prompt."""
_SAMPLES = 2000
_INTERVAL = (2.5, 97.5)
_HEAD = [
    "category",
    "mode",
    "tokens",
    "tok/s",
    "generation ×",
    "request ×",
    "accepted",
    "tok/pass",
    "equal",
    "margin",
]


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast as plain, with the 95 % interval of a bootstrap."""

    value: float
    low: float
    high: float
    prompts: int

    def __str__(self) -> str:
        if self.prompts == 1:  # a single one has no interval
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place where a reply differs from plain's, and the lead of each side's token over its second best."""

    mode: str
    prompt_id: str
    category: str
    repeat: int
    index: int
    """Index among the tokens; among the characters where a peer tells no tokens."""
    plain_token: int | None
    token: int | None
    margin_plain: float | None
    margin: float | None

    @property
    def worst(self) -> float | None:
        """The larger margin; None where none is known (a peer, or a rule that draws anew)."""
        known = [m for m in (self.margin_plain, self.margin) if m is not None]
        return max(known) if known else None


@dataclass(frozen=True, slots=True)
class Row:
    """One mode in one category."""

    category: str
    mode: str
    tokens: int
    tokens_per_second: float | None
    generation: Ratio | None
    request: Ratio | None
    acceptance: float | None
    tokens_per_pass: float | None
    equal: int
    compared: int
    worst_margin: float | None


def summarise(runs: Sequence[Run], seed: int = 0) -> list[Row]:
    """A row for each category and mode, and for all categories together. Plain is the first mode called so."""
    categories = list(dict.fromkeys(run.prompt.category for run in runs))
    modes = list(dict.fromkeys(run.mode for run in runs))
    base = baseline(modes)
    rows = []
    for category in [*categories, ALL] if len(categories) > 1 else categories:
        chosen = [run for run in runs if category in (ALL, run.prompt.category)]
        plain = [run for run in chosen if run.mode == base]
        for mode in modes:
            own = [run for run in chosen if run.mode == mode]
            rows.append(_row(category, mode, own, plain if mode != base else [], seed))
    return rows


def divergences(runs: Sequence[Run]) -> list[Divergence]:
    """Every reply whose text is not plain's of the same prompt and repeat."""
    base = baseline(run.mode for run in runs)
    plain = {_cell(run): run for run in runs if run.mode == base}
    pairs = ((plain[_cell(run)], run) for run in runs if run.mode != base and _cell(run) in plain)
    return [found for pair in pairs if (found := diverge(*pair)) is not None]


def diverge(plain: Run, other: Run) -> Divergence | None:
    """Where ``other`` leaves ``plain``, or None for equal replies."""
    a: Sequence[Any] = plain.tokens
    b: Sequence[Any] = other.tokens
    told = bool(a and b)
    if not told:
        a, b = plain.text, other.text
    if a == b:
        return None
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return Divergence(
        mode=other.mode,
        prompt_id=other.prompt.id,
        category=other.prompt.category,
        repeat=other.repeat,
        index=at,
        plain_token=_at(plain.tokens, at) if told else None,
        token=_at(other.tokens, at) if told else None,
        margin_plain=_at(plain.margins, at) if told else None,
        margin=_at(other.margins, at) if told else None,
    )


def ratio(figures: Figures, samples: int = _SAMPLES, seed: int = 0) -> Ratio | None:
    """Plain's ms per token over the other's, with its interval; None when one side has no tokens or no time.

    Args:
        figures: shape (prompts, 4): plain ms, plain tokens, other ms, other tokens.
        samples: bootstrap draws.
        seed: of the draws.
    """
    value = float(_per_token(figures.sum(axis=0)))
    if not np.isfinite(value) or value <= 0:
        return None
    draws = np.random.default_rng(seed).integers(0, len(figures), size=(samples, len(figures)))
    values = _per_token(figures[draws].sum(axis=1))
    low, high = np.percentile(values[np.isfinite(values)], _INTERVAL)
    return Ratio(value, float(low), float(high), len(figures))


def compare(runs: Sequence[Run], base: str, other: str, seed: int = 0, *, request: bool = False) -> Ratio | None:
    """How many times as fast ``other`` generates, or answers requests, as ``base``, over the cells that both have."""
    by_cell = {_cell(run): run for run in runs if run.mode == base}
    pairs = [(by_cell[_cell(run)], run) for run in runs if run.mode == other and _cell(run) in by_cell]
    return _ratio(pairs, _request if request else _generation, seed)


def table_cells(rows: Sequence[Row]) -> list[list[str]]:
    """Head and rows as texts."""
    return [_HEAD, *(_cells(row) for row in rows)]


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as lines of text."""
    cells = table_cells(rows)
    widths = [max(len(line[n]) for line in cells) for n in range(len(_HEAD))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    for n in range(len(rows) - 1, 0, -1):
        if rows[n].category != rows[n - 1].category:
            lines.insert(n + 1, "")
    return lines


def _row(category: str, mode: str, own: list[Run], plain: list[Run], seed: int) -> Row:
    by_cell = {_cell(run): run for run in plain}
    pairs = [(by_cell[_cell(run)], run) for run in own if _cell(run) in by_cell]
    found = [d for p, run in pairs if (d := diverge(p, run)) is not None]
    timings = [run.timings for run in own]
    passes, verified = sum(t.passes for t in timings), sum(t.draft_n for t in timings)
    tokens, ms = sum(_steps(run) for run in own), sum(t.predicted_ms for t in timings)
    return Row(
        category=category,
        mode=mode,
        tokens=sum(t.predicted_n for t in timings),
        tokens_per_second=1e3 * tokens / ms if ms > 0 else None,
        generation=_ratio(pairs, _generation, seed),
        request=_ratio(pairs, _request, seed),
        acceptance=sum(t.draft_n_accepted for t in timings) / verified if verified else None,
        tokens_per_pass=tokens / passes if passes else None,
        equal=len(pairs) - len(found),
        compared=len(pairs),
        worst_margin=max((d.worst for d in found if d.worst is not None), default=None),
    )


def _generation(base: Run, other: Run) -> tuple[float, float, float, float]:
    return base.timings.predicted_ms, _steps(base), other.timings.predicted_ms, _steps(other)


def _request(base: Run, other: Run) -> tuple[float, float, float, float]:
    """A reply that left plain's at a near-tie may be longer or shorter; its prompt did not take longer for that."""
    t, steps = other.timings, _steps(other)
    longer = _steps(base) / steps if steps else 1.0
    return base.timings.request_ms, 1.0, t.request_ms + t.predicted_ms * (longer - 1.0), 1.0


def _ratio(
    pairs: Sequence[tuple[Run, Run]], figures: Callable[[Run, Run], tuple[float, float, float, float]], seed: int
) -> Ratio | None:
    by_prompt: dict[str, NDArray[np.float64]] = {}
    for base, other in pairs:
        cell = np.array(figures(base, other), dtype=np.float64)
        by_prompt[base.prompt.id] = by_prompt.get(base.prompt.id, np.zeros(4)) + cell
    return ratio(np.stack(list(by_prompt.values())), seed=seed) if by_prompt else None


def _per_token(sums: Figures) -> Figures:
    with np.errstate(divide="ignore", invalid="ignore"):
        plain, other = sums[..., 0] / sums[..., 1], sums[..., 2] / sums[..., 3]
        quotient: Figures = plain / other
    return quotient


def _cells(row: Row) -> list[str]:
    return [
        row.category,
        row.mode,
        str(row.tokens),
        _shown(row.tokens_per_second, "{:.2f}"),
        str(row.generation or "-"),
        str(row.request or "-"),
        _shown(row.acceptance, "{:.1%}"),
        _shown(row.tokens_per_pass, "{:.2f}"),
        f"{row.equal}/{row.compared}" if row.compared else "-",
        _shown(row.worst_margin, "{:.3g}"),
    ]


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _steps(run: Run) -> int:
    """Tokens that took time after the prompt: n tokens are n - 1 plain passes."""
    return max(0, run.timings.predicted_n - 1)


def _cell(run: Run) -> tuple[str, int]:
    return run.prompt.id, run.repeat


def _at(items: Sequence[Any], index: int) -> Any:
    return items[index] if index < len(items) else None
