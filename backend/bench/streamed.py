"""``--workload streamed``: short answers, each from a cold page cache, with what they took and the peak of memory.

Meant for a target that is larger than the memory, where an answer of a few words takes as many readings of the disk as
passes. The passes shown are all of them, the prompt's too: a plain answer of n tokens takes n.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backend.bench.modes import baseline
from backend.bench.report import diverge
from backend.bench.runner import Contestant, Run
from backend.bench.workloads import STREAMED, Prompt
from backend.client import EngineClient
from backend.errors import EngineError
from backend.protocol import Sampling
from backend.text import one_line, shown_size

MODES = "plain,fixed:8,auto"
_DROP = Path("/proc/sys/vm/drop_caches")
_LOOK_EVERY = 0.2
"""Seconds between two looks at the worker's memory."""
_SHOWN = 28
"""Characters of an answer."""
_HEAD = ["question", "of", "mode", "answer", "passes", "request", "s/token", "peak", "equal"]


def drop_page_cache(files: Iterable[Path], switch: Path = _DROP) -> str:
    """Have the system forget what it read; in words, how far that could be done.

    Args:
        files: of the models. What a process has mapped of them stays in any case.
        switch: the system's own (Linux, root only).
    """
    with contextlib.suppress(OSError):
        switch.write_text("1\n", encoding="ascii")
        return "dropped before each reply"
    if not hasattr(os, "posix_fadvise"):
        return "not dropped: this system has no way to"
    for file in files:
        with contextlib.suppress(OSError), file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return "not dropped, as that needs root: only the models' files were, where nobody uses them"


def questions(max_tokens: int | None) -> tuple[Prompt, ...]:
    """The workload's, or those of one length for another length."""
    if max_tokens is None:
        return STREAMED
    first = {prompt.category: prompt for prompt in STREAMED}
    return tuple(replace(prompt, id=f"{name}-{max_tokens}", tokens=max_tokens) for name, prompt in first.items())


@dataclass(frozen=True, slots=True)
class Cold:
    """A contestant whose every reply starts from a cold page cache, with the worker's memory watched.

    Args:
        inner: who replies.
        files: of the models; empty leaves the page cache as it is.
        client: whose worker is watched; None watches nothing.
    """

    inner: Contestant
    files: Sequence[Path] = ()
    client: EngineClient | None = None

    @property
    def name(self) -> str:
        """See :class:`backend.bench.runner.Contestant`."""
        return self.inner.name

    async def answer(self, prompt: Prompt, sampling: Sampling, repeat: int = 0) -> Run:
        """See :class:`backend.bench.runner.Contestant`."""
        if self.files:
            await asyncio.to_thread(drop_page_cache, self.files)
        seen: list[int] = []
        watching = asyncio.ensure_future(self._watch(seen))
        try:
            run = await self.inner.answer(prompt, sampling, repeat)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if not seen:  # it was over before the first look
            await self._look(seen)
        run.peak_memory = max(seen, default=0)
        return run

    async def _watch(self, seen: list[int]) -> None:
        while self.client is not None:
            await self._look(seen)
            await asyncio.sleep(_LOOK_EVERY)

    async def _look(self, seen: list[int]) -> None:
        if self.client is not None:
            with contextlib.suppress(EngineError):  # the reply itself says what is wrong
                seen.append((await self.client.state()).memory)


def table(runs: Sequence[Run]) -> list[str]:
    """Each reply, and each mode over all of them, as lines of text."""
    modes, asked = (list(dict.fromkeys(names)) for names in ((r.mode for r in runs), (r.prompt.id for r in runs)))
    base = baseline(modes)
    runs = sorted(runs, key=lambda run: (asked.index(run.prompt.id), run.repeat, modes.index(run.mode)))
    plain = {(run.prompt.id, run.repeat): run for run in runs if run.mode == base}
    rows = [_HEAD]
    for run in runs:
        other = plain.get((run.prompt.id, run.repeat))
        rows.append(_row(run.prompt.category, str(run.prompt.tokens or "-"), one_line(run.text), [run], [other]))
    for mode in modes:
        own = [run for run in runs if run.mode == mode]
        rows.append(_row("all", "", "", own, [plain.get((run.prompt.id, run.repeat)) for run in own]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*lines[: 1 + len(runs)], "", *lines[1 + len(runs) :], *_ratios(runs, modes, base)]


def _row(question: str, asked: str, answer: str, own: Sequence[Run], plain: Sequence[Run | None]) -> list[str]:
    seconds, tokens = _seconds(own), sum(run.timings.predicted_n for run in own)
    peak = max(run.peak_memory for run in own)
    compared = [(run, p) for run, p in zip(own, plain, strict=True) if p is not None and p is not run]
    equal = sum(diverge(p, run) is None for run, p in compared)
    return [
        question,
        asked,
        own[0].mode,
        answer if len(answer) <= _SHOWN else answer[: _SHOWN - 1] + "…",
        str(sum(1 + run.timings.passes for run in own)) if all(run.own for run in own) else "-",
        f"{seconds:.2f} s",
        f"{seconds / tokens:.2f}" if tokens else "-",
        shown_size(peak) if peak else "-",
        f"{equal}/{len(compared)}" if compared else "-",
    ]


def _ratios(runs: Sequence[Run], modes: Sequence[str], base: str | None) -> list[str]:
    """Seconds a token as a share of plain's."""
    per_token = {}
    for mode in modes:
        own = [run for run in runs if run.mode == mode]
        tokens = sum(run.timings.predicted_n for run in own)
        if tokens and (seconds := _seconds(own)):
            per_token[mode] = seconds / tokens
    if base not in per_token or len(per_token) < 2:
        return []
    shares = (f"{mode} {ms / per_token[base]:.2f}" for mode, ms in per_token.items() if mode != base)
    return ["", f"Seconds a token, with the prompt's reading, as a share of {base}'s: {', '.join(shares)}."]


def _seconds(runs: Iterable[Run]) -> float:
    return sum(run.timings.request_ms for run in runs) / 1e3
