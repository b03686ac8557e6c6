"""The engine's page: what counts at once, what is applied and loads again, what cannot be, and what is one model's."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from backend.errors import EngineError, ErrorCode
from backend.protocol import LoadOptions
from desktop.settings import SettingsFile
from desktop.start import Desktop
from desktop.views.settings.dialog import ENGINE, SettingsDialog
from desktop.views.settings.engine import EnginePage
from desktop.widgets.field import NumberField
from desktop.widgets.picker import ChoiceBox
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def dialog(desktop: Desktop) -> SettingsDialog:
    desktop.window.edit_settings(ENGINE)
    found = desktop.window.findChild(SettingsDialog)
    assert found is not None
    return found


@pytest.fixture
def page(dialog: SettingsDialog) -> EnginePage:
    return dialog.engine


def enter(field: NumberField, text: str, qtbot: QtBot) -> None:
    field.edit.setFocus()
    field.edit.selectAll()
    if text:
        qtbot.keyClicks(field.edit, text)
    else:
        field.edit.del_()
        field.edit.textEdited.emit("")


def pick(box: ChoiceBox, value: object) -> None:
    box.setCurrentIndex(next(n for n in range(box.count()) if box.itemData(n) == value))
    box.activated.emit(box.currentIndex())


def answers(desktop: Desktop, dialog: SettingsDialog) -> dict[str, object]:
    """The buttons of the question that stands before closing."""
    box = dialog.findChild(QMessageBox)
    assert box is not None
    return {button.text(): button for button in box.buttons()}


def test_drafting_counts_at_once(desktop: Desktop, engine: ScriptedEngine, page: EnginePage, qtbot: QtBot) -> None:
    assert "Default: automatic" in page.drafting.length.words.text()
    enter(page.drafting.length, "4", qtbot)
    qtbot.waitUntil(lambda: engine.now.speculation.length == 4)
    for so_far in ("9", "99"):
        page.drafting.length.edit.setText(so_far)
        page.drafting.length.edit.textEdited.emit(so_far)
    assert "99 is too large: at most 48." in page.drafting.length.words.text()
    pick(page.drafting.rule, "rejection")
    pick(page.drafting.beside, "lookup+draft")
    qtbot.waitUntil(lambda: engine.now.speculation.source == "lookup+draft")
    assert (engine.now.speculation.length, engine.now.speculation.rule) == (4, "rejection"), "nobody meant 9"
    enter(page.drafting.length, "", qtbot)
    qtbot.waitUntil(lambda: engine.now.speculation.length == "auto")
    assert not page.pending
    assert len(engine.loads) == 1, "nothing was loaded again"
    kept = SettingsFile(desktop.settings.path).now.speculation
    assert (kept.length, kept.rule, kept.source) == ("auto", "rejection", "lookup+draft")


def test_what_needs_a_load_says_so_before_and_is_applied(
    desktop: Desktop, engine: ScriptedEngine, dialog: SettingsDialog, page: EnginePage, qtbot: QtBot
) -> None:
    numbers = page.loading.numbers
    assert not page._bar.isVisible()
    enter(numbers["n_ctx"], "16384", qtbot)
    enter(numbers["threads"], "3", qtbot)
    pick(page.loading.weights, (True, True))
    assert page._bar.isVisible()
    assert "Applying loads big again" in page._words.text()
    assert page.apply_.text() == "Apply and load again"
    assert desktop.settings.now.load == LoadOptions()
    page.apply_.click()
    qtbot.waitUntil(lambda: len(engine.loads) == 2)
    assert engine.loads[-1].options == LoadOptions(n_ctx=16384, threads=3, use_mlock=True)
    qtbot.waitUntil(lambda: not page._bar.isVisible())
    enter(numbers["n_ctx"], "", qtbot)
    page.discard_.click()
    assert numbers["n_ctx"].edit.text() == "16384"
    dialog.reject()
    qtbot.waitUntil(lambda: desktop.engine.mode == "up")


def test_what_could_not_be_loaded_is_loaded_again_and_that_is_said(
    desktop: Desktop, engine: ScriptedEngine, page: EnginePage, qtbot: QtBot
) -> None:
    engine.fail_load = EngineError(ErrorCode.LOAD_FAILED, "The engine refused the file.")
    engine.publish(target=None)
    qtbot.waitUntil(lambda: desktop.engine.target is None)
    desktop.engine.choose_target("other")
    qtbot.waitUntil(lambda: len(engine.loads) == 2 and not desktop.engine.busy)
    engine.fail_load = None
    enter(page.loading.numbers["n_ctx"], "2048", qtbot)
    assert page.apply_.text() == "Apply and load again"
    assert "Applying loads other again" in page._words.text()
    page.apply_.click()
    qtbot.waitUntil(lambda: len(engine.loads) == 3 and not desktop.engine.busy)
    assert (engine.loads[-1].target, engine.loads[-1].options.n_ctx) == ("other", 2048)


@pytest.mark.parametrize(("field", "text"), [("n_ctx", "12"), ("batch", "5000"), ("snapshots", "49"), ("threads", "x")])
def test_what_cannot_be_used_is_explained_and_not_applied(
    desktop: Desktop, page: EnginePage, qtbot: QtBot, field: str, text: str
) -> None:
    number = page.loading.numbers[field]
    enter(number, text, qtbot)
    assert number.words.text().startswith("Not used: ")
    assert number.problem in page._words.text()
    assert not page.apply_.isEnabled()
    page.apply()
    assert desktop.settings.now.load == LoadOptions()
    enter(number, "", qtbot)
    assert "Default" in number.words.text()


def test_what_leads_to_a_number_that_cannot_be_is_not_chosen(page: EnginePage, qtbot: QtBot) -> None:
    enter(page.loading.numbers["n_ctx"], "99999999999", qtbot)
    assert not page.apply_.isEnabled()
    pick(page.loading.scope, "big")
    assert not page.pending
    pick(page.loading.scope, "")
    assert page.loading.numbers["n_ctx"].edit.text() == ""


def test_caches_that_cannot_be_are_explained_beside_them(desktop: Desktop, page: EnginePage) -> None:
    pick(page.loading.kv_type, "q8_0")
    assert not page.loading.clash.isVisible()
    pick(page.loading.flash_attention, "off")
    assert "cannot be used without flash attention" in page.loading.clash.text()
    assert not page.apply_.isEnabled()
    pick(page.loading.flash_attention, "auto")
    assert page.apply_.isEnabled()
    page.discard()


def test_a_models_own_context_is_only_its(
    desktop: Desktop, engine: ScriptedEngine, page: EnginePage, qtbot: QtBot
) -> None:
    pick(page.loading.scope, "big")
    context = page.loading.numbers["n_ctx"]
    assert context.edit.placeholderText() == "As every: Automatic"
    enter(context, "4096", qtbot)
    pick(page.loading.scope, "")
    assert context.edit.text() == ""
    enter(context, "2048", qtbot)
    page.apply()
    qtbot.waitUntil(lambda: len(engine.loads) == 2)
    assert engine.loads[-1].options.n_ctx == 4096
    desktop.engine.choose_target("other")
    qtbot.waitUntil(lambda: len(engine.loads) == 3)
    assert engine.loads[-1].options.n_ctx == 2048
    assert desktop.settings.now.load_for("big").n_ctx == 4096
    pick(page.loading.scope, "big")
    assert context.edit.placeholderText() == "As every: 2048"
    enter(context, "", qtbot)
    page.apply()
    assert desktop.settings.now.models == {}
    assert len(engine.loads) == 3, "another model is loaded"


def test_closing_asks_about_what_is_not_applied(
    desktop: Desktop, engine: ScriptedEngine, dialog: SettingsDialog, page: EnginePage, qtbot: QtBot
) -> None:
    enter(page.loading.numbers["threads"], "2", qtbot)
    dialog.pages.turn_to("data")
    dialog.reject()
    assert dialog.isVisible()
    answers(desktop, dialog)["Go back"].click()  # type: ignore[attr-defined]
    assert dialog.isVisible()
    assert dialog.pages.key == ENGINE
    qtbot.waitUntil(lambda: dialog.findChild(QMessageBox) is None)
    dialog.reject()
    answers(desktop, dialog)["Apply and load again"].click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: len(engine.loads) == 2)
    assert engine.loads[-1].options.threads == 2
    qtbot.waitUntil(lambda: desktop.window.findChild(SettingsDialog) is None)


def test_a_notice_leads_to_the_engines_page(desktop: Desktop) -> None:
    desktop.window.page.notice.acted.emit("settings")
    dialog = desktop.window.findChild(SettingsDialog)
    assert dialog is not None
    assert dialog.pages.key == ENGINE
