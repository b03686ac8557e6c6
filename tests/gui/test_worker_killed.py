"""The real worker, killed in the middle of a reply: the window lives, the reply is kept, one click goes on."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from backend.protocol import MODELS_VARIABLE
from desktop.settings import NONE
from desktop.start import Desktop
from tests.gui.person import finished

pytestmark = pytest.mark.model
MINUTE = 60_000


def test_a_killed_worker(qtbot: QtBot, tandem_home: Path, smollm2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = set(psutil.Process().children())  # an earlier test's, ended and not waited for
    monkeypatch.setenv(MODELS_VARIABLE, json.dumps({"tiny": str(smollm2)}))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desktop = Desktop(app, tandem_home / "logs")
    window, conversation = desktop.window, desktop.conversation
    qtbot.addWidget(window)
    desktop.settings.change(target="tiny", draft=NONE)
    window.show()
    desktop.begin()
    try:
        qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None, timeout=MINUTE)
        assert conversation.send("Tell a long story about the sea.")
        qtbot.waitUntil(lambda: len(conversation.messages[-1].content) > 40, timeout=MINUTE)
        for child in set(psutil.Process().children()) - others:
            child.kill()
        finished(desktop, qtbot, MINUTE)
        qtbot.waitUntil(lambda: window.status.lead == "Engine stopped", timeout=MINUTE)
        assert "kept" in window.page.notice.text
        desktop.store.flush()
        kept = desktop.store.branch(desktop.store.chats()[0].id)[-1]
        assert (kept.state, kept.content) == ("failed", conversation.messages[-1].content)
        assert len(kept.content) > 40

        buttons = [b for b in window.page.notice.findChildren(QPushButton) if b.isVisible()]
        (restart,) = [b for b in buttons if b.text() == "Restart engine"]
        qtbot.mouseClick(restart, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.state.target is not None, timeout=MINUTE)
        conversation.set_chat_settings(conversation.chat_settings.model_copy(update={"max_tokens": 8}))
        conversation.regenerate()
        finished(desktop, qtbot, MINUTE)
        assert conversation.messages[-1].state == "complete", window.page.notice.text
        assert conversation.place(conversation.messages[-1]) == (2, 2)
    finally:
        window.close()
        desktop.close()
    assert set(psutil.Process().children()) <= others
