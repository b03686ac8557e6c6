"""Stop, continue, start again, edit, continue, another model: with the real worker and a real model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from backend.protocol import MODELS_VARIABLE
from desktop.models.origins import pieces
from desktop.presets import OwnSampling
from desktop.settings import NONE
from desktop.start import Desktop
from desktop.store import Message
from tests.gui.person import finished, send
from tests.gui.test_edit_reply import begin, reply, save
from tests.gui.test_rewriting import button
from tests.tiny import tiny_llama

pytestmark = pytest.mark.model
MINUTE = 60_000
STORY = "Tell a long story about the sea."


@pytest.fixture
def start(
    qtbot: QtBot, tandem_home: Path, tmp_path: Path, smollm2: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Desktop]]:
    files = {"small": smollm2, "other": tiny_llama(tmp_path / "other.gguf")}
    monkeypatch.setenv(MODELS_VARIABLE, json.dumps({name: str(path) for name, path in files.items()}))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    started: list[Desktop] = []

    def make() -> Desktop:
        desktop = Desktop(app, tandem_home / "logs")
        started.append(desktop)
        qtbot.addWidget(desktop.window)
        load = desktop.settings.now.load.model_copy(update={"n_ctx": 1024, "threads": 1})
        desktop.settings.change(target="small", draft=NONE, load=load)
        desktop.window.show()
        desktop.engine.start(load=True)
        qtbot.waitUntil(lambda: desktop.engine.state.target is not None and not desktop.engine.busy, timeout=MINUTE)
        desktop.engine.set_enabled(False)  # each token by a pass of its own: the same bits however it is cut
        qtbot.waitUntil(lambda: not desktop.engine.state.speculation.enabled, timeout=MINUTE)
        return desktop

    yield make
    for desktop in started:
        desktop.window.close()
        desktop.close()


def greedily(desktop: Desktop, tokens: int) -> None:
    conversation = desktop.conversation
    changed = {"sampling": OwnSampling(temperature=0), "max_tokens": tokens}
    conversation.set_chat_settings(conversation.chat_settings.model_copy(update=changed))


def last(desktop: Desktop) -> Message:
    return desktop.conversation.messages[-1]


def go_on(desktop: Desktop, qtbot: QtBot) -> Message:
    widget = desktop.window.page.messages.widgets[-1]
    qtbot.mouseClick(button(widget, "Continue"), Qt.MouseButton.LeftButton)
    finished(desktop, qtbot, MINUTE)
    assert desktop.window.page.notice.text == ""
    return last(desktop)


@pytest.mark.timeout(300)
def test_a_story_in_many_parts(start: Callable[[], Desktop], qtbot: QtBot) -> None:
    desktop = start()
    greedily(desktop, 150)
    send(desktop, qtbot, STORY)
    finished(desktop, qtbot, MINUTE)
    whole = last(desktop)

    desktop.window.new_chat()
    greedily(desktop, 150)
    send(desktop, qtbot, STORY)
    qtbot.waitUntil(lambda: len(last(desktop).content) > 30, timeout=MINUTE)
    desktop.window.stop()
    finished(desktop, qtbot, MINUTE)
    stopped = last(desktop)
    assert whole.content.startswith(stopped.content)
    went_on = go_on(desktop, qtbot)
    assert went_on.id == stopped.id
    assert went_on.content.startswith(whole.content), "as if it had never been stopped"
    assert went_on.ids is not None
    assert whole.ids is not None
    assert went_on.ids[: len(whole.ids)] == whole.ids
    assert went_on.start == whole.start
    assert went_on.timings is not None
    assert went_on.timings["predicted_n"] == 150, "its limit counts anew"
    assert went_on.timings["prompt_n"] <= 2, "what was written is in memory still"
    made = pieces(went_on.content, went_on.tokens)
    assert "".join(piece.text for piece in made) == went_on.content
    assert {piece.origin for piece in made} == {"plain"}

    desktop.window.close()
    desktop.close()
    desktop = start()
    desktop.window.open_chat(went_on.chat)
    assert replace(last(desktop), rounds=()) == replace(went_on, rounds=())
    greedily(desktop, 20)
    longer = go_on(desktop, qtbot)
    assert longer.content.startswith(went_on.content)
    assert [part["ids"] for part in longer.parts] == [len(stopped.ids or ()), len(went_on.ids)]
    assert len(longer.ids or ()) == len(went_on.ids) + 20

    widget = begin(desktop, qtbot, 0, "")
    assert widget._rewrite is not None
    widget._rewrite.edit.setPlainText("Once upon a time, a whale")
    save(widget, qtbot)
    assert last(desktop).id != longer.id
    mine = go_on(desktop, qtbot)
    assert mine.content.startswith("Once upon a time, a whale")
    assert len(mine.content) > len("Once upon a time, a whale") + 20
    assert mine.ids, "those of the edited text, as it was read, too"
    assert len(mine.ids) > 20
    assert reply(desktop, 0).footer_text.startswith("edited, continued · last part: ")
    stood = [m.content for m in desktop.store.messages(mine.chat) if m.role == "assistant"]
    assert stood == [longer.content, mine.content]

    desktop.engine.choose_target("other")
    qtbot.waitUntil(lambda: desktop.engine.state.target is not None and desktop.engine.state.target.id == "other")
    both = go_on(desktop, qtbot)
    assert both.content.startswith(mine.content)
    assert (both.target, both.parts[-1]["target"]) == ("other", "small")
    assert "begun by small, continued by other" in reply(desktop, 0).footer_text
