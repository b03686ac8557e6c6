"""What loads, when, and what the window says is loaded: every order in which choices and answers can come."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from desktop.settings import AUTOMATIC, NONE
from desktop.start import Desktop
from desktop.widgets.picker import Row
from tests.gui.faults import buttons, try_again
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine, model

ROWS = [Row("On this machine"), Row("A", "a"), Row("B", "b"), Row("C", "c")]


def fits(name: str) -> Any:
    """A draft that fits and is installed."""
    model = SimpleNamespace(id=name, name=name, quant="Q4_0", size=1, installed=True)
    return SimpleNamespace(model=model, fits=True, reason="", warning="", pair_bytes=2_000_000_000, ready=True)


class Library:
    """The library's answers, each given when the test says so or at once."""

    def __init__(self, desktop: Desktop) -> None:
        self.asked: list[str] = []
        self.at_once = True
        self.choices: dict[str, list[Any]] = {}
        self._shelf = desktop.shelf
        desktop.shelf.ask_drafts = self._ask  # type: ignore[method-assign]

    def _ask(self, target: str) -> None:
        self.asked.append(target)
        if self.at_once:
            self.answer(target)

    def answer(self, target: str) -> None:
        self._shelf.drafts.emit(target, self.choices.get(target, []))


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("A short reply.")


@pytest.fixture
def desktop(make_desktop: MakeDesktop, engine: ScriptedEngine) -> Desktop:
    """A desktop whose engine is not started yet."""
    made = make_desktop(engine)
    made.shelf.refresh = lambda: None  # type: ignore[method-assign]  # the rows are the test's
    made.window.top.target.set_rows(ROWS, "")
    return made


@pytest.fixture
def library(desktop: Desktop) -> Library:
    return Library(desktop)


def loaded(desktop: Desktop, target: str) -> bool:
    return desktop.engine.mode == "up" and desktop.engine.state.target is not None and box(desktop) == target


def box(desktop: Desktop) -> str:
    """The target that the window names."""
    return desktop.window.top.target.value


def up(desktop: Desktop, qtbot: QtBot, target: str = "a") -> None:
    desktop.engine.start(load=False)
    desktop.engine.choose_target(target)
    qtbot.waitUntil(lambda: loaded(desktop, target))


def pick(desktop: Desktop, value: str) -> None:
    """Choose a row of the open list."""
    target = desktop.window.top.target
    row = next(n for n, row in enumerate(target.rows) if row.value == value)
    target.activated.emit(row)


def send(desktop: Desktop, text: str = "Hello") -> None:
    desktop.window.page.composer.set_text(text)
    desktop.window.page.composer.submit()


def test_after_an_unclean_end_the_last_target_can_be_chosen(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    library.choices["a"] = [fits("small")]
    desktop.settings.change(target="a", draft=AUTOMATIC, clean_exit=False)
    desktop.begin()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")
    assert box(desktop) == ""
    assert "small" in [row.value for row in desktop.window.top.draft.rows]
    assert desktop.window.top.draft.value == AUTOMATIC
    pick(desktop, "a")
    qtbot.waitUntil(lambda: loaded(desktop, "a"))
    assert [(r.target, r.draft) for r in engine.loads] == [("a", "small")]


def test_picking_what_is_loaded_loads_nothing(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    up(desktop, qtbot)
    pick(desktop, "a")
    assert desktop.engine.mode == "up"
    assert len(engine.loads) == 1


def test_a_load_that_was_cancelled_can_be_chosen_again(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.engine.start(load=False)
    engine.held = True
    pick(desktop, "a")
    qtbot.waitUntil(lambda: desktop.window.status.lead.startswith("Loading target"))
    assert box(desktop) == "a"
    desktop.window.status.cancelled.emit()
    assert (desktop.engine.mode, box(desktop)) == ("up", "")
    pick(desktop, "a")
    engine.held = False
    qtbot.waitUntil(lambda: loaded(desktop, "a"))


def test_cancel_before_the_drafts_are_known_ends_the_loading(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.engine.start(load=False)
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")
    library.at_once = False
    pick(desktop, "a")
    assert desktop.window.status.lead == "Loading…"
    desktop.window.status.cancelled.emit()
    assert desktop.window.status.lead == "No model loaded"
    library.answer("a")
    qtbot.wait(50)
    assert engine.loads == []
    assert desktop.engine.mode == "up"


def test_after_a_failed_load_the_window_names_what_answers(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    library.choices = {"a": [fits("small")], "b": [fits("other")]}
    up(desktop, qtbot)
    engine.broken.add("b")
    pick(desktop, "b")
    assert box(desktop) == "b"
    qtbot.waitUntil(lambda: "b is damaged" in desktop.window.page.notice.text)
    assert box(desktop) == "a"
    assert desktop.settings.now.target == "a"
    assert "small" in [row.value for row in desktop.window.top.draft.rows]
    engine.broken.clear()
    pick(desktop, "b")
    qtbot.waitUntil(lambda: loaded(desktop, "b"))
    assert desktop.settings.now.target == "b"


def test_another_choice_gives_the_load_under_way_up(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.engine.start(load=False)
    engine.held = True
    pick(desktop, "a")
    qtbot.waitUntil(lambda: len(engine.loads) == 1)
    pick(desktop, "b")
    pick(desktop, "c")
    qtbot.waitUntil(lambda: len(engine.cancelled) == 1)
    engine.held = False
    qtbot.waitUntil(lambda: loaded(desktop, "c"))
    assert [r.target for r in engine.loads] == ["a", "c"]


def test_a_message_written_while_drafts_are_looked_up_is_answered_by_the_new_target(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    up(desktop, qtbot)
    library.at_once = False
    pick(desktop, "b")
    send(desktop)
    qtbot.wait(100)
    assert engine.requests == []
    library.answer("b")
    qtbot.waitUntil(lambda: not desktop.conversation.running)
    reply = desktop.conversation.messages[-1]
    assert (reply.state, reply.content, reply.target) == ("complete", "A short reply.", "b")


def test_a_message_at_start_waits_for_the_last_pair(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    library.at_once = False
    desktop.settings.change(target="a")
    desktop.begin()
    send(desktop)
    qtbot.wait(100)
    assert desktop.conversation.running
    library.answer("a")
    qtbot.waitUntil(lambda: not desktop.conversation.running)
    assert desktop.conversation.messages[-1].state == "complete", desktop.window.page.notice.text


def test_a_comparison_waits_too(desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot) -> None:
    up(desktop, qtbot)
    send(desktop)
    qtbot.waitUntil(lambda: not desktop.conversation.running)
    library.at_once = False
    pick(desktop, "b")
    desktop.window.compare()
    qtbot.wait(100)
    assert desktop.comparing.running
    desktop.comparing.stop()
    qtbot.waitUntil(lambda: not desktop.comparing.running)
    library.answer("b")
    qtbot.waitUntil(lambda: loaded(desktop, "b"))


def test_a_message_whose_model_does_not_come_ends_with_the_reason(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    """Not "no model is loaded", which would hide why, and not an answer by the old one."""
    up(desktop, qtbot)
    engine.broken.add("b")
    engine.held = True
    pick(desktop, "b")
    send(desktop)
    engine.held = False
    qtbot.waitUntil(lambda: not desktop.conversation.running)
    assert engine.requests == []
    assert "b is damaged" in desktop.window.page.notice.text
    assert desktop.conversation.messages[-1].state == "failed"


def test_trying_again_after_a_load_that_a_message_waited_for_loads(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.engine.start(load=False)
    engine.fail_load = EngineError(ErrorCode.LOAD_FAILED, "The engine refused the file.")
    pick(desktop, "a")
    send(desktop)
    qtbot.waitUntil(lambda: not desktop.conversation.running)
    engine.fail_load = None
    try_again(desktop, qtbot)
    qtbot.waitUntil(lambda: loaded(desktop, "a"))


def test_a_message_waits_through_a_restart(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    library.choices["a"] = [fits("small")]
    up(desktop, qtbot)
    engine.die()
    qtbot.waitUntil(lambda: desktop.window.status.lead == "Engine stopped")
    assert box(desktop) == "a", "what a restart will load"
    library.at_once = False
    desktop.engine.restart()
    send(desktop)
    qtbot.wait(100)
    library.answer("a")
    qtbot.waitUntil(lambda: not desktop.conversation.running)
    assert desktop.conversation.messages[-1].state == "complete", desktop.window.page.notice.text
    assert [(r.target, r.draft) for r in engine.loads] == [("a", "small")] * 2


def test_choosing_a_target_starts_a_lost_engine_again(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    up(desktop, qtbot)
    engine.die()
    qtbot.waitUntil(lambda: desktop.engine.mode == "lost")
    pick(desktop, "b")
    qtbot.waitUntil(lambda: loaded(desktop, "b"))


def test_a_draft_chosen_while_its_target_loads_is_loaded_after_it(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.settings.change(draft="small")
    desktop.engine.start(load=False)
    engine.held = True
    pick(desktop, "a")
    qtbot.waitUntil(lambda: len(engine.loads) == 1)
    desktop.engine.choose_draft("other")
    engine.held = False
    qtbot.waitUntil(lambda: engine.now.draft is not None and engine.now.draft.id == "other")
    assert engine.loads[0].draft == "small"
    assert engine.swaps == ["other"]


def test_the_last_of_several_drafts_is_the_one_in_use(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.settings.change(draft="small")
    up(desktop, qtbot)
    engine.held = True
    desktop.engine.choose_draft("other")
    qtbot.waitUntil(lambda: engine.swaps == ["other"])
    desktop.engine.choose_draft("small")
    qtbot.waitUntil(lambda: len(engine.cancelled) == 1)
    engine.held = False
    qtbot.waitUntil(lambda: not desktop.engine.busy)
    assert engine.swaps == ["other", "small"]
    assert engine.now.draft is not None
    assert engine.now.draft.id == "small"


def test_a_draft_that_does_not_load_is_not_tried_for_ever(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.settings.change(draft=NONE)
    up(desktop, qtbot)

    async def fail(request: Any, job: str) -> Any:
        engine.swaps.append(request.draft)
        raise EngineError(ErrorCode.DRAFT_INCOMPATIBLE, "Another vocabulary.")
        yield

    engine.set_draft = fail  # type: ignore[method-assign]
    desktop.engine.choose_draft("other")
    qtbot.waitUntil(lambda: "Another vocabulary" in desktop.window.page.notice.text)
    qtbot.wait(100)
    assert engine.swaps == ["other"]
    assert not desktop.engine.busy


def test_other_load_options_count_also_while_a_pair_loads(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.engine.start(load=False)
    engine.held = True
    pick(desktop, "a")
    qtbot.waitUntil(lambda: len(engine.loads) == 1)
    desktop.engine.set_load_options(desktop.settings.now.load.model_copy(update={"n_ctx": 1024}))
    engine.held = False
    qtbot.waitUntil(lambda: loaded(desktop, "a"))
    assert engine.loads[-1].options.n_ctx == 1024


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_PageDown, Qt.Key.Key_C])
def test_a_key_opens_the_list_and_loads_nothing(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot, key: Qt.Key
) -> None:
    up(desktop, qtbot)
    target = desktop.window.top.target
    qtbot.keyClick(target, key)
    qtbot.wait(50)
    assert len(engine.loads) == 1
    assert target.view().isVisible()
    target.hidePopup()


def test_the_notice_after_a_failed_load_offers_to_try_again(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.engine.start(load=False)
    engine.fail_load = EngineError(ErrorCode.LOAD_FAILED, "The engine refused the file.")
    pick(desktop, "a")
    qtbot.waitUntil(lambda: "refused the file" in desktop.window.page.notice.text)
    engine.fail_load = None
    try_again(desktop, qtbot)
    qtbot.waitUntil(lambda: loaded(desktop, "a"))


def test_what_does_not_fit_is_loaded_when_a_person_insists(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    desktop.engine.start(load=False)
    said = "A takes 9.1 GB and more, and 6.0 GB are free."
    engine.fail_load = EngineError(ErrorCode.TOO_LARGE, said, {"anyway": True})
    pick(desktop, "a")
    qtbot.waitUntil(lambda: "6.0 GB are free" in desktop.window.page.notice.text)
    assert set(buttons(desktop)) == {"Load anyway", "Engine settings", "Choose a model"}
    assert not engine.loads[-1].anyway
    engine.fail_load = None
    qtbot.mouseClick(buttons(desktop)["Load anyway"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: loaded(desktop, "a"))
    assert engine.loads[-1].anyway
    engine.fail_load = EngineError(ErrorCode.TOO_LARGE, "Caches and buffers alone take more.", {"anyway": False})
    pick(desktop, "b")
    qtbot.waitUntil(lambda: "alone take more" in desktop.window.page.notice.text)
    assert "Load anyway" not in buttons(desktop)
    engine.fail_load = None
    desktop.engine.set_load_options(desktop.settings.now.load.model_copy(update={"n_ctx": 1024}))
    qtbot.waitUntil(lambda: not desktop.window.page.notice.isVisible() and not desktop.engine.busy)


def test_automatic_says_which_draft_it_has_come_to(
    desktop: Desktop, library: Library, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    library.choices["a"] = [fits("small")]
    desktop.settings.change(draft=AUTOMATIC)
    up(desktop, qtbot)
    box = desktop.window.top.draft
    assert box.toolTip().endswith("In use: small · Q4_K_M")
    assert box.closed_text == "Automatic · small"
    assert box.currentText() == "Automatic", "the list offers the choice itself"
    engine.publish(draft=model("small").model_copy(update={"name": "Qwen2.5-Coder 0.5B Instruct"}))
    qtbot.waitUntil(lambda: box.toolTip().endswith("Instruct · Q4_K_M"))
    window = desktop.window
    for width, said in ((1600, "Automatic · Qwen2.5-Coder 0.5B"), (window.minimumWidth(), "Automatic")):
        window.resize(width, 700)
        qtbot.waitUntil(lambda w=width, s=said: window.width() == w and box.closed_text == s)
    desktop.engine.choose_draft("small")
    assert "In use" not in box.toolTip()
    assert box.closed_text == "small · Q4_0"
