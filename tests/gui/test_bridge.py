"""What the bridge owes to the engine: an end, whatever else is asked meanwhile."""

from __future__ import annotations

import asyncio

import pytest
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from tests.gui.scripted import ScriptedEngine


class SlowToClose(ScriptedEngine):
    """Takes its time to end, as a worker does that frees its models."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = self.ended = 0

    async def close(self) -> None:
        self.begun += 1
        await asyncio.sleep(0.8)
        self.ended += 1


@pytest.fixture
def engine() -> SlowToClose:
    return SlowToClose()


def test_closing_during_a_restart_lets_the_old_engine_end(desktop: Desktop, engine: SlowToClose, qtbot: QtBot) -> None:
    desktop.engine.restart()
    qtbot.waitUntil(lambda: engine.begun == 1)
    desktop.close()
    assert engine.ended == engine.begun == 1


def test_a_second_restart_waits_for_the_end_of_the_first_ones_engine(
    desktop: Desktop, engine: SlowToClose, qtbot: QtBot
) -> None:
    desktop.engine.restart()
    qtbot.waitUntil(lambda: engine.begun == 1)
    desktop.engine.restart()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None)
    assert engine.ended == engine.begun == 1
