"""Numbers as the window writes them: with units, never jumping, and an estimate always marked as one.

Each figure has its definition beside it, because the tooltip of every number on screen says how it was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backend import wire
from backend.protocol import Timings
from desktop.language import counted, figure, marked, tr

MISSING = "–"
DEFINITIONS = {
    "rate": marked("Generation speed: (tokens − 1) ÷ time from the prompt's end to the last token."),
    "speedup": marked(
        "Speed-up against plain decoding: the time that plain passes would have taken, measured lately, ÷ "
        "generation time. “≈” until Compare has run both ways."
    ),
    "accepted": marked("Accepted: draft tokens that the target kept ÷ draft tokens that it checked."),
    "per_pass": marked(
        "Tokens per pass: tokens emitted ÷ passes of the target after the prompt. Plain decoding makes 1."
    ),
    "split": marked(
        "Where generation time goes: the draft proposing, the target verifying; the rest is Tandem itself."
    ),
    "context": marked("Tokens in the target's context ÷ its size."),
    "memory": marked(
        "Main memory that the engine holds and the system cannot take back ÷ memory of this machine. "
        "Weights mapped from the file are not counted: the system can drop them."
    ),
}

EXACT = marked(
    "Strict: drafts are checked in passes of up to {rows} tokens only. On this model file, engine and processor these "
    "were found to give the bits of one-token passes, so the text is plain decoding's."
)


@dataclass(slots=True, frozen=True)
class Figures:
    """One reply's figures as text."""

    rate: str = MISSING
    speedup: str = MISSING
    accepted: str = MISSING
    per_pass: str = MISSING
    split: str = MISSING


def figures(timings: Timings | None, measured_ratio: float | None = None) -> Figures:
    """The figures of a reply; ``measured_ratio`` is a comparison's, which replaces the estimate."""
    if timings is None:
        return Figures()
    estimate = timings.speedup if timings.draft_n else None  # without a draft it is 1 by definition
    rate, per_pass, accepted = timings.tokens_per_second, timings.tokens_per_pass, timings.acceptance
    return Figures(
        rate=tr("{rate:.1f} tok/s", rate=rate) if rate is not None else MISSING,
        speedup=speedup_text(estimate, measured_ratio),
        accepted=tr("{share:.0f} % accepted", share=100 * accepted) if accepted is not None else MISSING,
        per_pass=tr("{rate:.1f} tokens/pass", rate=per_pass) if per_pass is not None else MISSING,
        split=_split(timings),
    )


def speedup_text(estimate: float | None, measured: float | None = None) -> str:
    """``= 1.84×`` once measured by a comparison, ``≈ 1.84×`` against the measured plain cost."""
    if measured:  # 0 = the comparison had too little to measure
        return tr("= {ratio:.2f}×", ratio=measured)
    return tr("≈ {ratio:.2f}×", ratio=estimate) if estimate is not None else MISSING


def _split(timings: Timings) -> str:
    whole = timings.predicted_ms
    if whole <= 0 or not timings.draft_n:
        return MISSING
    draft, verify = (100 * part / whole for part in (timings.draft_ms, timings.verify_ms))
    return tr("draft {draft:.0f} % verify {verify:.0f} %", draft=draft, verify=verify)


def of_one_run(timings: Timings | None, comparison: dict[str, Any] | None) -> tuple[Timings | None, float | None]:
    """What :func:`figures` takes: the reply's own counters, or once compared the comparison's, never some of each."""
    ratio = (comparison or {}).get("generation_ratio") or None  # 0 = the comparison had too little to measure
    again = wire.read(Timings, (comparison or {}).get("speculation")) if ratio else None
    return again or timings, ratio


def footer(timings: Timings | None, comparison: dict[str, Any] | None, extra: list[str], story: str = "") -> str:
    """The line below a reply: only what was measured for this reply, or by the comparison of it.

    Args:
        timings: the reply's counters.
        comparison: what a comparison of it has measured.
        extra: how it ended.
        story: how a reply that was not written in one go came to be; the figures are of its last part then.
    """
    parts: list[str] = []
    timings, ratio = of_one_run(timings, comparison)
    if timings is not None and timings.predicted_n:
        shown = figures(timings, ratio)
        parts = [text for text in (shown.rate, shown.speedup, shown.accepted) if text != MISSING]
        n = timings.predicted_n
        parts.append(counted("{count:,} token", "{count:,} tokens", n, count=n))
    if story:
        parts[:1] = [story, *(tr("last part: {figures}", figures=part) for part in parts[:1])]
    return " · ".join(parts + extra)


def count(n: int) -> str:
    """1,204 below ten thousand, 12.3k above."""
    return figure(n, ",") if n < 10_000 else tr("{thousands:.1f}k", thousands=n / 1000)


def context(used: int | None, size: int | None) -> str:
    """``ctx 312/8,192``; nothing while either is not known."""
    return tr("ctx {used}/{size}", used=count(used), size=count(size)) if size and used is not None else MISSING


def gigabytes(n: int) -> str:
    """Decimal gigabytes, as disks and hubs count; megabytes where that would say nothing."""
    if n >= 50_000_000 or not n:
        return tr("{size:.1f} GB", size=n / 1e9)
    return tr("{size} MB", size=max(1, round(n / 1e6)))


def progress(name: str, done: int, total: int, speed: float) -> str:
    """``Qwen3 4B: 0.1 GB of 2.5 GB, 20.0 MB/s, 2 min left``; without figures while the size is not known."""
    if not total:
        return tr("{name}…", name=name)
    if speed <= 0:
        return tr("{name}: {share}", name=name, share=share(done, total))
    left = duration((total - done) / speed)
    return tr(
        "{name}: {share}, {speed:.1f} MB/s, {left} left",
        name=name,
        share=share(done, total),
        speed=speed / 1e6,
        left=left,
    )


def share(done: int, total: int) -> str:
    """``1.2 GB of 4.7 GB``; ``61 MB of 98 MB`` of what is less than a gigabyte."""
    if total < 1e9:
        return tr("{done:.0f} MB of {total:.0f} MB", done=done / 1e6, total=total / 1e6)
    return tr("{done} of {total}", done=gigabytes(done), total=gigabytes(total))


def percent(share: float) -> str:
    """``82 %``, of a share between 0 and 1."""
    return tr("{percent:.0f} %", percent=100 * share)


def duration(seconds: float) -> str:
    """``45 s``, ``3 min``, ``1 h 20 min``: no more exact than it can be known."""
    if seconds < 60:
        return tr("{seconds} s", seconds=max(1, round(seconds)))
    minutes = round(seconds / 60)
    if minutes < 60:
        return tr("{minutes} min", minutes=minutes)
    if minutes < 6000:
        return tr("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)
    return tr("days", note="how long something takes that ends nobody knows when")


def forecast_time(ms: float) -> str:
    """``40 s``, ``3 min``: as exact as a forecast can be."""
    return duration(max(5, 5 * round(ms / 5e3)))


def memory(used: int, total: int) -> str:
    """``2.1/16.8 GB``."""
    return tr("{used:.1f}/{total:.1f} GB", used=used / 1e9, total=total / 1e9) if used and total else MISSING
