"""In a language with longer words: nothing stays English, and no label or button is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from desktop.models.choices import label
from desktop.start import Desktop
from desktop.widgets.elided import Elided
from tests.gui.models import opened, started
from tests.gui.person import MakeDesktop
from tests.gui.pseudo import accented, make, spoken
from tests.gui.scripted import ScriptedEngine
from tests.gui.windows import DIALOGS, SCRIPT, dialogs, stages, texts
from tests.unit.library.server import Hub

NAMES = re.compile(
    r"\b(Tandem|Write it|Words|More words|python|big|small|Model (One|Two)|Q\d\w*|F32|MIT|KB|MB|GB"
    r"|(Ctrl|Shift|Alt|Esc|Backspace|Return|Enter|Del|F\d+|[+\w/,=-])(\+\w+)*)\b"
)


QTS_OWN = ("OK", "Cancel")
"""Standard buttons, which Qt translates itself."""


@pytest.fixture(scope="module")
def translation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("accented"), "en_XA", 2, accented)


@pytest.fixture(autouse=True)
def language(qapp: QApplication, translation: Path) -> Iterator[None]:
    with spoken(qapp, translation):
        yield


@pytest.fixture
def engine() -> ScriptedEngine:
    return ScriptedEngine(SCRIPT)


def english(root: QWidget, *names: str) -> list[str]:
    """What has words of plain letters that are no names."""
    known = re.compile("|".join([NAMES.pattern, *map(re.escape, sorted(filter(None, names), key=len, reverse=True))]))
    found = [(where, text) for where, text in texts(root) if re.search(r"[A-Za-z]{2}", known.sub("", text))]
    return [f"{where}: {text}" for where, text in found if not ("QDialogButtonBox" in where and text in QTS_OWN)]


def cut(root: QWidget) -> list[str]:
    """Labels and buttons that have less room than their text takes."""
    return [f"{type(w).__name__}: {w.text()}" for w in root.findChildren(QWidget) if w.isVisible() and is_cut(w)]


def is_cut(widget: QWidget) -> bool:
    if isinstance(widget, Elided) or not isinstance(widget, QLabel | QAbstractButton) or not widget.text():
        return False
    if isinstance(widget, QToolButton) and widget.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly:
        return False
    if isinstance(widget, QLabel) and widget.wordWrap():
        return widget.heightForWidth(widget.width()) > widget.height()
    return widget.sizeHint().width() > widget.width()


def test_the_window(desktop: Desktop, qtbot: QtBot) -> None:
    for window in stages(desktop, qtbot):
        assert english(window) == []
        assert cut(window) == []


@pytest.mark.parametrize("action", DIALOGS)
def test_a_dialog(desktop: Desktop, action: str) -> None:
    for dialog in dialogs(desktop, action):
        assert english(dialog) == []
        assert cut(dialog) == []


def test_the_models(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    desktop = started(make_desktop, qtbot)
    window = opened(desktop, qtbot)
    assert window.rows.select("one")
    names = [label(model) for model in desktop.shelf.models]
    licences = [m.entry.licence.name for m in desktop.shelf.models if m.entry is not None and m.entry.licence]
    assert english(window, *names, *licences, *(model.name for model in desktop.shelf.models)) == []
    assert cut(window) == []


def test_the_first_start(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    desktop = started(make_desktop, qtbot)
    welcome = desktop.window.page.welcome
    welcome.offer_starter("Model One", "Model Two", 1_600_000_000, "MIT", fetched=5_000_000)
    assert english(desktop.window) == []
    assert cut(desktop.window) == []
    welcome.show_progress("Model One", 1, 2, 3.0)
    assert english(welcome) == []
    assert cut(welcome) == []


def test_what_is_not_translated_or_cut_is_found(qtbot: QtBot) -> None:
    root = QWidget()
    qtbot.addWidget(root)
    left, right = QLabel("Left alone", root), QLabel(accented("Much too long for this"), root)
    left.resize(left.sizeHint())
    right.resize(right.sizeHint() / 2)
    root.show()
    assert english(root) == ["text of QLabel in QWidget: Left alone"]
    assert cut(root) == [f"QLabel: {right.text()}"]
