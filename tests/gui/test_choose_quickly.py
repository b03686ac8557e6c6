"""The real worker under a person who chooses faster than models load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from backend.protocol import MODELS_VARIABLE
from desktop.settings import NONE
from desktop.start import Desktop
from tests.gui.person import finished

pytestmark = pytest.mark.model
MINUTE = 60_000


def test_the_last_choice_is_loaded_and_answers(
    qtbot: QtBot, tandem_home: Path, smollm2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("first", "second", "third")
    monkeypatch.setenv(MODELS_VARIABLE, json.dumps(dict.fromkeys(names, str(smollm2))))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desktop = Desktop(app, tandem_home / "logs")
    window, engine, conversation = desktop.window, desktop.engine, desktop.conversation
    qtbot.addWidget(window)
    desktop.settings.change(target="first", draft=NONE)
    conversation.set_chat_settings(conversation.chat_settings.model_copy(update={"max_tokens": 8}))
    window.show()

    def answered_by(name: str) -> None:
        finished(desktop, qtbot, MINUTE)
        reply = conversation.messages[-1]
        assert (reply.state, reply.target) == ("complete", name), window.page.notice.text
        assert (engine.target, engine.mode, desktop.settings.now.target) == (name, "up", name)

    desktop.begin()
    try:
        # the first load's request is out, but its worker only starts
        qtbot.waitUntil(lambda: engine._wanted is not None and bool(engine._wanted.job), timeout=MINUTE)
        engine.choose_target("second")
        assert conversation.send("Hello")
        answered_by("second")

        # cancelled while it loads, and chosen again at once
        engine.choose_target("third")
        qtbot.waitUntil(lambda: engine.progress is not None, timeout=MINUTE)
        engine.cancel_load()
        qtbot.waitUntil(lambda: engine.target is None, timeout=MINUTE)
        assert window.status.lead == "No model loaded"
        engine.choose_target("third")
        assert conversation.send("Once more")
        answered_by("third")

        # a fresh worker: what is asked for meanwhile waits for it
        engine.restart()
        assert conversation.send("And again")
        answered_by("third")
    finally:
        window.close()
        desktop.close()
