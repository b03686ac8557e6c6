"""What the window finds out about models beside it is answered whatever the disk is like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from backend.protocol import State
from desktop.models.outlooks import Outlooks
from desktop.models.proposal import Proposal
from tests.unit.desktop.test_proposal import STARTER, catalogue


@pytest.fixture
def outlooks(qtbot: QtBot) -> Iterator[Outlooks]:
    made = Outlooks()
    made.rate = 1e7  # known: nothing has to be measured
    yield made
    made.close()


def test_a_pair_is_proposed_where_the_room_for_models_is_not_known(
    outlooks: Outlooks, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TANDEM_MODELS_DIR", str(tmp_path / ("long" * 100) / "models"))
    with qtbot.waitSignal(outlooks.proposed) as told:
        outlooks.ask_proposal(catalogue(), STARTER, State())
    assert told.args is not None
    assert isinstance(told.args[0], Proposal)


def test_a_fault_is_in_the_log_and_the_next_question_is_answered(
    outlooks: Outlooks, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    outlooks.ask([None], State())
    with qtbot.waitSignal(outlooks.changed):
        outlooks.ask(catalogue(), State())
    assert [record.message for record in caplog.records if record.name == "desktop.models.outlooks"] == ["outlook"]
    assert outlooks.by_id
