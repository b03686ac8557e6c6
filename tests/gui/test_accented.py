"""In a language with longer words: nothing stays English, and no label or button is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QScrollArea, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from backend.bench.workloads import ALL
from backend.errors import EngineError, ErrorCode
from desktop import words
from desktop.models.choices import label
from desktop.start import Desktop
from desktop.views.about import libraries
from desktop.views.refusal import Refusal
from desktop.views.token_dialog import TOKENS, TokenDialog
from desktop.views.trial import TrialDialog
from desktop.views.welcome import Offer
from desktop.widgets.elided import Elided
from tests.gui.models import opened, started
from tests.gui.person import MakeDesktop
from tests.gui.pseudo import accented, make, spoken
from tests.gui.scripted import ScriptedEngine
from tests.gui.windows import DIALOGS, SCRIPT, dialogs, measured, stages, texts, trials
from tests.unit.library.server import Hub

_KEY = r"(?:Ctrl|Shift|Alt|Esc|Backspace|Return|Enter|Del|F\d+)(?:\+\w+)*"
NAMES = re.compile(
    rf"(?<![A-Za-z])(?:Tandem|Write it|Words|More words|python|big|small|Q\d\w*|KB|{_KEY})(?![A-Za-z])"
    r"|\d\d [A-Z][a-z]+ \d{4}|~?(?:/[\w.-]+)+"
)
"""Of the program, keys, models, a person's words, dates and paths."""
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
    known = re.compile("|".join([*map(re.escape, sorted(filter(None, names), key=len, reverse=True)), NAMES.pattern]))
    found = [(where, text) for where, text in texts(root) if re.search(r"[A-Za-z]{2}", known.sub("", text))]
    return [f"{where}: {text}" for where, text in found if not ("QDialogButtonBox" in where and text in QTS_OWN)]


def published(desktop: Desktop) -> set[str]:
    """Names of models and licences."""
    models = desktop.shelf.models
    licences = {model.entry.licence.name for model in models if model.entry is not None and model.entry.licence}
    return licences | {label(model) for model in models} | {model.name for model in models}


def cut(root: QWidget) -> list[str]:
    """Labels and buttons that have less room than their text takes, and columns that are wider than what shows them."""
    QApplication.processEvents()  # lay out what was said last
    shown = [widget for widget in root.findChildren(QWidget) if widget.isVisible()]
    areas = [w for w in shown if isinstance(w, QScrollArea) and w.widget().width() > w.viewport().width()]
    wide = [f"{type(area).__name__}: {area.widget().width()} in {area.viewport().width()}" for area in areas]
    return [f"{type(w).__name__}: {w.text()}" for w in shown if is_cut(w)] + wide


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
    names = [*chain.from_iterable(libraries())] if action == "about" else []
    for dialog in dialogs(desktop, action):
        assert english(dialog, *names) == []
        assert cut(dialog) == []


def test_the_models(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    desktop = started(make_desktop, qtbot)
    window = opened(desktop, qtbot)
    assert window.rows.select("one")
    assert english(window, *published(desktop)) == []
    assert cut(window) == []


def test_the_first_start(hub: Hub, make_desktop: MakeDesktop, qtbot: QtBot) -> None:
    desktop = started(make_desktop, qtbot)
    welcome = desktop.window.page.welcome
    pair = Offer("Model One", "Model Two", 1_600_000_000, 5_000_000, memory=2_600_000_000, licence="MIT")
    welcome.offer_pair(pair, pair)
    assert english(desktop.window, *published(desktop)) == []
    assert cut(desktop.window) == []
    welcome.say_too_large(pair, 1_000_000_000)
    assert english(desktop.window, *published(desktop)) == []
    assert cut(desktop.window) == []
    welcome.show_progress("Model One", 1, 2, 3.0)
    assert english(welcome, *published(desktop)) == []
    assert cut(welcome) == []


def test_the_benchmark(desktop: Desktop, qtbot: QtBot) -> None:
    """Its verdict and its noise are the engine's own sentences; prompts and their file have English keys."""
    file = ["prompts.jsonl", '"id"', '"category"', '"prompt"']
    for dialog in measured(desktop, qtbot):
        report = desktop.window.benchmarking.benchmark.report
        kinds = {row.category for row in report.rows} - {ALL} if report is not None else set[str]()
        own = [report.verdict, report.noise, *kinds] if report is not None else []
        assert english(dialog, *file, *own) == []
        assert cut(dialog) == []


def test_a_trial(qtbot: QtBot) -> None:
    for dialog in trials(qtbot):
        assert english(dialog, "other", "broken", "2 of 3.") == []
        assert cut(dialog) == []


def test_what_goes_wrong(desktop: Desktop) -> None:
    bar = desktop.window.page.notice
    standing = [said for said in vars(words).values() if isinstance(said, words.Notice)]
    assert standing
    for said in (*standing, *(words.notice(EngineError(code, "", {})) for code in ErrorCode)):
        bar.show_notice(said)
        assert english(bar) == []
        assert cut(bar) == []


def test_a_small_window(qtbot: QtBot) -> None:
    for dialog in (Refusal(""), TokenDialog(), TrialDialog("big", str)):
        qtbot.addWidget(dialog)
        dialog.show()
        assert english(dialog, TOKENS.removeprefix("https://"), "hf_") == []
        assert cut(dialog) == []


def test_what_is_not_translated_or_cut_is_found(qtbot: QtBot) -> None:
    root = QWidget()
    qtbot.addWidget(root)
    left, right = QLabel("Left alone", root), QLabel(accented("Much too long for this"), root)
    left.resize(left.sizeHint())
    right.resize(right.sizeHint() / 2)
    root.show()
    assert english(root) == ["text of QLabel in QWidget: Left alone"]
    assert cut(root) == [f"QLabel: {right.text()}"]
