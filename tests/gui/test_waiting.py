"""A message that waits for its model: what it asks, and who answers it, is decided when the model is there."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from desktop.settings import ChatSettings
from desktop.start import Desktop
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine

THINKS = {"thinks": ["enable_thinking"]}


@pytest.fixture
def engine() -> ScriptedEngine:
    made = ScriptedEngine("A short reply.")
    made.variables = THINKS
    return made


@pytest.mark.parametrize(
    ("old", "new", "switches"), [("big", "thinks", {"enable_thinking": False}), ("thinks", "big", {})]
)
def test_a_switch_goes_to_the_target_that_answers(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, old: str, new: str, switches: dict[str, bool]
) -> None:
    desktop.engine.choose_target(old)
    qtbot.waitUntil(lambda: desktop.engine.mode == "up" and desktop.engine.target == old)
    desktop.conversation.set_chat_settings(ChatSettings(thinking=False))
    engine.held = True
    desktop.engine.choose_target(new)
    send(desktop, qtbot)
    engine.held = False
    finished(desktop, qtbot)
    assert engine.requests[-1].template_kwargs == switches
    desktop.window.compare()
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)
    assert engine.compared[-1].template_kwargs == switches


def test_a_switch_goes_to_the_first_target(make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    desktop = make_desktop(engine)
    desktop.shelf.ask_drafts = lambda target: desktop.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    desktop.conversation.set_chat_settings(ChatSettings(thinking=True))
    desktop.engine.start(load=False)
    desktop.engine.choose_target("thinks")
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert engine.requests[-1].template_kwargs == {"enable_thinking": True}


def test_a_reply_is_by_nobody_until_its_model_is_there(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.held = True
    desktop.engine.choose_target("thinks")
    send(desktop, qtbot)
    waiting = desktop.window.page.messages.widgets[-1]
    row = desktop.store.branch(waiting.message.chat)[-1]
    assert (row.state, row.target, row.draft) == ("streaming", None, None)
    assert waiting.accessibleName().startswith("Assistant")
    engine.pause = 0.05
    engine.held = False
    qtbot.waitUntil(lambda: waiting.message.content != "")
    assert waiting.message.target == "thinks"
    assert waiting.accessibleName().startswith("thinks")
    qtbot.waitUntil(lambda: desktop.store.branch(waiting.message.chat)[-1].target == "thinks")  # also if it ends badly
    assert desktop.conversation.running
    engine.pause = 0
    finished(desktop, qtbot)
    assert (waiting.message.target, waiting.message.draft) == ("thinks", "small")


def test_a_comparison_that_waits_for_another_model_is_that_ones(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    engine.held = True
    desktop.engine.choose_target("thinks")
    desktop.window.compare()
    engine.held = False
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)
    assert "written by big, this runs on thinks" in desktop.comparing.view.text
    assert desktop.conversation.messages[-1].comparison is None
