"""Doing what reads or writes the chats: a fault is said, and "Try again" does the same once more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from desktop.store import StoreError
from desktop.words import Notice, notice


def attempt(task: Callable[[], object], say: Callable[[Notice], None]) -> bool:
    """Run ``task``; False when the store failed it.

    A task writes first and shows afterwards, so that a failed one leaves everything as it was and can be run again.
    """
    try:
        task()
    except StoreError as error:
        say(notice(error, retry=partial(attempt, task, say)))
        return False
    return True
