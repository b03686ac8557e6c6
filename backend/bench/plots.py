"""The plots of a benchmark's report, as SVG text."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from backend.library.paths import cache_dir

# before it is imported: its list of fonts would else lie in folders of its own in the person's home
os.environ.setdefault("MPLCONFIGDIR", str(cache_dir() / "matplotlib"))

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from backend.bench.report import Row
from backend.bench.runner import Run
from backend.bench.workloads import ALL
from backend.equations import expected_tokens

_STYLE: Any = {
    "svg.fonttype": "none",  # words stay words: they can be found and copied
    "svg.hashsalt": "tandem",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def ratios(rows: Sequence[Row]) -> str:
    """Speed of generation over plain's by category, with the intervals."""
    shown = [row for row in rows if row.generation is not None]
    modes, categories = list(dict.fromkeys(r.mode for r in shown)), list(dict.fromkeys(r.category for r in shown))

    def draw(axes: Axes) -> None:
        width = 0.8 / max(1, len(modes))
        for n, mode in enumerate(modes):
            own = {row.category: row.generation for row in shown if row.mode == mode}
            at = [i + (n - (len(modes) - 1) / 2) * width for i, c in enumerate(categories) if own.get(c)]
            found = [ratio for c in categories if (ratio := own.get(c))]
            low, high = [r.value - r.low for r in found], [r.high - r.value for r in found]
            axes.bar(at, [r.value for r in found], width, yerr=(low, high), capsize=2, label=_plain(mode))
        axes.axhline(1.0, color="0.4", linewidth=1)
        axes.set_xticks(range(len(categories)), [_plain(c) for c in categories], rotation=20, ha="right")
        axes.set_ylabel("× plain")
        axes.legend(frameon=False, fontsize=8, ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0))

    return _svg(draw, 9.0)


def yields(runs: Sequence[Run]) -> str:
    """Tokens per pass against the acceptance rate, beside Eq. (1)."""

    def draw(axes: Axes) -> None:
        alphas = [i / 100 for i in range(100)]
        for k in (2, 4, 8, 16):
            axes.plot(alphas, [expected_tokens(a, k) for a in alphas], color="0.7", linewidth=1)
            axes.annotate(f"k = {k}", (0.99, expected_tokens(0.99, k)), color="0.4", fontsize=8)
        for mode in dict.fromkeys(run.mode for run in runs if run.own and run.timings.draft_n):
            own = [run.timings for run in runs if run.mode == mode and run.timings.passes]
            mismatches = [t.draft_n_accepted + t.rounds_mismatch for t in own]
            points = [
                (t.draft_n_accepted / n, (t.predicted_n - 1) / t.passes)
                for t, n in zip(own, mismatches, strict=True)
                if n
            ]
            axes.scatter([x for x, _ in points], [y for _, y in points], s=12, alpha=0.6, label=_plain(mode))
        axes.set_xlabel("acceptance rate α")
        axes.set_ylabel("tokens per pass")
        axes.legend(frameon=False, fontsize=8)

    return _svg(draw)


def costs(target: Mapping[int, float]) -> str:
    """What a pass over n tokens took."""

    def draw(axes: Axes) -> None:
        sizes = sorted(target)
        axes.plot(sizes, [target[n] for n in sizes], marker="o")
        axes.set_xlabel("tokens in a pass")
        axes.set_ylabel("milliseconds")
        axes.set_ylim(bottom=0)

    return _svg(draw)


def reliability(runs: Sequence[Run]) -> str:
    """Predicted acceptance against what happened; the diagonal is a perfect prediction, areas are numbers of tokens."""
    totals = tallies(runs)

    def draw(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for source, bins in totals.items():
            full = [(total / n, stood / n, n) for n, total, stood in bins if n]
            most = max(n for _, _, n in full)
            sizes = [4 + 120 * n / most for _, _, n in full]
            axes.scatter([x for x, _, _ in full], [y for _, y, _ in full], s=sizes, alpha=0.7, label=source)
        axes.set_xlabel("predicted acceptance")
        axes.set_ylabel("accepted")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.legend(frameon=False, fontsize=8)

    return _svg(draw)


def tallies(runs: Sequence[Run]) -> dict[str, list[tuple[int, float, int]]]:
    """The runs' reliability added up: per source ten bins of (judged, summed prediction, stood)."""
    totals: dict[str, list[tuple[int, float, int]]] = {}
    for run in runs:
        for source, bins in run.reliability.items():
            before = totals.get(source, [(0, 0.0, 0)] * len(bins))
            added = [(a + n, b + p, c + s) for (a, b, c), (n, p, s) in zip(before, bins, strict=False)]
            totals[source] = added
    return {source: bins for source, bins in totals.items() if any(n for n, _, _ in bins)}


def times(rows: Sequence[Row], runs: Sequence[Run]) -> str:
    """Where a token's milliseconds go: drafting, verifying, the host."""
    modes = [row.mode for row in rows if row.category == ALL or len({r.category for r in rows}) == 1]

    def draw(axes: Axes) -> None:
        left = [0.0] * len(modes)
        for part in ("verify_ms", "draft_ms", "host_ms"):
            widths = []
            for mode in modes:
                own = [run.timings for run in runs if run.mode == mode and run.own]
                tokens = sum(t.predicted_n - 1 for t in own)
                widths.append(sum(getattr(t, part) for t in own) / tokens if tokens else 0.0)
            axes.barh([_plain(mode) for mode in modes], widths, left=left, label=part.removesuffix("_ms"))
            left = [a + b for a, b in zip(left, widths, strict=True)]
        axes.invert_yaxis()
        axes.set_xlabel("milliseconds a token")
        axes.legend(frameon=False, fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))

    return _svg(draw)


def _plain(name: str) -> str:
    """A name as it stands: matplotlib takes $…$ for formulas."""
    return name.replace("$", r"\$")


def _svg(draw: Any, width: float = 4.4) -> str:
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, 3.2), layout="constrained")  # no pyplot: nothing global is left behind
        draw(figure.subplots())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r"^.*?(?=<svg)", "", out.getvalue(), flags=re.DOTALL)  # inside a page there is no XML header
