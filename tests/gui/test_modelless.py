"""The first window: with no model chosen yet the starter is loaded, and a message never has to be sent twice."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from desktop.settings import NONE
from desktop.start import Desktop
from desktop.views.modelless import WAITING
from tests.gui.person import MakeDesktop, finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("A short reply.")


@pytest.fixture
def desktop(make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot) -> Desktop:
    """A desktop whose engine is up with nothing loaded."""
    made = make_desktop(engine)
    made.shelf.ask_drafts = lambda target: made.shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    made.engine.start(load=False)
    qtbot.waitUntil(lambda: made.engine.mode == "up")
    return made


def waits(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    send(desktop, qtbot)
    assert desktop.conversation.running
    assert desktop.window.page.notice.isVisible()
    assert desktop.window.page.notice.text == f"{WAITING.title} {WAITING.detail}"
    assert desktop.window.status.lead == "Waiting for a model"
    assert engine.requests == []


def test_a_message_without_a_model_is_answered_once_one_is_chosen(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    waits(desktop, engine, qtbot)
    desktop.window.top.target.chosen.emit("big")
    assert not desktop.window.page.notice.isVisible()
    finished(desktop, qtbot)
    asked, reply = desktop.conversation.messages
    assert (asked.content, reply.content, reply.state, reply.target) == (
        "Write it",
        "A short reply.",
        "complete",
        "big",
    )
    assert len(engine.requests) == 1


def test_a_message_that_waits_can_be_given_up(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    waits(desktop, engine, qtbot)
    desktop.window.stop()
    finished(desktop, qtbot)
    assert not desktop.window.page.notice.isVisible()
    assert desktop.conversation.messages[-1].state == "stopped"
    desktop.window.top.target.chosen.emit("big")
    qtbot.waitUntil(lambda: desktop.engine.state.target is not None)
    send(desktop, qtbot)
    finished(desktop, qtbot)
    assert (len(engine.requests), desktop.conversation.messages[-1].state) == (1, "complete")


def test_after_choosing_a_model_one_can_go_on_typing(desktop: Desktop, qtbot: QtBot) -> None:
    page, target = desktop.window.page, desktop.window.top.target
    page.notice.show_notice(WAITING)
    page.notice.acted.emit("models")
    target.hidePopup()
    desktop.window.top.target.setFocus(Qt.FocusReason.OtherFocusReason)
    target.chosen.emit("big")
    assert page.composer.edit.hasFocus() or desktop.window.focusWidget() is page.composer.edit


def test_the_notice_gives_the_focus_to_the_message(desktop: Desktop) -> None:
    page = desktop.window.page
    page.notice.show_notice(WAITING)
    desktop.window.sidebar.setFocus()
    page.notice.acted.emit("models")
    desktop.window.top.target.hidePopup()
    assert desktop.window.focusWidget() is page.composer.edit


@pytest.mark.parametrize("installed", ["installed", "available"])
def test_the_first_window_loads_the_starter_where_it_is_here(
    make_desktop: MakeDesktop, engine: ScriptedEngine, qtbot: QtBot, installed: str
) -> None:
    desktop = make_desktop(engine)
    shelf = desktop.shelf
    shelf.ask_drafts = lambda target: shelf.drafts.emit(target, [])  # type: ignore[method-assign]
    model = SimpleNamespace(
        id="s",
        name="S",
        quant="Q4",
        size=1,
        state=installed,
        entry=None,
        problem=None,
        facts=None,
        where="own",
        fetched=0,
    )

    def refresh() -> None:
        shelf.starter = SimpleNamespace(target="s", draft="t")
        shelf.changed.emit([model])

    shelf.refresh = refresh  # type: ignore[method-assign]
    desktop.settings.change(draft=NONE)
    desktop.begin()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")
    assert (desktop.engine.target == "s") == (installed == "installed")
    model.state = "installed"
    shelf.changed.emit([model])  # a later look at the disk loads nothing by itself
    assert (desktop.engine.target == "s") == (installed == "installed")
