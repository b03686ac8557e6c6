"""What a benchmark found, in words: one sentence for everybody, and the lines that ``tandem bench`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.bench.clairvoyant import Reached
from backend.bench.report import Divergence, Row, divergences, summarise, table
from backend.bench.runner import Run
from backend.bench.sweep import Best

_LEAST = 0.005
"""Of a speed: less is no difference, however often it was measured."""
_ALONE = 0.02
"""Two plain runs differ by about this much on a quiet machine: counts where nothing else tells the noise."""


def verdict(rows: Sequence[Row], *, pair: bool) -> str:
    """What speculation does here, from the rows over all categories; empty before plain and another way were measured.

    Args:
        rows: of :func:`backend.bench.report.summarise`.
        pair: whether a draft model was loaded.
    """
    own = _overall(rows)
    ways = [row for row in own if not _is_plain(row.mode) and row.compared]
    row = next((row for row in ways if row.mode == "auto"), ways[0] if ways else None)
    if row is None:
        return ""
    speed = _speed(row, _called(row.mode), "pair" if pair else "model", own)
    return f"{speed}; texts are identical in {row.equal} of {row.compared}"


def noise(rows: Sequence[Row]) -> str:
    """How much two measurements of the same differ here; empty where plain was measured once."""
    row = _again(_overall(rows))
    if row is None or row.generation is None:
        return ""
    found = row.generation
    between = f" ({found.low:.2f} to {found.high:.2f})" if found.prompts > 1 else ""
    return f"Plain decoding once more came out at {found.value:.2f} times its own speed{between}: that much is noise."


def lines(runs: Sequence[Run], best: Sequence[Best] = (), bounds: Sequence[Reached] = ()) -> Iterator[str]:
    """The table; the best fixed lengths and the bounds where there are any; where texts differ."""
    yield from table(summarise(runs))
    if best:
        yield "\nThe best fixed length, picked on one half of the measurements and compared on the other:"
        for b in best:
            yield (
                f"  {b.category}: {b.mode} {b.over_plain or '-'}, auto {b.auto_over_plain or '-'}, "
                f"auto / best {b.auto_over_best or '-'}"
            )
    if bounds:
        yield "\nBest possible by foresight (which guesses will stand), at the costs measured, and what auto reached:"
        for r in bounds:
            told = "-" if r.auto is None or r.share is None else f"auto {r.auto:.3f}, {r.share:.0%} of it"
            yield f"  {r.category}: {r.bound:.3f}, {told}"
    yield from differences(runs)


def differences(runs: Sequence[Run]) -> Iterator[str]:
    """Where texts differ from plain's; nothing where none does."""
    found = divergences(runs)
    if found:
        yield "\nReplies that differ from plain's, and the lead of either token over its second best there:"
        for d in found:
            yield f"  {d.mode}, {d.prompt_id}, repeat {d.repeat + 1}, at {d.index}: {margins(d)}"


def margins(d: Divergence) -> str:
    """How near a tie it was where a reply leaves plain's."""
    if d.worst is None:
        return "no margin is known"
    return ", ".join(
        f"{side} {margin:.3g}"
        for side, margin in (("plain", d.margin_plain), ("other", d.margin))
        if margin is not None
    )


def _speed(row: Row, who: str, what: str, own: Sequence[Row]) -> str:
    found = row.generation
    if found is None:
        return f"{who}: the replies were too short to measure a speed"
    between = f"{found.low:.2f} to {found.high:.2f}" if found.prompts > 1 else "one prompt, so no interval"
    unclear = found.prompts > 1 and found.low <= 1.0 <= found.high
    if unclear or abs(found.value - 1.0) <= _noise_of(own):
        return f"{who} makes no clear difference here: this {what} is {found.value:.2f} times as fast ({between})"
    if found.value > 1.0:
        return f"{who} makes this {what} {found.value:.2f} times as fast here ({between})"
    return f"{who} makes this {what} slower here: {found.value:.2f} times as fast ({between})"


def _called(mode: str) -> str:
    kind, _, length = mode.partition(":")
    if kind == "fixed" and length.isdecimal():
        return f"Speculation with {length} drafted a round"
    return "Speculation" if mode == "auto" else f"Speculation ({mode})"


def _noise_of(own: Sequence[Row]) -> float:
    row = _again(own)
    if row is None or row.generation is None:
        return _ALONE
    return max(_LEAST, abs(row.generation.value - 1.0))


def _overall(rows: Sequence[Row]) -> list[Row]:
    """Those of all categories together, which come last; of the only one where there is one."""
    return [row for row in rows if row.category == rows[-1].category]


def _again(own: Sequence[Row]) -> Row | None:
    """Plain decoding measured once more."""
    return next((row for row in own if _is_plain(row.mode) and row.compared), None)


def _is_plain(mode: str) -> bool:
    return mode.partition("#")[0] == "plain"
