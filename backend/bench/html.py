"""``tandem bench --html``: the report as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from backend.bench import plots
from backend.bench.clairvoyant import Reached
from backend.bench.report import divergences, summarise, table_cells
from backend.bench.runner import Run
from backend.bench.sweep import Best

_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
 body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
 table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
 th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
 figure { display: inline-block; margin: 0 1rem 1rem 0; vertical-align: top; }
 figcaption { color: #555; font-size: .85rem; max-width: 26rem; }
 svg { max-width: 100%; height: auto; }
</style></head><body>
<h1>{{ title }}</h1>
{% if verdict %}<p><strong>{{ verdict }}.</strong></p>{% endif %}
<table>{% for name, value in facts.items() %}<tr><th>{{ name }}</th><td>{{ value }}</td></tr>{% endfor %}</table>
<p>Ratios are of milliseconds per token against plain decoding in the same interleaved run, with the 95 % interval of a
bootstrap over prompts, each with all its repeats. A mode named plain#… is plain decoding once more: its ratio is
noise.</p>
<table><tr>{% for cell in head %}<th>{{ cell }}</th>{% endfor %}</tr>
{% for line in lines %}<tr>{% for cell in line %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</table>
{% if best %}<h2>The best fixed length</h2>
<p>Picked on one half of the measurements, compared on the other.</p>
<table><tr><th>category</th><th>best</th><th>× plain</th><th>auto × plain</th><th>auto × best</th></tr>
{% for b in best %}<tr><td>{{ b.category }}</td><td>{{ b.mode }}</td><td>{{ b.over_plain or "-" }}</td>
<td>{{ b.auto_over_plain or "-" }}</td><td>{{ b.auto_over_best or "-" }}</td></tr>
{% endfor %}</table>{% endif %}
{% if bounds %}<h2>What foresight would have reached</h2>
<p>The speed at the measured costs if each round had known which of its guesses would stand.</p>
<table><tr><th>category</th><th>bound × plain</th><th>auto × plain</th><th>share</th></tr>
{% for b in bounds %}<tr><td>{{ b.category }}</td><td>{{ "%.3f" % b.bound }}</td>
<td>{{ "-" if b.auto is none else "%.3f" % b.auto }}</td>
<td>{{ "-" if b.share is none else "%.0f %%" % (100 * b.share) }}</td></tr>
{% endfor %}</table>{% endif %}
{% for caption, svg in figures %}<figure>{{ svg }}<figcaption>{{ caption }}</figcaption></figure>
{% endfor %}
<h2>Where texts leave plain's</h2>
{% if different %}<p>Kernels round differently for batches of different sizes; the lead of either token over its second
best says how near a tie each place was.</p>
<table><tr><th>mode</th><th>prompt</th><th>repeat</th><th>token</th><th>lead in plain</th>
<th>lead in the other</th></tr>
{% for d in different %}<tr><td>{{ d.mode }}</td><td>{{ d.prompt_id }}</td><td>{{ d.repeat + 1 }}</td>
<td>{{ d.index }}</td><td>{{ lead(d.margin_plain) }}</td><td>{{ lead(d.margin) }}</td></tr>
{% endfor %}</table>{% else %}<p>Nowhere: all texts are equal.</p>{% endif %}
</body></html>
"""


def page(
    runs: Sequence[Run],
    facts: Mapping[str, object],
    target_costs: Mapping[int, float],
    best: Sequence[Best] = (),
    bounds: Sequence[Reached] = (),
    *,
    verdict: str = "",
) -> str:
    """The page.

    Args:
        runs: at least one.
        facts: what was measured with, name -> value.
        target_costs: measured pass costs, tokens -> ms.
        best: of a sweep.
        bounds: what foresight would have reached.
        verdict: the sentence on top.
    """
    rows = summarise(runs)
    figures: list[tuple[str, str]] = []
    if any(row.generation for row in rows):
        figures.append(("Speed of generation by category.", plots.ratios(rows)))
    figures.append(("Where the time of a token goes.", plots.times(rows, runs)))
    if any(run.own and run.timings.draft_n for run in runs):
        figures.append(("Tokens per pass of each reply; grey: Eq. (1) for equal acceptances.", plots.yields(runs)))
    if target_costs:
        figures.append(("What a pass of the target costs.", plots.costs(target_costs)))
    if plots.tallies(runs):
        figures.append(("Predicted acceptance against what happened.", plots.reliability(runs)))
    head, *lines = table_cells(rows)
    fields: dict[str, Any] = {
        "title": "Tandem benchmark",
        "verdict": verdict,
        "facts": facts,
        "head": head,
        "lines": lines,
        "best": best,
        "bounds": bounds,
        "figures": [(caption, Markup(svg)) for caption, svg in figures],
        "different": divergences(runs),
        "lead": lambda margin: "-" if margin is None else f"{margin:.3g}",
    }
    return Environment(autoescape=True).from_string(_PAGE).render(fields)
