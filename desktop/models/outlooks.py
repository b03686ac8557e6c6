"""Outlooks for the window: of all models, and of the pair to begin with; found out on a thread beside it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from typing import Any

import psutil
from PySide6.QtCore import QObject, Signal

from backend.library.paths import models_dir
from backend.library.progress import MARGIN, free_space
from backend.plan.fit import needs_of
from backend.plan.free import free_main_memory
from backend.plan.machine import measured_memory_rate
from backend.protocol import State
from desktop.errands import Errands
from desktop.models.forecast import here
from desktop.models.outlook import Outlook, by_size, outlook
from desktop.models.proposal import Proposal, proposal

log = logging.getLogger(__name__)

_ROOM_TO_MEASURE = 2 << 30
"""Bytes of free memory that measuring it takes a small part of."""
_LAST_SECONDS = 1.0
"""Folders that sleep are not waited for at the end."""


class Outlooks(QObject):
    """Computed anew when asked; signals arrive on the window's thread."""

    changed = Signal()
    proposed = Signal(object)
    """Proposal"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.by_id: dict[str, Outlook] = {}
        self.rate: float | None = None
        """Bytes a millisecond that memory was measured to give, where that was needed; what a loaded model shows is
        better."""
        self._errands = Errands("outlook", self)

    def close(self) -> None:
        """Look no further."""
        self._errands.close(_LAST_SECONDS)

    def ask(self, models: Iterable[Any], state: State) -> None:
        """Look at every model alone."""
        self._errands.run(partial(self._look, list(models), state), self._keep, _unknown)

    def ask_proposal(self, models: Iterable[Any], starter: Any, state: State) -> None:
        """Look for the pair to begin with; answered by ``proposed``.

        Args:
            models: the library's.
            starter: the catalogue's, or None.
            state: the engine's.
        """
        self._errands.run(partial(self._propose, list(models), starter, state), self.proposed.emit, _unknown)

    def of_entries(self, entries: Iterable[Any], state: State) -> dict[str, Outlook]:
        """Of catalogue entries whose files are not here, by their sizes; at once."""
        machine = here(state, self.rate)
        return {entry.id: by_size(entry.variants[0].size, machine) for entry in entries}

    def _look(self, models: list[Any], state: State) -> dict[str, Outlook]:
        machine = here(state, self.rate)
        found = {}
        for model in models:
            needs = needs_of(model)
            found[model.id] = by_size(model.size, machine) if needs is None else outlook(needs, None, machine)
        return found

    def _propose(self, models: list[Any], starter: Any, state: State) -> Proposal:
        """With this machine's own speed: gigabytes should not be fetched on the word of an assumed one."""
        if self.rate is None and free_main_memory() >= _ROOM_TO_MEASURE:
            self.rate = measured_memory_rate(psutil.cpu_count(logical=False) or 1)
        return proposal(models, starter, here(state, self.rate), _room())

    def _keep(self, found: dict[str, Outlook]) -> None:
        self.by_id = found
        self.changed.emit()


def _unknown(error: Exception) -> None:
    """What is not known is not shown."""
    log.error("outlook", exc_info=error)


def _room() -> int:
    """Free bytes for models; 0 where the place cannot be looked at: what is wrong with it the download says."""
    try:
        return free_space(models_dir()) - MARGIN
    except OSError as error:
        log.warning("how much room there is for models is not known: %s", error)
        return 0
