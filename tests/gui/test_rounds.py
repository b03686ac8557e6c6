"""The real worker's rounds are stored with the reply that they made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from backend.protocol import MODELS_VARIABLE
from desktop.settings import LOOKUP
from desktop.start import Desktop
from desktop.store import Message
from tests.gui.person import finished

pytestmark = pytest.mark.model
MINUTE = 60_000


def test_a_replys_rounds_are_stored(
    qtbot: QtBot, tandem_home: Path, smollm2: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODELS_VARIABLE, json.dumps({"tiny": str(smollm2)}))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desktop = Desktop(app, tandem_home / "logs")
    conversation = desktop.conversation
    qtbot.addWidget(desktop.window)
    desktop.settings.change(target="tiny", draft=LOOKUP)
    desktop.window.show()
    desktop.begin()
    try:
        qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None, timeout=MINUTE)
        desktop.engine.set_speculation(desktop.settings.now.speculation.model_copy(update={"length": 4}))
        conversation.set_chat_settings(conversation.chat_settings.model_copy(update={"max_tokens": 48}))
        assert conversation.send("Repeat ten times: red green blue red green blue red green blue")
        finished(desktop, qtbot, MINUTE)
        reply = conversation.messages[-1]
        assert reply.state == "complete", desktop.window.page.notice.text
        assert reply.timings is not None
        whole = reply.timings["predicted_n"]
        qtbot.waitUntil(lambda: sum(r["emitted"] for r in conversation.messages[-1].rounds) == whole, timeout=5000)

        def stored() -> Message:  # the last rounds' write follows the end's, once that is done
            desktop.store.flush()
            return desktop.store.branch(reply.chat)[-1]

        qtbot.waitUntil(lambda: sum(r["emitted"] for r in stored().rounds) == whole, timeout=5000)
        assert sum(r["accepted"] for r in stored().rounds) >= reply.timings["draft_n_accepted"]
        assert [r["round"] for r in stored().rounds] == sorted(r["round"] for r in stored().rounds)
    finally:
        desktop.window.close()
        desktop.close()
