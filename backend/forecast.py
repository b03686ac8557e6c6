"""What a draft would gain on replies that exist: acceptance, the best fixed length, and the speed-up it promises.

The tokens per pass of each length come from walking the replies with the draft's hits, the time of a round from
measured costs (Eq. (2)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backend.equations import LONGEST, ms_per_token
from backend.protocol import CostTable


@dataclass(frozen=True, slots=True)
class Forecast:
    """One draft's prospects."""

    draft: str
    tokens: int
    """Of the replies judged."""
    acceptance: float
    """Share of the replies' tokens that are the draft's top choice."""
    step: float
    """What a draft step costs, in plain passes."""
    best: int
    """The best fixed length; 0 where none beats plain decoding."""
    speedup: float
    """Of generation, at that length."""
    speedups: Mapping[int, float]
    """Length -> speed-up."""


def forecast(draft: str, replies: Sequence[str], costs: CostTable, longest: int = LONGEST) -> Forecast:
    """From hits ("1" = accepted) a reply, in order.

    Args:
        draft: its id.
        replies: at least one token in all.
        costs: measured, with a draft step.
        longest: most draft tokens of a pass.
    """
    step = costs.draft_step
    assert step is not None, "a loaded draft has been measured"
    plain = costs.at(1)
    speedups = {
        k: plain / ms_per_token(costs.at(k + 1), k, step, tokens_per_pass(replies, k)) for k in range(1, longest + 1)
    }
    best = max(speedups, key=lambda k: speedups[k], default=0)
    pays = speedups.get(best, 1.0) > 1.0
    tokens = sum(map(len, replies))
    return Forecast(
        draft=draft,
        tokens=tokens,
        acceptance=sum(hits.count("1") for hits in replies) / tokens,
        step=step / plain,
        best=best if pays else 0,
        speedup=speedups[best] if pays else 1.0,
        speedups=speedups,
    )


def tokens_per_pass(replies: Sequence[str], k: int) -> float:
    """Tokens a pass yields with drafts of ``k``. A reply's first token comes from its prompt and costs no pass."""
    tokens = passes = 0
    for hits in replies:
        at = 1
        while at < len(hits):
            run = hits[at : at + k]
            stood = len(run) if "0" not in run else run.index("0")
            at += stood + 1
            passes += 1
        tokens += max(0, len(hits) - 1)
    return tokens / passes if passes else 1.0
