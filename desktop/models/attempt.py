"""Doing what reads or writes the chats: a fault is said, and "Try again" does the same once more.

A task writes first and shows afterwards, so that a failed one leaves everything as it was and can be run again. What is
written is on disk in moments, unless the disk is slow or another program holds the chats: that is waited for beside the
window.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from desktop.language import tr
from desktop.store import StoreError
from desktop.words import Notice, notice

PATIENCE_S = 0.2
"""How long a write is waited for at once."""
Steps = Generator["Future[Any]", Any, None]
"""A task that yields each write it has to wait for, and is given what came of it."""


def attempt(task: Callable[[], object], say: Callable[[Notice], None]) -> bool:
    """Run ``task``, which only reads; False when the store failed it."""
    try:
        task()
    except StoreError as error:
        say(notice(error, retry=partial(attempt, task, say)))
        return False
    return True


@dataclass(slots=True, eq=False)
class _Task:
    steps: Steps
    again: Callable[[], object]


class Attempts(QObject):
    """Tasks that write, each in its own time."""

    noticed = Signal(object)
    withdrawn = Signal(object)
    """Notice: this one is no longer so."""
    _written = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: list[_Task] = []
        self._written.connect(self._go_on)

    @property
    def waiting(self) -> bool:
        """Whether something is not on disk yet."""
        return bool(self._waiting)

    def run(self, task: Callable[[], Steps], again: Callable[[], object] | None = None) -> bool:
        """Begin ``task``.

        Args:
            task: makes its steps.
            again: what "Try again" does; None = the same.

        Returns:
            False when the store has failed it already.
        """
        return self._advance(_Task(task(), again or partial(self.run, task)), None)

    def say(self) -> None:
        """That something is waited for."""
        self.noticed.emit(_held())

    def _advance(self, task: _Task, done: Future[Any] | None) -> bool:
        try:
            while True:
                done = task.steps.send(None if done is None else done.result())
                wait([done], PATIENCE_S)
                if not done.done():
                    break
        except StopIteration:
            return True
        except StoreError as error:
            task.steps.close()
            self.noticed.emit(notice(error, retry=task.again))
            return False
        self._waiting.append(task)
        self.say()
        done.add_done_callback(partial(self._written.emit, task))
        return True

    def _go_on(self, task: _Task, done: Future[Any]) -> None:
        self._waiting.remove(task)
        if not self._waiting:
            self.withdrawn.emit(_held())
        self._advance(task, done)


def _held() -> Notice:
    why = tr("The disk is slow, or another program uses the chats. What you did is done as soon as it can be.")
    return Notice(tr("Waiting for the disk"), why, mild=True)
