"""Outlooks for the window: of all models, and of the pair to begin with; found out on a thread beside it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
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
from desktop.models.forecast import here
from desktop.models.outlook import Outlook, by_size, outlook
from desktop.models.proposal import proposal

log = logging.getLogger(__name__)

_ROOM_TO_MEASURE = 2 << 30
"""Bytes of free memory that measuring it takes a small part of."""


class Outlooks(QObject):
    """Computed anew when asked; signals arrive on the window's thread."""

    changed = Signal()
    proposed = Signal(object)
    """Proposal"""
    _found = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.by_id: dict[str, Outlook] = {}
        self.rate: float | None = None
        """Bytes a millisecond that memory was measured to give, where that was needed; what a loaded model shows is
        better."""
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
            self._beside(partial(self._look, list(models), state))

    def ask_proposal(self, models: Iterable[Any], starter: Any, state: State) -> None:
        """Look for the pair to begin with; answered by ``proposed``.

        Args:
            models: the library's.
            starter: the catalogue's, or None.
            state: the engine's.
        """
        if not self._closed:
            self._beside(partial(self._propose, list(models), starter, state))

    def of_entries(self, entries: Iterable[Any], state: State) -> dict[str, Outlook]:
        """Of catalogue entries whose files are not here, by their sizes; at once."""
        machine = here(state, self.rate)
        return {entry.id: by_size(entry.variants[0].size, machine) for entry in entries}

    def _beside(self, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except Exception:  # a thread's top: what is not known is not shown
                log.exception("outlook")

        self._pool.submit(run)

    def _look(self, models: list[Any], state: State) -> None:
        machine = here(state, self.rate)
        found = {}
        for model in models:
            needs = needs_of(model)
            found[model.id] = by_size(model.size, machine) if needs is None else outlook(needs, None, machine)
        self._found.emit(found)

    def _propose(self, models: list[Any], starter: Any, state: State) -> None:
        """With this machine's own speed: gigabytes should not be fetched on the word of an assumed one."""
        if self.rate is None and free_main_memory() >= _ROOM_TO_MEASURE:
            self.rate = measured_memory_rate(psutil.cpu_count(logical=False) or 1)
        self.proposed.emit(proposal(models, starter, here(state, self.rate), _room()))

    def _keep(self, found: dict[str, Outlook]) -> None:
        self.by_id = found
        self.changed.emit()


def _room() -> int:
    """Free bytes for models; 0 where the place cannot be looked at: what is wrong with it the download says."""
    try:
        return free_space(models_dir()) - MARGIN
    except OSError as error:
        log.warning("how much room there is for models is not known: %s", error)
        return 0
