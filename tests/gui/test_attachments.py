"""Attaching: by drag, by paste, by the dialog; refused in words; shown as chips that the keyboard reaches."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from backend.documents import Attachment
from desktop.models import attaching
from desktop.start import Desktop
from desktop.widgets.chips import Chips
from desktop.widgets.message_edit import LONG
from tests import pdfs
from tests.gui.attaching import CODE, attach, chips, drop, keeper, names, settled, urls
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine("Short answer.")


def press(desktop: Desktop, qtbot: QtBot, text: str) -> None:
    qtbot.waitUntil(lambda: text in said(desktop))
    qtbot.mouseClick(said(desktop)[text], Qt.MouseButton.LeftButton)


def said(desktop: Desktop) -> dict[str, QPushButton]:
    """The notice's buttons."""
    buttons = desktop.window.page.notice.findChildren(QPushButton)
    return {button.text(): button for button in buttons if button.isVisible()}


@pytest.mark.parametrize("where", ["page", "box", "clipboard", "dialog"])
def test_files_come_by_every_way(
    desktop: Desktop, qtbot: QtBot, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [keeper(tmp_path), keeper(tmp_path, "# Oil", "notes.md")]
    composer = desktop.window.page.composer
    composer.set_text("What is this?")
    if where == "page":
        drop(desktop.window.page, urls(*files))
    elif where == "box":
        drop(composer.edit.viewport(), urls(*files))
    elif where == "clipboard":
        QGuiApplication.clipboard().setMimeData(urls(*files))
        composer.edit.paste()
    else:
        chosen = ([str(path) for path in files], "")
        monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: chosen)
        qtbot.keyClick(composer.edit, Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
    settled(desktop, qtbot)
    assert names(desktop) == ["keeper.py", "notes.md"]
    assert composer.text == "What is this?"
    assert composer.edit.hasFocus()


def test_it_goes_out_before_what_was_typed(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    attach(desktop, qtbot, path := keeper(tmp_path))
    path.unlink()
    send(desktop, qtbot, "What is this?")
    qtbot.waitUntil(lambda: bool(engine.requests))
    finished(desktop, qtbot)
    asked = f"File: keeper.py\n```python\n{CODE}```\n\nWhat is this?"
    assert engine.requests[-1].messages[-1].content == asked
    assert (chips(desktop).chips, desktop.window.page.composer.text) == ([], "")
    stored = desktop.store.branch(desktop.store.chats()[0].id)[0]
    assert (stored.content, stored.attachments[0].text) == ("What is this?", CODE)
    desktop.store.flush()
    assert desktop.store.unsent(stored.chat) == {}
    send(desktop, qtbot, "And now?")
    finished(desktop, qtbot)
    assert [m.content for m in engine.requests[-1].messages] == [asked, "Short answer.", "And now?"]


def test_a_file_alone_is_a_message(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path) -> None:
    composer = desktop.window.page.composer
    assert not composer.button.isEnabled()
    attach(desktop, qtbot, keeper(tmp_path))
    assert composer.button.isEnabled()
    composer.submit()
    qtbot.waitUntil(lambda: bool(engine.requests))
    finished(desktop, qtbot)
    assert desktop.store.chats()[0].title == "keeper.py"


def test_what_cannot_be_attached_is_said_for_each(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "scan.pdf").write_bytes(pdfs.scan())
    attach(desktop, qtbot, tmp_path, tmp_path / "gone.txt", tmp_path / "empty.txt", keeper(tmp_path))
    words = desktop.window.page.notice.text
    assert words.startswith("Some files cannot be attached")
    for why in ("is a folder", "“gone.txt” is not there", "“empty.txt” is empty"):
        assert why in words
    assert names(desktop) == ["keeper.py"]
    attach(desktop, qtbot, tmp_path / "scan.pdf")
    assert desktop.window.page.notice.text.startswith("This cannot be attached “scan.pdf” holds no text")
    attach(desktop, qtbot, *[keeper(tmp_path, f"text {n}", f"{n}.txt") for n in range(25)])
    assert "takes 20 files. The first 19 were taken" in desktop.window.page.notice.text
    assert len(names(desktop)) == 20


def test_how_a_file_was_read_is_said(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes("caf\u00e9".encode("latin-1"))
    attach(desktop, qtbot, tmp_path / "old.txt")
    assert "Not UTF-8, so it was read as Latin-1" in desktop.window.page.notice.text
    assert "Latin-1" in chips(desktop).chips[0].toolTip()


def test_a_pdf_is_read_and_its_tokens_are_counted(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "sea.pdf").write_bytes(pdfs.with_text("The sea is wide.", "And deep."))
    attach(desktop, qtbot, tmp_path / "sea.pdf")
    (chip,) = chips(desktop).chips
    assert chip.attachment is not None
    assert chip.attachment.text == "The sea is wide.\n\nAnd deep."
    words = len(chip.attachment.block.split())  # the script's tokenizer counts words
    qtbot.waitUntil(lambda: chip.facts.endswith(f" · {words} tok"))
    count = desktop.window.page.composer._count
    qtbot.waitUntil(lambda: count.text() == f"{words} tok")


def test_without_a_model_tokens_are_estimated(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    engine.publish(target=None, phase="idle")
    qtbot.waitUntil(lambda: desktop.engine.state.target is None)
    attach(desktop, qtbot, keeper(tmp_path, "word " * 700))
    (chip,) = chips(desktop).chips
    count = desktop.window.page.composer._count
    qtbot.waitUntil(lambda: count.text().startswith("≈ 1,0"))
    assert " · ≈ 1,000 tok" in chip.facts
    assert "≈ 1,000 tokens" in chip.accessibleName()
    assert "cannot be counted" in count.toolTip()


def test_chips_are_reached_and_removed_by_the_keyboard(desktop: Desktop, qtbot: QtBot, tmp_path: Path) -> None:
    desktop.window.activateWindow()
    attach(desktop, qtbot, *[keeper(tmp_path, f"text {n}", f"{n}.txt") for n in range(3)])
    edit = desktop.window.page.composer.edit
    qtbot.waitUntil(edit.hasFocus)
    qtbot.keyClick(edit, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    first, second, third = chips(desktop).chips
    assert third.hasFocus()
    assert third.accessibleName().startswith("2.txt: 6 bytes")
    qtbot.keyClick(third, Qt.Key.Key_Left)
    assert second.hasFocus()
    qtbot.keyClick(second, Qt.Key.Key_Delete)
    assert third.hasFocus()
    qtbot.keyClick(third, Qt.Key.Key_Backspace)
    assert first.hasFocus()
    qtbot.keyClick(first, Qt.Key.Key_Delete)
    assert edit.hasFocus()
    assert not chips(desktop).isVisible()
    attach(desktop, qtbot, tmp_path / "0.txt")
    (remove,) = chips(desktop).findChildren(QAbstractButton)
    assert remove.accessibleName() == "Remove 0.txt"
    qtbot.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert names(desktop) == []


@pytest.mark.parametrize("how", ["send", "remove", "another chat", "close"])
def test_a_file_that_takes_its_time_holds_nothing_up(
    desktop: Desktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """A network folder that does not answer."""
    go, cancelled = threading.Event(), threading.Event()

    def slow(path: Path, stop: threading.Event, tell: Any) -> Attachment:
        tell(10, 300)
        go.wait(20)
        if stop.is_set():
            cancelled.set()
        return Attachment(path.name, "", "text", 4)

    monkeypatch.setattr(attaching, "read", slow)
    window = desktop.window
    window.attachments.take(window.page.composer.writing, [tmp_path / "slow.pdf"])
    (chip,) = chips(desktop).chips
    qtbot.waitUntil(lambda: chip.facts == "page 10 of 300")
    if how == "send":
        send(desktop, qtbot, "What is this?")
        assert "slow.pdf is still being read" in window.page.composer.note
        assert desktop.store.chats() == []
        go.set()
        settled(desktop, qtbot)
        assert names(desktop) == ["slow.pdf"]
        return
    if how == "remove":
        qtbot.keyClick(chip, Qt.Key.Key_Delete)
    elif how == "another chat":
        chat = desktop.store.add_chat("Other").result()
        window.open_chat(chat.id)
        assert "slow.pdf: another chat was opened" in window.page.notice.text
    else:
        window.close()
        window.attachments.close()
    go.set()
    assert cancelled.wait(10)
    assert names(desktop) == []


def test_files_that_hang_and_were_removed_leave_their_turn_to_others(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, hanging = threading.Event(), threading.Semaphore(0)

    def read(path: Path, stop: threading.Event, tell: Any) -> Attachment:
        if path.name != "here.txt":
            hanging.release()
            disk.wait(20)
        return Attachment(path.name, "", "text", 4)

    monkeypatch.setattr(attaching, "read", read)
    reading = attaching.Attaching()
    heard: list[str] = []
    reading.done.connect(lambda _, attachment: heard.append(attachment.name))
    try:
        gone = [reading.begin(tmp_path / name) for name in ("a.txt", "b.txt")]
        assert hanging.acquire(timeout=5)
        assert hanging.acquire(timeout=5)
        reading.begin(tmp_path / "here.txt")
        for ticket in gone:
            reading.cancel(ticket)
        qtbot.waitUntil(lambda: heard == ["here.txt"], timeout=5000)
    finally:
        disk.set()
        reading.close()
    assert heard == ["here.txt"]


def test_a_long_paste_may_become_an_attachment(desktop: Desktop, qtbot: QtBot) -> None:
    composer = desktop.window.page.composer
    composer.set_text("See: ")
    for _ in range(2):
        QGuiApplication.clipboard().setText("word " * (LONG // 5))
        composer.edit.paste()
        assert composer.text == "See: "
        assert "is long (10,000 characters)" in desktop.window.page.notice.text
        press(desktop, qtbot, "Attach it")
    assert names(desktop) == ["Pasted text", "Pasted text 2"]
    composer.edit.paste()
    press(desktop, qtbot, "Paste into the message")
    assert composer.text == "See: " + "word " * (LONG // 5)
    QGuiApplication.clipboard().setText("short")
    composer.edit.paste()
    assert composer.text.endswith("short")
    composer.edit.undo()


def test_a_clipboard_of_ten_megabytes_is_no_harm(desktop: Desktop, qtbot: QtBot) -> None:
    composer, notice = desktop.window.page.composer, desktop.window.page.notice
    QGuiApplication.clipboard().setText("0123456789" * 1_000_000)
    composer.edit.paste()
    assert list(said(desktop)) == ["Attach it", "Cancel"]
    press(desktop, qtbot, "Attach it")
    assert "an attachment may have 4,000,000" in notice.text
    QGuiApplication.clipboard().setText("0123456789" * 300_000)
    composer.edit.paste()
    press(desktop, qtbot, "Attach it")
    assert chips(desktop).attachments[0].size == 3_000_000
    assert composer.text == ""


def test_pictures_and_links_are_not_dropped_on_the_page(desktop: Desktop) -> None:
    data = QMimeData()
    data.setText("https://example.org")
    with pytest.raises(AssertionError):
        drop(desktop.window.page, data)


def test_many_chips_wrap_and_then_scroll(qtbot: QtBot) -> None:
    many = Chips()
    qtbot.addWidget(many)
    many.resize(300, 100)
    many.replace([Attachment("a rather long name " * 3 + f"{n}.txt", "", "text", 4) for n in range(12)])
    many.show()
    row = many.chips[0].height()
    assert 2 * row < many.height() < 4 * row
    assert many.verticalScrollBar().maximum() > 0
    assert all(chip.geometry().right() < 300 for chip in many.chips)
    many.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    many.resize(301, 100)
    QApplication.processEvents()
    assert many.chips[0].geometry().right() > 250
    many.replace([])
    assert many.isHidden()
