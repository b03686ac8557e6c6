"""The first start, whole: a pair is proposed, downloaded from a real server, loaded by the real worker, and answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.models import forecast
from desktop.start import Desktop
from tests.gui.person import finished, send
from tests.tiny import tiny_llama
from tests.unit.library.server import Hub

CATALOGUE = """
models:
- {id: large, name: Model Large, family: own, repo: org/large, drafts: [near], shape: SHAPE,
   licence: {name: MIT, link: "https://example.org/licence"},
   variants: [{quant: F32, files: [{name: large.gguf, size: LARGE}]}]}
- {id: near, name: Model Near, family: own, repo: org/near, roles: [draft], shape: SHAPE,
   variants: [{quant: F32, files: [{name: near.gguf, size: NEAR}]}]}
"""
SHAPE = (
    "{layers: 2, heads: 4, kv_heads: 2, head_size: 16, embedding: 64, vocabulary: 320, context_length: 1024, "
    "sliding_window: null}"
)


@pytest.fixture
def pair(hub: Hub, tandem_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hub has a tiny pair, and the machine room for nothing else of the catalogue."""
    hub.files["large.gguf"] = tiny_llama(tmp_path / "large.gguf", n_ctx=1024).read_bytes()
    hub.files["near.gguf"] = tiny_llama(tmp_path / "near.gguf", n_layer=1).read_bytes()
    told = CATALOGUE.replace("SHAPE", SHAPE)
    for name, content in (("LARGE", hub.files["large.gguf"]), ("NEAR", hub.files["near.gguf"])):
        told = told.replace(name, str(len(content)))
    (tandem_home / "models.yaml").write_text(told)
    monkeypatch.setattr(forecast, "free_main_memory", lambda: 600_000_000)


@pytest.mark.timeout(180)
def test_from_the_welcome_page_to_a_reply(pair: None, hub: Hub, tandem_home: Path, qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    desktop = Desktop(app, tandem_home / "logs")
    window, welcome = desktop.window, desktop.window.page.welcome
    qtbot.addWidget(window)
    options = desktop.settings.now.load.model_copy(update={"n_ctx": 512, "threads": 1, "strict": False})
    desktop.settings.change(load=options)
    window.show()
    desktop.begin()
    try:
        qtbot.waitUntil(lambda: "Model Large" in welcome._line.text(), timeout=60_000)
        assert "Model Near" in welcome._line.text()
        assert "of memory and write ≈" in welcome._line.text()
        assert "MIT" in welcome._line.text()
        qtbot.mouseClick(welcome.start, Qt.MouseButton.LeftButton)
        state = lambda: desktop.engine.state  # noqa: E731
        qtbot.waitUntil(lambda: state().target is not None and not desktop.engine.busy, timeout=60_000)
        assert state().target.id == "large"  # type: ignore[union-attr]
        assert state().draft is not None
        assert state().draft.id == "near"  # type: ignore[union-attr]
        assert welcome.examples[0].isVisible(), "there is something to chat with"
        send(desktop, qtbot, "Hi")
        finished(desktop, qtbot, 60_000)
        reply = desktop.conversation.messages[-1]
        assert reply.state == "complete", window.page.notice.text
        assert (reply.target, reply.draft) == ("large", "near")
    finally:
        window.close()
        desktop.close()
