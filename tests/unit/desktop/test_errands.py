"""Errands: in order, told on the window's thread, and not waited for at the end where they hang."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from desktop.errands import Errands


@pytest.fixture
def errands(qtbot: QtBot) -> Iterator[Errands]:
    made = Errands("errands")
    yield made
    made.close(1.0)


def test_each_is_told_in_order_on_this_thread(errands: Errands, qtbot: QtBot) -> None:
    heard: list[tuple[object, int]] = []

    def hear(what: object) -> None:
        heard.append((what, threading.get_ident()))

    def fail() -> None:
        raise OSError("no disk")

    errands.run(lambda: threading.get_ident(), hear, hear)
    errands.run(fail, hear, lambda error: hear(str(error)))
    errands.run(lambda: "last", hear, hear)
    qtbot.waitUntil(lambda: len(heard) == 3, timeout=5000)
    here = threading.get_ident()
    assert [what for what, _ in heard[1:]] == ["no disk", "last"]
    assert heard[0][0] != here
    assert {where for _, where in heard} == {here}


def test_one_that_hangs_keeps_no_end(errands: Errands, qtbot: QtBot) -> None:
    disk, begun, heard = threading.Event(), threading.Event(), []

    def hang() -> str:
        begun.set()
        disk.wait(20)
        return "late"

    errands.run(hang, heard.append, heard.append)
    errands.run(lambda: "never", heard.append, heard.append)
    assert begun.wait(5)
    errands.close(0.05)
    assert not disk.is_set()
    disk.set()
    errands.close(5.0)
    qtbot.wait(20)
    assert heard == []


def test_what_runs_is_waited_for_when_that_is_asked(errands: Errands) -> None:
    begun, written = threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        threading.Event().wait(0.1)
        written.set()

    errands.run(write, lambda _: None, lambda _: None)
    assert begun.wait(5)
    errands.close()
    assert written.is_set()
    errands.run(written.clear, lambda _: None, lambda _: None)
    assert written.is_set(), "after the end nothing is begun"
