"""The models window: what it lists, what is done from it, by keys alone too. The hub is a real server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from backend.library.elsewhere import OFF_VARIABLE
from desktop.models import forecast
from desktop.models.model_rows import FOLDER, SEARCH
from desktop.start import Desktop
from desktop.views.models_window import ModelsWindow
from tests.gui.models import heading, opened, pressable, row, shown, started, values
from tests.gui.person import MakeDesktop
from tests.gui.scripted import ScriptedEngine, model
from tests.unit.library.server import Hub


@pytest.fixture
def desktop(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> Desktop:
    return started(make_desktop, qtbot)


@pytest.fixture
def models(desktop: Desktop, qtbot: QtBot) -> ModelsWindow:
    return opened(desktop, qtbot)


# -- where it is opened -----------------------------------------------------------------------------------------------


def test_it_opens_from_shortcut_menu_and_notice_and_blocks_nothing(desktop: Desktop, qtbot: QtBot) -> None:
    window = desktop.window
    for way in (
        window.actions_.by_id["models"].trigger,
        lambda: window.page.notice.acted.emit("models"),
        lambda: window.downloads.opened.emit("one"),
    ):
        way()
        models = window.models.managing.window
        assert models is not None
        assert models.isVisible()
        assert not models.isModal()
        models.close()
    assert any(action is window.actions_.by_id["models"] for action in window.sidebar.more.menu().actions())
    assert window.models.managing.window is models, "it stays as it was left"


# -- what it lists ----------------------------------------------------------------------------------------------------


def test_words_and_fit_narrow_the_list(desktop: Desktop, models: ModelsWindow, qtbot: QtBot) -> None:
    assert "MIT" in row(models, "one")
    assert heading(models, "one") == "To download"
    models.words.setText("model TWO")
    qtbot.waitUntil(lambda: [v for v in values(models) if v] == ["two", SEARCH])
    models.words.setText("")
    qtbot.waitUntil(lambda: "qwen3-32b" in values(models))
    outlooks = desktop.window.models.managing.outlooks
    qtbot.waitUntil(lambda: "qwen3-32b" in outlooks.by_id, timeout=20_000)
    large = {model_id for model_id, outlook in outlooks.by_id.items() if outlook.fits is False}
    models.fitting.setChecked(True)
    assert not large & set(values(models))
    models.select("qwen3-32b")  # asked for: the filter gives way
    assert models.value == "qwen3-32b"


def test_other_programs_models_are_listed_apart_and_never_deleted(
    hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(OFF_VARIABLE)
    folder = tmp_path / ".lmstudio" / "models" / "org" / "repo"
    folder.mkdir(parents=True)
    (folder / "Theirs-Q4_0.gguf").write_bytes(hub.content)
    desktop = make_desktop(ScriptedEngine())
    desktop.window.models.manage()
    window = desktop.window.models.managing.window
    assert window is not None
    qtbot.waitUntil(lambda: "theirs-q4_0" in values(window), timeout=20_000)
    assert heading(window, "theirs-q4_0") == "In other programs"
    assert "LM Studio" in row(window, "theirs-q4_0")
    window.select("theirs-q4_0")
    assert shown(window) == {"use"}


def test_drafts_of_a_target_say_what_they_come_to(desktop: Desktop, models: ModelsWindow, qtbot: QtBot) -> None:
    measured = desktop.window.models._measured
    measured._speedups["one two"] = 1.84
    measured.changed.emit()
    models.select("one")
    drafts = models.detail.drafts
    qtbot.waitUntil(lambda: "two" in [r.value for r in drafts.rows], timeout=20_000)
    two = lambda: next(r.detail for r in drafts.rows if r.value == "two")  # noqa: E731
    assert two().startswith("Recommended · Fits, to download")
    qtbot.waitUntil(lambda: "1.84× measured here" in two())
    drafts.activated_value.emit("two")
    assert models.value == "two"


def test_the_memory_of_a_model_and_of_its_pairs_is_told_in_parts(
    desktop: Desktop, models: ModelsWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast, "free_main_memory", lambda: 16 * 10**9)
    desktop.shelf.refresh()
    models.select("qwen3-14b")
    memory = models.detail._values["Memory"]
    qtbot.waitUntil(lambda: "weights" in memory.text(), timeout=20_000)
    assert re.fullmatch(r"[\d.]+ GB, estimated: [\d.]+ GB weights, 1.3 GB caches, [\d.]+ GB buffers", memory.text())
    whole, weights, caches, buffers = (float(size) for size in re.findall(r"([\d.]+) GB", memory.text()))
    assert whole == pytest.approx(weights + caches + buffers, abs=0.2)
    drafts = models.detail.drafts
    qtbot.waitUntil(lambda: len(drafts.rows) == 2, timeout=20_000)
    details = {row.value: row.detail for row in drafts.rows}
    assert details["qwen3-0.6b"] == "Recommended · Fits, to download · ≈ 12.1 GB in memory with the target"
    assert details["qwen3-1.7b"].startswith("Fits, to download · ≈ 13.")


# -- downloads --------------------------------------------------------------------------------------------------------


def test_download_pause_go_on_use_and_delete(
    hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    half, file = len(hub.content) // 2, tmp_path / "models" / "org" / "one" / "one.gguf"
    hub.stall_after = half
    models.select("one")
    assert shown(models) == {"fetch"}
    models.detail.buttons["fetch"].click()
    qtbot.waitUntil(lambda: shown(models) == {"pause", "cancel"})
    part = file.with_name("one.gguf.part")
    qtbot.waitUntil(lambda: part.is_file() and part.stat().st_size == half, timeout=20_000)
    qtbot.waitUntil(lambda: "Downloading" in row(models, "one"))
    assert heading(models, "one") == "Downloads"
    models.detail.buttons["pause"].click()
    qtbot.waitUntil(lambda: "Paused" in row(models, "one"), timeout=20_000)
    qtbot.waitUntil(lambda: shown(models) == {"fetch", "cancel"})
    assert models.detail.buttons["fetch"].text() == "Go on"
    hub.stall_after = None
    models.detail.buttons["fetch"].click()
    qtbot.waitUntil(lambda: shown(models) == {"use", "remove"}, timeout=20_000)
    assert heading(models, "one") == "On this machine"
    models.detail.buttons["remove"].click()
    (box,) = models.findChildren(QMessageBox)
    assert box.textFormat() is Qt.TextFormat.PlainText
    assert str(file) in box.informativeText()
    assert "MB" in box.informativeText() or "GB" in box.informativeText()
    box.reject()
    assert file.is_file()
    models.detail.buttons["remove"].click()
    box = next(b for b in models.findChildren(QMessageBox) if b.isVisible())
    pressable(box, "Delete").click()
    qtbot.waitUntil(lambda: not file.exists(), timeout=20_000)
    qtbot.waitUntil(lambda: "was deleted" in models.note.text(), timeout=20_000)


def test_a_cancelled_download_leaves_nothing(
    hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    hub.stall_after = 1000
    models.select("one")
    models.detail.buttons["fetch"].click()
    qtbot.waitUntil(lambda: bool(list((tmp_path / "models").rglob("*.part"))), timeout=20_000)
    models.detail.buttons["cancel"].click()
    qtbot.waitUntil(lambda: not (tmp_path / "models" / "org").exists(), timeout=20_000)
    qtbot.waitUntil(lambda: shown(models) == {"fetch"}, timeout=20_000)
    assert models.detail.buttons["fetch"].text() == "Download"


def test_what_is_loaded_cannot_be_deleted(hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot) -> None:
    models.select("one")
    models.detail.buttons["fetch"].click()
    qtbot.waitUntil(lambda: "remove" in shown(models), timeout=20_000)
    desktop.engine._on_state(desktop.engine.state.model_copy(update={"target": model("one")}))
    qtbot.waitUntil(lambda: not models.detail.buttons["remove"].isEnabled())
    assert models.detail.buttons["use"].text() == "In use as target"
    assert "in use as target" in row(models, "one")


# -- files, keys, names -----------------------------------------------------------------------------------------------


def test_a_file_and_a_folder_are_added_and_forgotten(
    hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "inside.gguf").write_bytes(hub.content)
    (tmp_path / "single.gguf").write_bytes(hub.content)
    desktop.shelf.add_folder(folder)
    desktop.shelf.add(tmp_path / "single.gguf")
    qtbot.waitUntil(lambda: {"inside", "single"} <= set(values(models)), timeout=20_000)
    assert desktop.engine.target is None, "what is added here is not loaded by itself"
    models.select("inside")
    assert shown(models) == {"use", "forget"}
    models.select("single")
    assert shown(models) == {"use", "forget"}
    models.detail.buttons["forget"].click()
    qtbot.waitUntil(lambda: "single" not in values(models), timeout=20_000)
    assert (tmp_path / "single.gguf").is_file()
    folder.rename(tmp_path / "away")
    desktop.shelf.refresh()
    gone = FOLDER + str(folder)
    qtbot.waitUntil(lambda: gone in values(models), timeout=20_000)
    models.select(gone)
    assert shown(models) == {"forget"}
    models.detail.buttons["forget"].click()
    qtbot.waitUntil(lambda: gone not in values(models), timeout=20_000)


def test_enter_takes_nothing_away(
    hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "single.gguf").write_bytes(hub.content)
    desktop.shelf.add(tmp_path / "single.gguf")
    qtbot.waitUntil(lambda: "single" in values(models), timeout=20_000)
    models.select("single")
    desktop.engine._on_state(desktop.engine.state.model_copy(update={"target": model("single")}))
    qtbot.waitUntil(lambda: not models.detail.buttons["use"].isEnabled())
    forgotten: list[str] = []
    models.detail.forget.connect(forgotten.append)
    qtbot.keyClick(models.rows, Qt.Key.Key_Return)
    assert shown(models) == {"use", "forget"}
    assert forgotten == []


def test_after_a_file_that_cannot_be_added_the_next_is_not_loaded(
    hub: Hub, desktop: Desktop, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = tmp_path / "bad.gguf", tmp_path / "good.gguf"
    bad.write_bytes(b"no model at all")
    good.write_bytes(hub.content)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(bad), ""))
    with qtbot.waitSignal(desktop.shelf.failed, timeout=20_000):
        desktop.window.models.add_file()
    with qtbot.waitSignal(desktop.shelf.added, timeout=20_000):
        desktop.shelf.add(good)
    assert desktop.engine.target is None


def test_by_keys_alone_a_model_is_found_fetched_and_used(
    hub: Hub, desktop: Desktop, models: ModelsWindow, qtbot: QtBot
) -> None:
    def key(which: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        qtbot.keyClick(QApplication.focusWidget() or models, which, held)

    key(Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert models.words.hasFocus()
    qtbot.keyClicks(models.words, "model one")
    key(Qt.Key.Key_Return)
    assert models.rows.hasFocus()
    assert models.value == "one"
    key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "use" in shown(models), timeout=20_000)
    models.detail.buttons["use"].setFocus()
    key(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: desktop.engine.target == "one")
    assert not models.isVisible()
