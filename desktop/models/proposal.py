"""The pair to begin with: which of the catalogue this machine runs well, and the quick way to a first chat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.plan.fit import needs_of
from backend.plan.machine import Machine
from desktop.models.outlook import Outlook, outlook

USEFUL = 5.0
"""Tokens a second from which on a reply is written about as fast as it is read."""
_SHARE = 0.9
"""Of the free memory that a proposal may take: other programs want some in a while."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and a draft of the library, and what they come to together."""

    target: Any
    draft: Any
    outlook: Outlook

    @property
    def ids(self) -> list[str]:
        """The target's and the draft's."""
        return [self.target.id, self.draft.id]

    @property
    def size(self) -> int:
        """Bytes of both files."""
        return (self.target.size or 0) + (self.draft.size or 0)

    @property
    def fetched(self) -> int:
        """Bytes of them that are here."""
        return int(self.target.fetched + self.draft.fetched)

    @property
    def useful(self) -> bool:
        """Whether it is expected to write at a useful speed."""
        return self.outlook.ms > 0 and 1e3 / self.outlook.ms >= USEFUL


@dataclass(frozen=True, slots=True)
class Proposal:
    """What to offer. Without a ``best`` nothing fits; ``least`` is then what would take least. Bytes are free ones."""

    best: Pair | None = None
    small: Pair | None = None
    """The starter, where it is not the best itself."""
    least: Pair | None = None
    free: int = 0


def proposal(models: Iterable[Any], starter: Any, machine: Machine, room: int) -> Proposal:
    """The largest pair that fits the disk, leaves some memory free, and writes at least ``USEFUL`` tokens a second.

    Pairs are targets of the catalogue with the quickest of the drafts listed for them, as published first; gated ones
    are left out. Where none is that quick it is the starter, or else the smallest that fits. A download that was begun
    comes before all.

    Args:
        models: the library's.
        starter: the catalogue's: ids of a target and a draft, or None.
        machine: to plan for.
        room: free bytes on the disk for models.
    """
    known = {m.id: m for m in models if m.entry is not None and m.id == m.entry.id and not m.entry.gated}
    pairs = sorted((_quickest(m, known, machine) for m in known.values() if _with_drafts(m, known)), key=_size)
    fitting = [pair for pair in pairs if pair.outlook.fits]
    quick = _starter(starter, known, machine)
    if quick is None or quick.outlook.fits is False:
        quick = None
    free = machine.memory.usable + sum(card.usable for card in machine.gpus)
    roomy = [p for p in fitting if p.size - p.fetched <= room and p.outlook.memory <= _SHARE * free]
    useful = [pair for pair in reversed(roomy) if pair.useful]
    begun = (pair for pair in (quick, *useful) if pair is not None and pair.target.fetched)
    best = next(begun, None) or next(iter(useful), None) or quick or next(iter(fitting), None)
    if best is None:
        least = min((p for p in pairs if p.outlook.memory), key=lambda pair: pair.outlook.memory, default=None)
        return Proposal(least=least, free=free)
    return Proposal(best, quick if quick is not None and quick.size < best.size else None)


def _with_drafts(target: Any, known: dict[str, Any]) -> bool:
    return "target" in target.entry.roles and any(draft in known for draft in target.entry.drafts)


def _quickest(target: Any, known: dict[str, Any], machine: Machine) -> Pair:
    """With that of its drafts: of those that fit, where one does."""
    drafts = (known[draft] for draft in target.entry.drafts if draft in known)
    pairs = [_pair(target, draft, machine) for draft in drafts]
    return min(pairs, key=lambda pair: (not pair.outlook.fits, pair.outlook.ms, pair.size))


def _starter(starter: Any, known: dict[str, Any], machine: Machine) -> Pair | None:
    if starter is None or not {starter.target, starter.draft} <= known.keys():
        return None
    return _pair(known[starter.target], known[starter.draft], machine)


def _pair(target: Any, draft: Any, machine: Machine) -> Pair:
    needs, small = needs_of(target), needs_of(draft)
    return Pair(target, draft, Outlook() if needs is None or small is None else outlook(needs, small, machine))


def _size(pair: Pair) -> int:
    return int(pair.target.size or 0)
