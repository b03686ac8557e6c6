"""The figures at the bottom belong to what is on screen, and say what they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from backend.protocol import Delta, Finished, ReplyEvent, ReplyRequest
from desktop.figures import MISSING
from desktop.start import Desktop
from desktop.views.chat_settings import ChatSettingsDialog
from desktop.views.settings.dialog import ENGINE, SettingsDialog
from desktop.widgets.status_bar import StatusBar
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine, model, timings
from tests.gui.test_named import spoken

FIGURES = ("rate", "speedup", "accepted", "per_pass", "split")


class PlainEngine(ScriptedEngine):
    """Never drafts."""

    async def reply(self, request: ReplyRequest, job: str) -> AsyncIterator[ReplyEvent]:
        for n in range(20):
            yield Delta("word ", (), timings(n + 1, drafted=False))
        yield Finished("stop", timings(20, drafted=False), 7, 52, tuple(range(20)), "hash")


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Some words of a reply. " * 10)


def shown(desktop: Desktop) -> set[str]:
    return {desktop.window.status.text(name) for name in FIGURES}


def test_another_chat_has_no_figures_of_this_one(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert MISSING not in shown(desktop)
    desktop.window.new_chat()
    assert shown(desktop) == {MISSING}


def test_the_context_is_that_of_the_chat_on_screen(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    status = desktop.window.status
    engine.publish(context_used=321)  # of whatever it held last
    qtbot.waitUntil(lambda: desktop.engine.state.context_used == 321)
    assert status.text("context") == "ctx 0/8,192"
    send(desktop, qtbot)
    finished(desktop, qtbot)
    reply = desktop.conversation.messages[-1]
    assert reply.timings is not None
    taken = f"ctx {52 + reply.timings['predicted_n']}/8,192"
    qtbot.waitUntil(lambda: status.text("context") == taken)
    desktop.window.new_chat()
    assert status.text("context") == "ctx 0/8,192"
    desktop.window.open_chat(reply.chat)
    assert status.text("context") == taken
    desktop.store.update_message(reply.id, tokenizer="another").result()
    desktop.window.new_chat()
    desktop.window.open_chat(reply.chat)
    assert status.text("context") == MISSING, "another tokenizer counted it"


def test_a_reply_that_ends_elsewhere_leaves_no_figures_here(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.pause = 0.01
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.window.status.text("rate") != MISSING)
    desktop.window.new_chat()
    assert desktop.conversation.running
    finished(desktop, qtbot)
    assert shown(desktop) == {MISSING}


def test_a_comparison_blanks_the_figures_and_then_turns_the_estimate_into_a_measurement(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    status = desktop.window.status
    assert status.text("speedup") == "≈ 1.84× plain"
    engine.held = True
    desktop.window.compare()
    assert shown(desktop) == {MISSING}
    qtbot.waitUntil(lambda: status.lead.startswith("Comparing"))
    engine.held = False
    qtbot.waitUntil(lambda: not desktop.comparing.running, timeout=10_000)
    assert status.text("speedup") == "= 1.84× plain"
    assert status.text("rate") == "41.2 tok/s"
    assert not status.lead.startswith("Comparing")


@pytest.mark.parametrize("engine", [PlainEngine()])
def test_a_reply_without_a_draft_has_no_speed_up(desktop: Desktop, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert desktop.window.status.text("rate") != MISSING
    assert desktop.window.status.text("speedup") == MISSING


def test_nothing_is_said_of_a_model_that_is_not_loaded(
    make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop = make_desktop(engine)
    desktop.bridge.start()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")
    desktop.window.edit_settings(ENGINE)
    dialog = desktop.window.findChild(SettingsDialog)
    assert dialog is not None
    assert "trained" not in dialog.engine.loading.numbers["n_ctx"].words.text()
    dialog.reject()


def test_what_is_known_of_the_model_is_said_quietly(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    note = "This model takes no system prompt: it is put before the first user message."
    limit = "this model's state can be rolled back by 5 tokens only; the snapshots for it take 375.0 MB"
    engine.publish(target=model("big", template_note=note, truncate_note=limit))
    window = desktop.window
    qtbot.waitUntil(lambda: window.page.composer.note == note)
    assert not window.page.notice.isVisible()
    window.edit_chat_settings()
    dialog = window.findChild(ChatSettingsDialog)
    assert dialog is not None
    said = [label.text() for label in dialog.findChildren(type(window.page.composer._count))]
    assert note in said
    dialog.reject()
    window.edit_settings(ENGINE)
    settings = window.findChild(SettingsDialog)
    assert settings is not None
    said = [label.text() for label in settings.findChildren(type(window.page.composer._count))]
    assert any(f"T{limit[1:]}." in text for text in said)
    assert "big was trained on 32,768." in settings.engine.loading.numbers["n_ctx"].words.text()
    settings.reject()
    engine.publish(target=None)
    qtbot.waitUntil(lambda: window.page.composer.note == "")


PAUSED = "drafts paused: they would cost more than they save (a draft step costs 0.37 of a pass)"


@contextmanager
def midway(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> Iterator[None]:
    """A reply is being written, and goes no further within."""
    engine.pause = 0.02
    send(desktop, qtbot)
    qtbot.waitUntil(lambda: desktop.window.status.text("rate") != MISSING)
    engine.held = True
    yield
    engine.held, engine.pause = False, 0.0
    finished(desktop, qtbot)


def test_why_drafts_pause_is_said_in_words_with_the_figures_behind(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    with midway(desktop, engine, qtbot):
        engine.publish(why=PAUSED)
        status = desktop.window.status
        qtbot.waitUntil(lambda: status.lead == "Drafts paused: they would cost more than they save")
        qtbot.waitUntil(lambda: status._lead.toolTip().endswith("(a draft step costs 0.37 of a pass)"))


def test_a_tooltip_that_is_being_read_follows_the_state(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    with midway(desktop, engine, qtbot):
        engine.publish(why="drafting with lookup")
        lead = desktop.window.status._lead
        qtbot.waitUntil(lambda: lead.toolTip() == "Drafting with lookup")
        QApplication.sendEvent(lead, QHelpEvent(QEvent.Type.ToolTip, QPoint(4, 4), lead.mapToGlobal(QPoint(4, 4))))
        qtbot.waitUntil(lambda: QToolTip.isVisible() and QToolTip.text() == "Drafting with lookup")
        engine.publish(why=PAUSED)
        qtbot.waitUntil(lambda: QToolTip.text().startswith("Drafts paused"))
        QToolTip.hideText()


def test_at_rest_it_says_of_the_reply_on_screen_what_it_was(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    status = desktop.window.status
    engine.publish(why="drafting with the draft model")
    qtbot.waitUntil(lambda: desktop.engine.state.why != "")
    assert status.lead == "Ready"
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert status.lead == "Ready. The last reply was written with drafts"
    desktop.window.new_chat()
    assert status.lead == "Ready"


@pytest.mark.parametrize("engine", [PlainEngine()])
def test_at_rest_it_says_why_the_reply_was_plain(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    engine.publish(why=PAUSED)
    status, why = desktop.window.status, "drafts paused: they would cost more than they save"
    qtbot.waitUntil(lambda: status.lead == f"Ready. The last reply was written plain ({why})")
    qtbot.waitUntil(lambda: status._lead.toolTip().endswith("(a draft step costs 0.37 of a pass)"))


def test_until_the_first_word_the_prompt_is_being_read(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    status = desktop.window.status
    said: list[str] = []
    desktop.conversation.running_changed.connect(lambda _: said.append(status.lead))
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert said[0] == "Reading the prompt"


def test_a_click_or_a_key_on_it_shows_the_panel(desktop: Desktop, qtbot: QtBot) -> None:
    window, status = desktop.window, desktop.window.status
    send(desktop, qtbot)
    finished(desktop, qtbot)
    qtbot.waitUntil(status._items["rate"].isVisible)
    qtbot.mouseClick(status._items["rate"], Qt.MouseButton.LeftButton)
    assert window.panel is not None
    assert window.panel.isVisible()
    qtbot.keyClick(status.more, Qt.Key.Key_Space)
    assert not window.panel.isVisible()


def test_figures_are_spoken_with_their_value_and_not_at_every_change(qtbot: QtBot) -> None:
    bar = StatusBar()
    qtbot.addWidget(bar)
    bar.resize(1100, 40)
    bar.show()
    rate = bar._items["rate"]
    bar._teller.setInterval(600_000)
    bar.set_figures(rate="41.2 tok/s")
    qtbot.waitUntil(lambda: rate.text() == "41.2 tok/s")
    assert spoken(rate) == "Generation speed: 41.2 tok/s"
    bar.set_figures(rate="43.0 tok/s")
    qtbot.waitUntil(lambda: rate.text() == "43.0 tok/s")
    assert spoken(rate) == "Generation speed: 41.2 tok/s", "a screen reader would never come to an end"
    bar._teller.setInterval(0)
    qtbot.waitUntil(lambda: spoken(rate) == "Generation speed: 43.0 tok/s")
    bar.set_figures(rate=MISSING)
    qtbot.waitUntil(lambda: spoken(rate) == "Generation speed")
