"""Cycles are collected on the window's thread, however much other threads allocate."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from desktop.garbage import Garbage


class Cycle:
    """Refers to itself; only the collector ends it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def ended(qapp: object) -> Iterator[list[int]]:
    """The thread on which a cycle ended, once it has."""
    gc.enable()
    gc.collect()  # the count begins anew
    on: list[int] = []
    garbage = Garbage()
    weakref.finalize(Cycle(), lambda: on.append(threading.get_ident()))
    yield on
    garbage.close()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_a_thread_that_allocates_collects_nothing(ended: list[int], qtbot: QtBot) -> None:
    thread = threading.Thread(target=lambda: [Cycle() for _ in range(20_000)])
    thread.start()
    thread.join()
    assert ended == []
    qtbot.waitUntil(lambda: ended == [threading.get_ident()])


def test_without_it_the_thread_collects() -> None:
    """The fault itself: this is what would touch a window from another thread."""
    gc.enable()
    gc.collect()  # the count begins anew
    on: list[int] = []
    weakref.finalize(Cycle(), lambda: on.append(threading.get_ident()))
    thread = threading.Thread(target=lambda: [Cycle() for _ in range(20_000)])
    thread.start()
    ident = thread.ident
    thread.join()
    assert on == [ident]
