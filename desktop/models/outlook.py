"""What each model would take and give on this machine: whether it fits, its memory, its speed; found out beside it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError
from backend.plan.machine import Machine
from backend.plan.needs import Needs, of_model, of_published
from backend.plan.plan import plans
from backend.plan.request import request_for
from backend.protocol import LoadOptions, State
from desktop.language import tr
from desktop.models.forecast import here, rate_text

log = logging.getLogger(__name__)


@dataclass(slots=True, frozen=True)
class Outlook:
    """``fits`` is None where too little is known; memory in bytes, caches and buffers included; 0 = not known."""

    fits: bool | None = None
    reason: str = ""
    """Why it does not fit."""
    speed: str = ""
    memory: int = 0

    @property
    def words(self) -> str:
        """Both in one line."""
        if self.fits is False:
            if self.speed:
                return tr("does not fit: {reason}, {speed} here", reason=self.reason, speed=self.speed)
            return tr("does not fit: {reason}", reason=self.reason)
        return tr("{speed} here", speed=self.speed) if self.speed else ""


UNKNOWN = Outlook()
_BESIDE = 1.15
"""What caches and buffers add to the weights, about."""


def outlook(target: Needs | None, draft: Needs | None, machine: Machine) -> Outlook:
    """Of a target, alone or with a draft."""
    if target is None:
        return UNKNOWN
    found = plans(request_for(LoadOptions(), target, draft), machine)
    wanted = [plan for plan in found if (plan.where != "none") == (draft is not None)]
    if not wanted:
        return Outlook(False, tr("too large for this machine"), "", target.weights + (draft.weights if draft else 0))
    best = wanted[0]
    memory = sum(best.taken.values()) + best.streamed
    speed = tr("≈ {rate}", rate=rate_text(best.ms))
    if best.streamed:
        return Outlook(False, tr("larger than the free memory"), speed, memory)
    return Outlook(True, "", speed, memory)


def by_size(size: int | None, machine: Machine) -> Outlook:
    """Where nothing but the size of the file is known: weights and a little more must find room."""
    if not size:
        return UNKNOWN
    room = machine.memory.usable + sum(card.usable for card in machine.gpus)
    fits = size * _BESIDE <= room
    return Outlook(fits, "" if fits else tr("larger than the free memory"))


class Outlooks(QObject):
    """Computed anew when asked; signals arrive on the window's thread."""

    changed = Signal()
    paired = Signal(str, object)
    """target, {draft: Outlook of the pair}"""
    _found = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.by_id: dict[str, Outlook] = {}
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="outlook")
        self._closed = False
        self._found.connect(self._keep)

    def close(self) -> None:
        """Wait for the thread."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def ask(self, models: Iterable[Any], state: State) -> None:
        """Look at every model alone."""
        if not self._closed:
            self._pool.submit(self._look, list(models), state)

    def ask_pairs(self, target: Any, drafts: Sequence[Any], state: State) -> None:
        """Look at a target with each of the drafts."""
        if not self._closed:
            self._pool.submit(self._look_at_pairs, target, list(drafts), state)

    def of_entries(self, entries: Iterable[Any], state: State) -> dict[str, Outlook]:
        """Of catalogue entries whose files are not here, by their sizes; at once."""
        machine = here(state)
        return {entry.id: by_size(entry.variants[0].size, machine) for entry in entries}

    def _look(self, models: list[Any], state: State) -> None:
        machine = here(state)
        found = {}
        for model in models:
            needs = _needs(model)
            found[model.id] = by_size(model.size, machine) if needs is None else outlook(needs, None, machine)
        self._found.emit(found)

    def _look_at_pairs(self, target: Any, drafts: list[Any], state: State) -> None:
        machine, needs = here(state), _needs(target)
        pairs = {}
        for draft in drafts:
            small = _needs(draft)
            pairs[draft.id] = outlook(needs, small, machine) if small is not None else UNKNOWN
        self.paired.emit(target.id, pairs)

    def _keep(self, found: dict[str, Outlook]) -> None:
        self.by_id = found
        self.changed.emit()


def _needs(model: Any) -> Needs | None:
    """From the catalogue where it says enough, else from the file."""
    try:
        return of_published(model) or of_model(model)
    except (EngineError, OSError) as error:  # the file went, or changed, since it was listed
        log.info("%s cannot be planned: %s", model.id, error)
        return None
