"""The real worker exchanges models only between replies: the window says what a load waits for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from backend.protocol import MODELS_VARIABLE
from desktop.presets import OwnSampling
from desktop.settings import NONE
from desktop.start import Desktop

pytestmark = pytest.mark.model
MINUTE = 60_000


def test_a_target_chosen_while_a_reply_streams_says_that_it_waits(
    qtbot: QtBot, tandem_home: Path, smollm2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODELS_VARIABLE, json.dumps({"tiny": str(smollm2), "other": str(smollm2)}))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desktop = Desktop(app, tandem_home / "logs")
    status, conversation = desktop.window.status, desktop.conversation
    qtbot.addWidget(desktop.window)
    desktop.settings.change(target="tiny", draft=NONE)
    desktop.window.show()
    desktop.begin()
    try:
        qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None, timeout=MINUTE)
        greedy = OwnSampling(temperature=0)  # counts until the context is full; drawn at random it may end at any token
        conversation.set_chat_settings(conversation.chat_settings.model_copy(update={"sampling": greedy}))
        assert conversation.send("Count to one thousand in words, and leave no number out.")
        qtbot.waitUntil(lambda: bool(conversation.messages[-1].content), timeout=MINUTE)
        desktop.engine.choose_target("other")
        qtbot.waitUntil(lambda: status.lead == "Waiting for the reply…", timeout=MINUTE)
        assert conversation.running
        conversation.stop()
        qtbot.waitUntil(lambda: desktop.engine.mode == "up", timeout=MINUTE)
        assert desktop.engine.state.target is not None, desktop.window.page.notice.text
        assert desktop.engine.state.target.id == "other"
        assert (conversation.messages[-1].state, conversation.messages[-1].target) == ("stopped", "tiny")
    finally:
        desktop.window.close()
        desktop.close()
