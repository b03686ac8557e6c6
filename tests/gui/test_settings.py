"""The settings dialog, by keyboard alone: pages, presets, prompts, and what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices, QKeySequence
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from desktop.models.sampling import presets_of
from desktop.presets import SHIPPED
from desktop.settings import SettingsFile
from desktop.start import Desktop
from desktop.views.settings.dialog import SettingsDialog
from desktop.widgets.pages import Pages

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def dialog(desktop: Desktop, qtbot: QtBot) -> SettingsDialog:
    """Opened with its key."""
    window = desktop.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window.page.composer.edit, Qt.Key.Key_Comma, CTRL)
    found = window.findChild(SettingsDialog)
    assert found is not None
    found.resize(900, 700)
    found.activateWindow()
    qtbot.waitUntil(found.isActiveWindow)
    return found


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def to(name: str, qtbot: QtBot) -> QWidget:
    """Press Tab until what has that name has the focus."""
    for _ in range(80):
        qtbot.keyClick(focus(), Qt.Key.Key_Tab)
        if focus().accessibleName() == name:
            return focus()
    raise AssertionError(f"Tab never comes to {name}")


def page(dialog: SettingsDialog, key: str, qtbot: QtBot) -> None:
    """To a page by the arrow keys of the list."""
    dialog.pages.focus_choice()
    qtbot.keyClick(focus(), Qt.Key.Key_Home)
    for _ in range(dialog.pages.box.count()):
        if dialog.pages.key == key:
            return
        qtbot.keyClick(focus(), Qt.Key.Key_Down)
    raise AssertionError(f"there is no page {key}")


def typed(text: str, qtbot: QtBot) -> None:
    """In place of what stands where the focus is."""
    qtbot.keySequence(focus(), QKeySequence(QKeySequence.StandardKey.SelectAll))
    qtbot.keyClicks(focus(), text)


def closed(desktop: Desktop, qtbot: QtBot) -> None:
    qtbot.keyClick(focus(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: desktop.window.findChild(SettingsDialog) is None)


def test_how_it_looks_changes_at_once_and_is_kept(desktop: Desktop, dialog: SettingsDialog, qtbot: QtBot) -> None:
    before = desktop.window.sidebar.fontMetrics().height()
    to("Theme", qtbot)
    qtbot.keyClicks(focus(), "D")
    assert desktop.theme.choice == "dark"
    to("Text size", qtbot)
    for _ in range(2):
        qtbot.keyClick(focus(), Qt.Key.Key_Down)
    assert desktop.window.sidebar.fontMetrics().height() > 1.2 * before
    closed(desktop, qtbot)
    now = SettingsFile(desktop.settings.path).now
    assert (now.theme, now.text_size) == ("dark", 125)


def test_a_preset_is_made_renamed_changed_deleted_and_brought_back(
    desktop: Desktop, dialog: SettingsDialog, qtbot: QtBot
) -> None:
    page(dialog, "presets", qtbot)
    to("Duplicate preset", qtbot)
    qtbot.keyClick(focus(), Qt.Key.Key_Space)
    assert focus().accessibleName() == "Name"
    assert focus().text() == "Balanced copy"  # type: ignore[attr-defined]
    typed("greedy", qtbot)
    assert "Another one is called that" not in focus().accessibleDescription()
    assert "another one is called that" in focus().accessibleDescription()
    typed("Warm", qtbot)
    assert focus().accessibleDescription() == ""
    to("Temperature", qtbot)
    typed("900", qtbot)
    assert "900 is too large: at most 100." in focus().accessibleDescription()
    typed("1.2", qtbot)
    assert "Default: 0.7." in focus().accessibleDescription()
    to("Top-k", qtbot)
    qtbot.keyClick(focus(), Qt.Key.Key_Up)
    qtbot.keyClick(focus(), Qt.Key.Key_Return)
    assert dialog.isVisible(), "Enter in a field presses nothing"
    dialog.finish()
    (mine,) = desktop.settings.now.presets.values()
    assert (mine.name, mine.sampling.temperature, mine.sampling.top_k, mine.sampling.top_p) == ("Warm", 1.2, 25, 0.8)
    to("Delete preset", qtbot)
    qtbot.keyClick(focus(), Qt.Key.Key_Space)
    assert desktop.settings.now.presets == {}
    assert focus().text() == "Undo delete"  # type: ignore[attr-defined]
    qtbot.keyClick(focus(), Qt.Key.Key_Return)
    assert list(desktop.settings.now.presets.values()) == [mine]
    closed(desktop, qtbot)
    assert list(SettingsFile(desktop.settings.path).now.presets.values()) == [mine]


def test_a_number_that_cannot_be_used_leaves_the_presets_own(desktop: Desktop, dialog: SettingsDialog) -> None:
    editor, field = dialog.presets.editor, dialog.presets.fields["temperature"]
    editor.row.copy.click()
    for typed_so_far in ("1", "1."):
        field.edit.setText(typed_so_far)
        field.edit.textEdited.emit(typed_so_far)
    dialog.finish()
    for typed_so_far in ("90", "900"):
        field.edit.setText(typed_so_far)
        field.edit.textEdited.emit(typed_so_far)
    dialog.finish()
    (mine,) = desktop.settings.now.presets.values()
    assert mine.sampling.temperature == 1.0, "neither 90 nor what it was copied from"


def test_a_shipped_preset_stays_as_it_is(desktop: Desktop, dialog: SettingsDialog, qtbot: QtBot) -> None:
    page(dialog, "presets", qtbot)
    to("Temperature", qtbot)
    typed("9", qtbot)
    qtbot.keyClick(focus(), Qt.Key.Key_Up)
    editor = dialog.presets.editor
    assert not editor.row.trash.isEnabled()
    assert not editor.name.edit.isEnabled()
    assert "duplicate it to change it" in dialog.presets.about.text()
    closed(desktop, qtbot)
    assert desktop.settings.now.presets == {}
    assert presets_of(desktop.settings.now) == SHIPPED


def test_prompts_are_kept_and_taken_into_new_chats(desktop: Desktop, dialog: SettingsDialog, qtbot: QtBot) -> None:
    page(dialog, "prompts", qtbot)
    assert not dialog.prompts.text.isEnabled()
    to("New prompt", qtbot)
    qtbot.keyClick(focus(), Qt.Key.Key_Space)
    typed("Brief", qtbot)
    to("Text of the prompt", qtbot)
    typed("Be brief.", qtbot)
    dialog.finish()
    (kept,) = desktop.settings.now.prompts.values()
    assert (kept.name, kept.text) == ("Brief", "Be brief.")
    page(dialog, "writing", qtbot)
    system = dialog.writing.system
    to("System prompt of new chats", qtbot)
    typed("Be long.", qtbot)
    system._menu.popup(dialog.pos())
    qtbot.keyClick(system._menu, Qt.Key.Key_Down)
    qtbot.keyClick(system._menu, Qt.Key.Key_Return)
    assert system.text == "Be brief."
    qtbot.keySequence(system.edit, QKeySequence(QKeySequence.StandardKey.Undo))
    assert system.text == "Be long.", "what a kept prompt replaced comes back"
    system._menu.popup(dialog.pos())
    qtbot.keyClick(system._menu, Qt.Key.Key_Up)
    qtbot.keyClick(system._menu, Qt.Key.Key_Return)
    assert [prompt.name for prompt in desktop.settings.now.prompts.values()] == ["Brief", "Be long."]
    page(dialog, "prompts", qtbot)
    box = dialog.prompts.editor.row.box
    assert [box.itemText(at) for at in range(box.count())] == ["Brief", "Be long."]
    closed(desktop, qtbot)
    assert desktop.settings.now.new_chat.system_prompt == "Be long."
    assert desktop.conversation.chat_settings.system_prompt == "Be long.", "the empty page is a new chat"


def test_where_everything_lies_is_shown_and_opened(
    desktop: Desktop, dialog: SettingsDialog, qtbot: QtBot, tandem_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()) or len(opened) < 2)
    page(dialog, "data", qtbot)
    chats, logs = dialog.data.folders["Chats"], dialog.data.folders["Logs"]
    to("Open the folder of chats", qtbot)
    qtbot.keyClick(focus(), Qt.Key.Key_Space)
    assert opened == [str(tandem_home)]
    assert not chats.words.isVisible()
    assert not logs.path.exists()
    logs.open.click()
    assert "not there yet" in logs.words.text()
    chats.open.click()
    assert "no program that shows folders" in chats.words.text()
    closed(desktop, qtbot)


def test_there_is_one_dialog_however_often_it_is_asked_for(desktop: Desktop, dialog: SettingsDialog) -> None:
    desktop.window.edit_settings("data")
    assert desktop.window.findChildren(SettingsDialog) == [dialog]
    assert dialog.pages.key == "data"


def test_a_page_is_found_by_its_key_where_titles_are_alike(qtbot: QtBot) -> None:
    """As two may be in a translation."""
    pages = Pages("Pages")
    qtbot.addWidget(pages)
    for key in ("first", "second"):
        pages.add(key, "Alike", QWidget())
    pages.turn_to("second")
    assert (pages.key, pages.list.currentRow()) == ("second", 1)
