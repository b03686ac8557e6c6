"""Compare runs the request that made the reply, and keeps only figures that are the reply's own."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from desktop.presets import OwnSampling
from desktop.settings import ChatSettings
from desktop.start import Desktop
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine, model


def compared(desktop: Desktop, qtbot: QtBot) -> None:
    desktop.window.compare()
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)


def test_it_asks_what_was_asked_whatever_the_chat_has_become(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.publish(target=model("big", template_variables=["enable_thinking"]))
    qtbot.waitUntil(lambda: bool(desktop.engine.state.target and desktop.engine.state.target.template_variables))
    own = OwnSampling(temperature=0.3)
    before = ChatSettings(system_prompt="Be brief.", sampling=own, thinking=False, max_tokens=900)
    desktop.conversation.set_chat_settings(before)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    desktop.conversation.set_chat_settings(ChatSettings(system_prompt="Be long.", thinking=True, max_tokens=5))
    chat = desktop.store.chats()[0].id
    desktop.window.new_chat()
    desktop.window.open_chat(chat)  # as read from the store
    compared(desktop, qtbot)
    (asked,), (again,) = engine.requests, engine.compared
    assert again.messages == asked.messages
    assert again.template_kwargs == asked.template_kwargs == {"enable_thinking": False}
    assert again.sampling == asked.sampling.model_copy(update={"seed": 7})
    assert again.max_tokens == len(desktop.conversation.messages[-1].ids or ()) + 1
    assert desktop.conversation.messages[-1].comparison is not None


def test_another_model_is_said_and_its_figures_are_not_the_replys(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    before = desktop.window.page.messages.widgets[-1].footer_text
    engine.publish(target=model("other"))
    qtbot.waitUntil(lambda: desktop.engine.state.target is not None and desktop.engine.state.target.id == "other")
    compared(desktop, qtbot)
    assert "written by big, this runs on other" in desktop.comparing.view.text
    assert desktop.conversation.messages[-1].comparison is None
    assert desktop.window.page.messages.widgets[-1].footer_text == before
    desktop.store.flush()
    assert desktop.store.branch(desktop.store.chats()[0].id)[1].comparison is None


def test_one_token_has_no_speed(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.script = "Yes"
    send(desktop, qtbot)
    finished(desktop, qtbot)
    compared(desktop, qtbot)
    assert desktop.comparing.view.text.startswith("Too short to measure a speed, texts identical")
    assert "×" not in desktop.comparing.view.text
    assert "=" not in desktop.window.page.messages.widgets[-1].footer_text


def test_a_reply_that_goes_on_meanwhile_keeps_no_figures_of_what_it_was(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.pause = 0.01
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: len(desktop.conversation.messages[-1].content) > 8)
    desktop.conversation.stop()
    finished(desktop, qtbot)
    engine.held = True
    desktop.window.compare()
    qtbot.waitUntil(lambda: bool(engine.compared))
    desktop.conversation.go_on()
    engine.pause, engine.held = 0.0, False
    qtbot.waitUntil(lambda: not desktop.comparing.running and not desktop.conversation.running, timeout=10_000)
    (last,) = desktop.conversation.messages[1:]
    assert last.parts
    desktop.store.flush()
    assert last.comparison is None
    assert desktop.store.branch(last.chat)[-1].comparison is None


def test_behind_the_comparison_no_reply_is_written(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    compared(desktop, qtbot)
    for action in ("regenerate", "continue", "edit"):
        desktop.window.actions_.by_id[action].trigger()
    assert len(engine.requests) == 1
    assert not desktop.conversation.running
    desktop.window.close_compare()
    desktop.window.actions_.by_id["regenerate"].trigger()
    finished(desktop, qtbot)
    assert len(engine.requests) == 2
