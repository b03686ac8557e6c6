"""The loaded pair measured from the window, with a real worker; what comes out is shown, copied and saved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from tests.gui.measuring import MINUTE, begin, cells, choose_file, opened, over, process
from tests.gui.person import finished, send

Start = Callable[[], Desktop]


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Prompts that fit a tiny model's context, in which a letter is a token."""
    path = tmp_path / "three.jsonl"
    texts = ("one two one two", "again and again", "and the end")
    path.write_text("".join(f'{{"id": "{n}", "category": "kind {n}", "prompt": "{t}"}}\n' for n, t in enumerate(texts)))
    return path


def test_a_real_pair_is_measured_and_the_report_is_kept(real: Start, qtbot: QtBot, three: Path, tmp_path: Path) -> None:
    desktop = real()
    dialog = opened(desktop)
    choose_file(dialog, three, qtbot)
    assert "3 prompts, 9 replies: about" in dialog.text
    dialog.options.fixed.setChecked(True)
    dialog.options.length.setValue(3)
    dialog.options.tokens.setValue(6)
    assert "12 replies" in dialog.text
    begin(dialog, qtbot)
    assert process(desktop).under_way
    qtbot.waitUntil(lambda: dialog.table.rowCount() > 0, timeout=MINUTE)
    assert dialog.stop.isVisible(), "rows come as they are measured"
    over(desktop, qtbot)
    assert process(desktop).error is None, process(desktop).error
    rows = cells(dialog)
    assert {row[0] for row in rows[:4]} == {"All"}
    assert [row[1] for row in rows[:4]] == ["Plain", "Automatic", "3 drafted", "Plain again"]
    assert len({row[0] for row in rows}) == 4, "by category"
    again = rows[3]
    assert again[7] == "3/3", "plain makes the same text twice"
    assert "×" in again[3]
    assert dialog.heading.text().startswith("Speculation makes")
    assert "texts are identical in" in dialog.heading.text()
    assert "that much is noise" in dialog.text
    assert desktop.engine.lent is None

    saved = tmp_path / "out.json"
    desktop.window.benchmarking.save_to(saved, figures=True)
    qtbot.waitUntil(lambda: "Saved to" in dialog.note.text())
    record = json.loads(saved.read_bytes())
    assert len(record["runs"]) == 12
    assert {run["mode"] for run in record["runs"]} == {"plain", "auto", "fixed:3", "plain#2"}
    assert record["meta"]["options"]["max_tokens"] == 6
    assert record["meta"]["draft"]["id"] == "near"
    assert all(run["draft_n"] > 0 for run in record["runs"] if run["mode"] == "fixed:3" and run["predicted_n"] > 2)
    page = tmp_path / "out.html"
    desktop.window.benchmarking.save_to(page, figures=False)
    qtbot.waitUntil(lambda: "out.html" in dialog.note.text(), timeout=MINUTE)
    assert "<svg" in page.read_text("utf-8")
    assert dialog.heading.text().rstrip(".") in page.read_text("utf-8")
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.note.text() == "Copied.")
    pasted = QApplication.clipboard().text()
    assert pasted.startswith(dialog.heading.text())
    assert "plain#2" in pasted

    send(desktop, qtbot)
    finished(desktop, qtbot, MINUTE)
    assert desktop.conversation.messages[-1].state == "complete"
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    opened(desktop)
    assert cells(dialog) == rows, "the report is there as long as the program runs"


def test_a_real_one_that_is_stopped_keeps_what_it_has(real: Start, qtbot: QtBot, three: Path) -> None:
    desktop = real()
    dialog = opened(desktop)
    choose_file(dialog, three, qtbot)
    dialog.options.repeats.setValue(50)
    begin(dialog, qtbot)
    qtbot.waitUntil(lambda: len(process(desktop).runs) >= 2, timeout=MINUTE)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert process(desktop).phase == "over", "at once"
    assert dialog.isVisible()
    done = len(process(desktop).runs)
    assert f"Stopped after {done} of 450 replies" in dialog.text
    assert dialog.table.rowCount() > 0
    assert dialog.save.isVisible()
    assert not dialog.stop.isVisible()
    send(desktop, qtbot)
    finished(desktop, qtbot, MINUTE)
    assert desktop.conversation.messages[-1].state == "complete"
