"""Work that is interrupted when its time is over, in a thread of its own."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _TimeOver(BaseException):
    """Thrown into a rendering thread; no ``except Exception`` on the way may swallow it."""


def run_limited(work: Callable[[], T], seconds: float) -> T:
    """Run ``work`` in a thread, interrupt it when its time is over.

    Raises:
        TimeoutError: it did not end in time.
        Exception: whatever ``work`` raised.
    """
    outcome: list[Any] = []
    done = threading.Event()
    lock = threading.Lock()  # no interrupt may be sent once the work has ended

    def run() -> None:
        result: tuple[bool, Any]
        try:
            try:
                result = (True, work())
            except Exception as exc:  # noqa: BLE001 - handed to the caller, who raises it
                result = (False, exc)
            with lock:
                outcome.append(result)
                done.set()
        except _TimeOver:
            done.set()

    thread = threading.Thread(target=run, name="chat template", daemon=True)
    thread.start()
    if not done.wait(seconds):
        with lock:
            if not done.is_set() and thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_TimeOver))
        done.wait(0.5)
    if not outcome:
        raise TimeoutError
    ok, value = outcome[0]
    if not ok:
        raise value
    result: T = value
    return result
