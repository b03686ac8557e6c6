"""Work of the engine in a process of its own: one that can be ended at any time, and whose end ends nothing else."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

_KILLED = (-9, -15)
"""Exit codes of what was ended by another program, or by the system for want of memory."""
_FINISHED = (0, 1)
"""Python's own: at an end, and at an exception."""
_LAST_SECONDS = 5.0
"""From the end of what a process says to its own."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Another process.

    Attributes:
        answer: where its answer comes from (``EOFError``: it ended without).
    """

    answer: Connection
    _child: SpawnProcess

    def crashed(self) -> bool:
        """Whether it was ended by a fault of its own: an assertion, an address that is none. Waits for its end."""
        self._child.join(_LAST_SECONDS)
        return self._child.exitcode not in (*_FINISHED, *_KILLED, None)


@contextmanager
def process(work: Callable[..., None], *given: object) -> Iterator[Aside]:
    """``work(*given, answer)`` in another process.

    The process is gone afterwards, finished or not.

    Args:
        work: a function of a module; it calls :func:`end_with_parent` first, and answers by ``answer.send``.
        given: what can be pickled.
    """
    spawn = multiprocessing.get_context("spawn")
    answer, its_end = spawn.Pipe(duplex=False)
    child = spawn.Process(target=work, args=(*given, its_end), daemon=True)
    with _sigint_ignored():  # the process inherits it: Ctrl-C is for this one, which ends that one
        child.start()
    its_end.close()
    try:
        yield Aside(answer, child)
    finally:
        child.kill()
        child.join()
        child.close()
        answer.close()


def end_with_parent() -> None:
    """In the other process: whoever asked may be killed; nobody would take what it makes then."""
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextmanager
def _sigint_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only that one may, and only that one gets Ctrl-C
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
