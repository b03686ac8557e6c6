"""What a model, or a pair, would take and give on this machine: whether it fits, its memory, its speed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.plan.fit import fit, has_room, needs_of
from backend.plan.machine import Machine
from backend.plan.needs import Needs
from desktop.language import tr
from desktop.models.forecast import rate_text


@dataclass(slots=True, frozen=True)
class Outlook:
    """``fits`` is None where too little is known; memory in bytes, caches and buffers included; 0 = not known."""

    fits: bool | None = None
    reason: str = ""
    """Why it does not fit."""
    speed: str = ""
    memory: int = 0
    weights: int = 0
    """Of ``memory``; 0 = the parts are not known."""
    caches: int = 0
    ms: float = 0.0
    """Milliseconds a token."""
    gain: float = 0.0
    """Of a pair: how many times as fast as its target alone is there."""

    @property
    def words(self) -> str:
        """Both in one line."""
        if self.fits is False:
            if self.speed:
                return tr("does not fit: {reason}, {speed} here", reason=self.reason, speed=self.speed)
            return tr("does not fit: {reason}", reason=self.reason)
        return tr("{speed} here", speed=self.speed) if self.speed else ""


UNKNOWN = Outlook()


def outlook(target: Needs | None, draft: Needs | None, machine: Machine) -> Outlook:
    """Of a target, alone or with a draft."""
    if target is None:
        return UNKNOWN
    found = fit(target, draft, machine)
    best, request = found.plan, found.request
    if best is None:
        return Outlook(False, tr("too large for this machine"), "", target.weights + (draft.weights if draft else 0))
    return Outlook(
        found.fits,
        "" if found.fits else tr("larger than the free memory"),
        tr("≈ {rate}", rate=rate_text(best.ms)),
        memory=sum(best.taken.values()) + best.streamed,
        weights=sum(needs.resident(mapped=request.mapped) for needs in (target, draft) if needs is not None),
        caches=target.kv(request.n_ctx, request.kv_type)
        + (draft.kv(request.n_ctx, request.draft_kv_type) if draft is not None else 0),
        ms=best.ms,
        gain=best.plain_ms / best.ms,
    )


def pair_outlooks(target: Any, drafts: Iterable[Any], machine: Machine) -> dict[str, Outlook]:
    """Of a target with each of the drafts, by their ids; files are read for it: not on the window's thread."""
    needs, pairs = needs_of(target), {}
    for draft in drafts:
        small = needs_of(draft)
        pairs[draft.id] = outlook(needs, small, machine) if small is not None else UNKNOWN
    return pairs


def by_size(size: int | None, machine: Machine) -> Outlook:
    """Where nothing but the size of the file is known: weights and a little more must find room."""
    fits = has_room(size, machine)
    return UNKNOWN if fits is None else Outlook(fits, "" if fits else tr("larger than the free memory"))
