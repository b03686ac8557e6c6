"""How fast the same text could have come at best: each round knowing which of its guesses will stand.

The bound keeps to what the loop can do: a round copies from the conversation, or drafts with the model, or does
neither, and pays what passes and draft steps were measured to cost. It never drafts a token that falls, pays nothing
for reading, catching up or the host; so it cannot be reached, and says what is left to gain by better choices alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.bench.modes import baseline
from backend.bench.report import compare
from backend.bench.runner import Run, new_job
from backend.bench.workloads import ALL
from backend.client import EngineClient
from backend.equations import LONGEST
from backend.protocol import CostTable, Judged


@dataclass(frozen=True, slots=True)
class Bound:
    """One reply, or several: milliseconds of plain decoding and of the best choices, both from measured costs."""

    plain_ms: float
    best_ms: float

    @property
    def speedup(self) -> float:
        """Of generation."""
        return self.plain_ms / self.best_ms if self.best_ms else 1.0


async def bound_of(client: EngineClient, run: Run) -> Bound:
    """The bound of a reply just measured, at the costs measured in it."""
    costs = (await client.state()).cost or CostTable()
    return bound(await client.judge(run.prompt.messages, run.tokens, new_job()), costs)


def bound(judged: Judged, costs: CostTable) -> Bound:
    """The least time from a reply's first token to its last.

    Args:
        judged: of the whole reply.
        costs: measured, with a draft step.
    """
    assert costs.draft_step is not None, "a loaded draft has been measured"
    n = len(judged.hits)
    passes = [costs.at(k + 1) for k in range(LONGEST + 1)]
    best = [0.0] * (n + 1)
    drafted = 0
    for i in range(n - 1, 0, -1):  # tokens that are out already; the first came with the prompt
        drafted = drafted + 1 if judged.hits[i] == "1" else 0
        most = min(LONGEST, n - i - 1)
        ways = [passes[0] + best[i + 1]]
        ways += [passes[k] + best[i + k + 1] for k in range(1, min(judged.copies[i], most) + 1)]
        ways += [passes[k] + k * costs.draft_step + best[i + k + 1] for k in range(1, min(drafted, most) + 1)]
        best[i] = min(ways)
    return Bound(passes[0] * max(0, n - 1), best[1] if n > 1 else 0.0)


@dataclass(frozen=True, slots=True)
class Reached:
    """What a category's replies could have gained at best, and the share of it that they reached."""

    category: str
    bound: float
    auto: float | None
    """Generation against plain, measured in the same replies."""

    @property
    def share(self) -> float | None:
        """Of the bound's speed."""
        return None if self.auto is None else self.auto / self.bound


def reached(runs: Sequence[Run], bounded: Sequence[tuple[Run, Bound]]) -> list[Reached]:
    """By category and over all; ``bounded``: replies of one mode, a part of ``runs``, each with its bound."""
    plain = baseline(dict.fromkeys(run.mode for run in runs))
    cells = {(run.prompt.id, run.repeat) for run, _ in bounded}
    categories = list(dict.fromkeys(run.prompt.category for run, _ in bounded))
    found = []
    for category in [*categories, ALL] if len(categories) > 1 else categories:
        own = [(run, one) for run, one in bounded if category in (ALL, run.prompt.category)]
        chosen = [r for r in runs if category in (ALL, r.prompt.category) and (r.prompt.id, r.repeat) in cells]
        ratio = compare(chosen, plain, own[0][0].mode) if plain is not None else None
        best = Bound(sum(one.plain_ms for _, one in own), sum(one.best_ms for _, one in own))
        found.append(Reached(category, best.speedup, ratio.value if ratio else None))
    return found
