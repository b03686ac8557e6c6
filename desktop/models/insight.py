"""What the speculation panel shows of a reply: numbers for its plots, and the sentences below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from backend.equations import between, expected_tokens, flat_speedup, ms_per_token
from backend.protocol import CostTable, Timings
from desktop.figures import percent
from desktop.language import figure, marked, tr

CURVES = (4, 8)
"""Draft lengths whose Eq. (1) is drawn beside the reply's own."""
_WINDOW_MS = 1500.0
"""The rate at a moment is that of the last so many milliseconds."""
SHOWN_ROUNDS = 12


@dataclass(slots=True, frozen=True)
class Bar:
    """One round on the timeline, in milliseconds from the first that is shown."""

    start: float
    draft: float
    verify: float
    host: float


def rate_points(rounds: Sequence[dict[str, Any]]) -> list[tuple[float, float]]:
    """(seconds, tokens per second) after each round."""
    out: list[tuple[float, float]] = []
    seen: list[tuple[float, int]] = [(0.0, 0)]
    for record in rounds:
        if _number(record, "verify_ms") <= 0:  # the prompt's own token takes no pass
            continue
        ms = seen[-1][0] + _number(record, "draft_ms") + _number(record, "verify_ms") + _number(record, "host_ms")
        seen.append((ms, seen[-1][1] + int(_number(record, "emitted"))))
        first = next((at for at in reversed(seen) if ms - at[0] >= _WINDOW_MS), seen[0])
        if ms - first[0] >= 0.1 * _WINDOW_MS:
            out.append((ms / 1e3, 1e3 * (seen[-1][1] - first[1]) / (ms - first[0])))
    return out


def position_shares(timings: Timings) -> list[float]:
    """Of the draft tokens at each place, how many stood."""
    pairs = zip(timings.accepted_per_position, timings.drafted_per_position, strict=False)
    return [stood / drafted for stood, drafted in pairs if drafted]


def passes(rounds: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that took a pass of their own: the prompt's own token takes none."""
    return [record for record in rounds if _number(record, "verify_ms") > 0]


def timeline(rounds: Sequence[dict[str, Any]]) -> list[Bar]:
    """Rounds one after the other."""
    out: list[Bar] = []
    at = 0.0
    for record in rounds:
        bar = Bar(at, *(_number(record, name) for name in ("draft_ms", "verify_ms", "host_ms")))
        out.append(bar)
        at += bar.draft + bar.verify + bar.host
    return out


def says_timeline(rounds: Sequence[dict[str, Any]], end: int, plain_ms: float | None) -> str:
    """What these rounds brought in their time, and what plain decoding brings in it.

    Args:
        rounds: those shown.
        end: the number of the reply's last round: it is not how many there are where the first are not kept, or
            belong to an earlier part of the reply.
        plain_ms: of a plain pass, where that was measured.
    """
    bars = timeline(rounds)
    if not bars:
        return tr("No rounds yet.")
    took = bars[-1].start + bars[-1].draft + bars[-1].verify + bars[-1].host
    tokens = sum(int(_number(record, "emitted")) for record in rounds)
    values: dict[str, Any] = {"first": number_of(rounds[0]), "last": number_of(rounds[-1]), "end": end, "took": took}
    if not plain_ms:
        return tr(
            "Rounds {first} to {last} of {end}, drafting and the pass: {tokens} tokens in {took:,.0f} ms.",
            tokens=tokens,
            **values,
        )
    return tr(
        "Rounds {first} to {last} of {end}, drafting and the pass: {tokens} tokens in {took:,.0f} ms; plain decoding, "
        "above, makes {plain:.0f}, {each:.0f} ms each.",
        tokens=tokens,
        plain=took / plain_ms,
        each=plain_ms,
        **values,
    )


def number_of(record: dict[str, Any]) -> int:
    """A round's number in its reply."""
    return int(_number(record, "round"))


def usual_length(timings: Timings) -> int:
    """Draft tokens of a round that had any, on average."""
    rounds = sum(counts[0] for counts in timings.by_source.values())
    return round(timings.draft_n / rounds) if rounds else 0


def says_equation_one(timings: Timings) -> str:
    """Tokens a pass: what Eq. (1) expects of this acceptance and length, and what came."""
    alpha, k, came = timings.alpha, usual_length(timings), timings.tokens_per_pass
    if alpha is None or not k or came is None:
        return tr("Nothing was drafted in this reply.")
    return tr(
        "Acceptance {alpha:.2f} at {k} drafted a round: Eq. (1) expects {expected:.2f} tokens a pass; over all passes, "
        "those without a draft too, {came:.2f} came.",
        alpha=alpha,
        k=k,
        expected=expected_tokens(alpha, k),
        came=came,
    )


def says_equation_two(timings: Timings, cost: CostTable | None) -> str:
    """Milliseconds a token: what Eq. (2) expects from the costs measured here, and what it was."""
    alpha, k = timings.alpha, usual_length(timings)
    if timings.predicted_n < 2 or timings.predicted_ms <= 0:
        return ""
    took = timings.predicted_ms / (timings.predicted_n - 1)
    if alpha is None or not k or cost is None or not cost.target:
        return tr("It took {took:.1f} ms a token.", took=took)
    step = (cost.draft_step or 0.0) if "draft" in timings.by_source else 0.0
    expected = ms_per_token(pass_ms(cost, k + 1), k, step, expected_tokens(alpha, k))
    said = marked("Eq. (2) expects {expected:.1f} ms a token of such rounds; the reply took {took:.1f}.")
    return tr(said, expected=expected, took=took)


def cost_rows(cost: CostTable | None) -> list[tuple[str, str, str]]:
    """What passes cost on this machine: over how many tokens, milliseconds, and how many plain passes that is."""
    if cost is None or not cost.target:
        return []
    one = pass_ms(cost, 1)
    sizes = [n for n in (1, 2, 4, 8, 16) if n <= max(cost.target)]
    rows = [(tr("pass over {n}", n=n), pass_ms(cost, n)) for n in sizes]
    if cost.draft_step:
        rows.append((tr("draft step"), cost.draft_step))
    return [(name, figure(ms, ".1f"), figure(ms / one, ".2f")) for name, ms in rows]


def time_shares(timings: Timings) -> tuple[float, float, float] | None:
    """Of the time that rounds took: drafting, the target's passes, and the rest of the work; None before any."""
    parts = timings.draft_ms, timings.verify_ms, timings.host_ms
    whole = sum(parts)
    return (parts[0] / whole, parts[1] / whole, parts[2] / whole) if whole > 0 else None


def says_shares(shares: tuple[float, float, float] | None) -> str:
    """The same in words."""
    if shares is None:
        return tr("No rounds yet.")
    draft, verify, host = map(percent, shares)
    return tr("In this order: draft {draft}, target {verify}, host {host}.", draft=draft, verify=verify, host=host)


def says_what_if(alpha: float, k: int, share: float, cost: CostTable | None) -> str:
    """What drafts of ``k`` tokens would bring."""
    tokens = expected_tokens(alpha, k)
    flat = flat_speedup(alpha, k, share)
    if cost is None or not cost.target:
        said = marked("{tokens:.2f} tokens a pass; {flat:.2f}× if a pass cost the same whatever its length.")
        return tr(said, tokens=tokens, flat=flat)
    one = pass_ms(cost, 1)
    return tr(
        "{tokens:.2f} tokens a pass; {flat:.2f}× if a pass cost the same whatever its length, {here:.2f}× with the "
        "passes of this machine.",
        tokens=tokens,
        flat=flat,
        here=one * tokens / (pass_ms(cost, k + 1) + k * share * one),
    )


def pass_ms(cost: CostTable, n: int) -> float:
    """What a pass over ``n`` tokens costs here, between the measured sizes too."""
    return between(cost.target, sorted(cost.target), n)


def _number(record: dict[str, Any], name: str) -> float:
    value = record.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
