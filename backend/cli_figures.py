"""A reply's figures in words, for the terminal. Every number is measured; what is estimated carries a sign for it."""

from __future__ import annotations

from backend.protocol import Difference, Finished, Timings


def status_line(end: Finished) -> str:
    """One line: tokens, speed, speed-up against the measured plain cost, acceptance; or why nothing was proposed."""
    t = end.timings
    parts = [f"{t.predicted_n} tokens"]
    if (speed := t.tokens_per_second) is not None:
        parts.append(f"{speed:.1f} tok/s")
    if t.draft_n:
        if t.speedup is not None:
            parts.append(f"≈{t.speedup:.2f}× plain")
        parts += [f"{t.acceptance:.0%} accepted", f"{t.tokens_per_pass:.2f} tokens per pass", sources(t)]
    elif end.note:
        parts.append(f"plain: {end.note}")
    else:
        parts.append("plain: speculation is off")
    if end.reason == "cancelled":
        parts.append("stopped")
    return " · ".join(parts)


def sources(timings: Timings) -> str:
    """Which sources proposed, and in how many rounds."""
    used = {name: counts[0] for name, counts in timings.by_source.items() if counts[0]}
    if not used:
        return "none used"
    return ", ".join(f"{name} in {_rounds(rounds)}" for name, rounds in used.items())


def difference_line(difference: Difference | None) -> str:
    """``identical``, or the first difference and what it comes from, in the engine's words."""
    if difference is None:
        return "identical"
    d = difference
    return (
        f"first difference at token {d.index + 1}: {d.plain_text!r} without, {d.other_text!r} with speculation. "
        f"{d.explanation}"
    )


def stats(timings: Timings) -> list[str]:
    """Where the time of a reply went, line by line."""
    t = timings
    lines = [
        f"prompt       {t.prompt_n} tokens in {t.prompt_ms:.0f} ms, {t.cache_n} kept from before",
        f"generation   {t.predicted_n} tokens in {t.predicted_ms:.0f} ms, {t.passes} passes",
        f"  target     {t.verify_ms:.0f} ms",
        f"  draft      {t.draft_ms:.0f} ms, and {t.draft_prompt_ms:.0f} ms for {t.draft_prompt_n} tokens of the prompt",
        f"  host       {t.host_ms:.0f} ms",
    ]
    if t.draft_n:
        lines.append(f"drafts       {t.draft_n} verified, {t.draft_n_accepted} accepted, by source: {sources(t)}")
        each = zip(t.accepted_per_position, t.drafted_per_position, strict=True)
        lines.append("  by position " + " ".join(f"{accepted / drafted:.0%}" for accepted, drafted in each if drafted))
    if t.plain_ms:
        lines.append(f"plain pass   {t.plain_ms:.1f} ms, measured")
    return lines


def _rounds(n: int) -> str:
    return "1 round" if n == 1 else f"{n} rounds"
