r"""Formulas on screen: drawn by a process of their own, on the text's baseline, copied as written, never waited for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QProcess
from PySide6.QtGui import QAccessible, QColor, QGuiApplication, QImage, QTextCursor
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from desktop.maths.typesetter import Typesetter
from desktop.theme.theme import Theme
from desktop.widgets.blocks import BlockView
from desktop.widgets.formula import em_of
from desktop.widgets.maths_block import MathsBlock
from desktop.widgets.prose import Prose
from desktop.widgets.table import Table

ENDLESS = r"\frac{1}{" * 40 + "x" + "}" * 40
OBJECT = "\ufffc"
Make = Callable[..., Typesetter]


@pytest.fixture
def make(qtbot: QtBot) -> Iterator[Make]:
    made: list[Typesetter] = []

    def make(**options: object) -> Typesetter:
        made.append(Typesetter(**options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for typesetter in made:
        typesetter.close()


@pytest.fixture
def maths(make: Make) -> Typesetter:
    return make()


@pytest.fixture
def view(qtbot: QtBot, maths: Typesetter) -> BlockView:
    made = BlockView(maths=maths)
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def shown(view: BlockView, qtbot: QtBot, text: str, complete: bool = True) -> None:
    view.show_markdown(text, complete)
    qtbot.waitUntil(lambda: not view._later.isActive())
    assert view._maths is not None
    qtbot.waitUntil(lambda: not view._maths.busy)
    qtbot.wait(60)  # longer than ``ready`` is held back


def prose(view: BlockView, at: int = 0) -> Prose:
    widget = view.widgets[at]
    assert isinstance(widget, Prose)
    return widget


def selected(widget: Prose) -> str:
    widget.setTextCursor(QTextCursor(widget.document()))
    widget.selectAll()
    widget.copy()
    return QGuiApplication.clipboard().text()


def test_a_formula_comes_once_and_stays(maths: Typesetter, qtbot: QtBot) -> None:
    with qtbot.waitSignal(maths.ready):
        assert maths.drawing("x^2", False) is None
    drawing = maths.drawing("x^2", False)
    assert drawing is not None
    assert not maths.waits("x^2", False)
    assert maths.drawing("x^2", False) is drawing, "drawn once"
    assert maths.waits("x^2", True) is False
    assert maths.drawing("x^2", True) is None, "displayed is another drawing"
    assert maths.waits("x^2", True)


def test_the_latest_is_drawn_first_and_what_is_refused_never_again(maths: Typesetter, qtbot: QtBot) -> None:
    for latex in ("a", r"\foo", "c"):
        maths.drawing(latex, False)
    qtbot.waitUntil(lambda: not any(maths.waits(latex, False) for latex in ("a", r"\foo", "c")))
    assert list(maths._known) == [("c", False), (r"\foo", False), ("a", False)]
    assert maths.drawing(r"\foo", False) is None
    assert not maths.waits(r"\foo", False)
    assert maths.drawing("x" * 5000, False) is None
    assert not maths.waits("x" * 5000, False)


def test_a_formula_without_end_costs_itself_alone(make: Make, qtbot: QtBot) -> None:
    maths = make(patience_ms=300)
    maths.drawing("a", False)
    maths.drawing(ENDLESS, False)
    qtbot.waitUntil(lambda: maths.drawing("a", False) is not None, timeout=60_000)
    assert maths.drawing(ENDLESS, False) is None
    assert not maths.waits(ENDLESS, False)


DIES = """import json, sys
print("{}", flush=True)
for line in sys.stdin:
    if json.loads(line)[0] != "a":
        sys.exit(1)
    print("{}", flush=True)
"""


def test_many_that_end_the_process_cost_no_other(make: Make, qtbot: QtBot) -> None:
    maths = make(command=[sys.executable, "-c", DIES])
    for latex in ("a", *"bcdefghi"):  # the latest is asked for first
        maths.drawing(latex, False)
    qtbot.waitUntil(lambda: not maths.busy, timeout=60_000)
    assert ("a", False) in maths._known, "it was asked for and answered"


@pytest.mark.parametrize("command", [["/no/such/program"], [sys.executable, "-c", "pass"]])
def test_without_the_process_nothing_is_waited_for(make: Make, qtbot: QtBot, command: list[str]) -> None:
    maths = make(command=command)
    maths.drawing("a", False)
    qtbot.waitUntil(lambda: not maths.waits("a", False), timeout=30_000)
    assert maths.drawing("b", False) is None
    assert not maths.waits("b", False)


def test_closing_ends_the_process(maths: Typesetter, qtbot: QtBot) -> None:
    maths.drawing("a", False)
    process = maths._process
    assert process is not None
    qtbot.waitUntil(lambda: process.state() == QProcess.ProcessState.Running)
    maths.close()
    assert process.state() == QProcess.ProcessState.NotRunning
    assert maths.drawing("b", False) is None
    assert maths._process is None


TEXT = r"The root of $x^2 = 2$ is \(\sqrt{2}\), not `$y$`, and costs $5 or $6."


def test_formulas_stand_in_the_text_and_are_copied_as_written(view: BlockView, qtbot: QtBot) -> None:
    view.show_markdown(TEXT, complete=True)
    assert "$x^2 = 2$" in prose(view).toPlainText(), "the source until it is drawn"
    shown(view, qtbot, TEXT)
    text = prose(view).toPlainText()
    assert text.count(OBJECT) == 4, "two formulas, each with a strut"
    assert "x^2" not in text
    assert "$y$" in text
    assert "costs $5 or $6." in text
    assert selected(prose(view)) == TEXT.replace("`", "")
    face = QAccessible.queryAccessibleInterface(prose(view))
    assert face.text(QAccessible.Text.Description) == TEXT.replace("`", ""), "heard as written, in its place"
    shown(view, qtbot, "No formula.")
    assert face.text(QAccessible.Text.Description) == ""


def test_what_is_not_understood_is_shown_as_written(view: BlockView, qtbot: QtBot) -> None:
    shown(view, qtbot, "A $\\foo_a*b*$ and\n\n$$\n\\foo_a\n$$\n\nend.")
    assert prose(view).toPlainText() == "A $\\foo_a*b*$ and"
    block = view.widgets[1]
    assert isinstance(block, MathsBlock)
    assert not block.drawn
    assert block.text == "$$\n\\foo_a\n$$"


def test_what_is_refused_is_not_laid_out_again(view: BlockView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(view, qtbot, "$$\\foo$$")
    laid_out: list[str] = []
    monkeypatch.setattr(Prose, "set_plain", lambda _self, text: laid_out.append(text))
    assert view._maths is not None
    view._maths.ready.emit()
    assert laid_out == []


def test_an_open_formula_is_its_source_and_finished_ones_stay(view: BlockView, qtbot: QtBot) -> None:
    text = "Before $a$.\n\n$$\nb\n$$\n\nThen \\(c_1"
    shown(view, qtbot, text, complete=False)
    first, block = view.widgets[:2]
    rendered = view.rendered
    assert prose(view, 2).toPlainText() == "Then \\(c_1"
    assert isinstance(block, MathsBlock)
    assert block.drawn
    shown(view, qtbot, text + " + c_2\\).", complete=False)
    assert view.widgets[:2] == [first, block]
    assert view.rendered == rendered + 1
    assert prose(view, 2).toPlainText().startswith(f"Then {OBJECT}")


def test_the_streamed_source_of_a_block_grows_where_it_will_be_drawn(view: BlockView, qtbot: QtBot) -> None:
    view.show_markdown("$$\nx^2", complete=False)
    (block,) = view.widgets
    assert isinstance(block, MathsBlock)
    assert block.text == "$$\nx^2"
    shown(view, qtbot, "$$\nx^2\n$$", complete=False)
    assert view.widgets == [block]
    assert block.drawn
    assert block.text == ""
    assert block._scroll.accessibleName() == "Formula: x^2"
    (button,) = block.findChildren(QToolButton)
    assert button.accessibleName() == "Copy formula"
    button.click()
    assert QGuiApplication.clipboard().text() == "$$\nx^2\n$$"


def test_a_displayed_formula_in_a_sentence_has_its_own_line(view: BlockView, qtbot: QtBot) -> None:
    text = "So $$a = b$$, where $a$.\n\n- Item \\[ c = d \\] end"
    shown(view, qtbot, text)
    document = prose(view).document()
    lines = []
    block = document.begin()
    while block.isValid():
        lines.append(block.text().replace("\u2060", "").replace(OBJECT * 2, "F"))
        block = block.next()
    assert lines == ["So", "F,", "where F.", "Item\u2028F\u2028end"]
    assert document.findBlockByNumber(1).blockFormat().alignment().name == "AlignHCenter"


def test_the_text_keeps_its_lines_and_the_formula_its_size(view: BlockView, qtbot: QtBot) -> None:
    """A fraction on the baseline makes room above and below; a letter makes none."""

    def height(text: str) -> int:
        shown(view, qtbot, text)
        return prose(view).height()

    plain = height("word")
    assert height("word $x$") == plain
    assert height(r"word \(\begin{pmatrix} a \\ b \\ c \end{pmatrix}\)") > 1.6 * plain
    assert height("# A $x$") > plain
    font = view.font()
    font.setPointSizeF(2 * font.pointSizeF())
    assert em_of(font) == pytest.approx(2 * em_of(view.font()), rel=0.1)


def test_the_ink_is_the_themes(view: BlockView, qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme = Theme(app)

    def inks() -> tuple[int, int]:
        """The darkest and the brightest of the formula."""
        block = view.widgets[0]
        assert isinstance(block, MathsBlock)
        image = block._scroll.formula.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        values = [QColor(image.pixel(x, y)).lightness() for x in range(image.width()) for y in range(image.height())]
        return min(values), max(values)

    theme.choose("light")
    shown(view, qtbot, r"$$\sum x$$")
    assert inks()[0] < 90
    theme.choose("dark")
    assert inks()[1] > 180
    theme.choose("light")


def test_a_wide_formula_scrolls(view: BlockView, qtbot: QtBot) -> None:
    shown(view, qtbot, "$$" + " + ".join(f"x_{n}" for n in range(10, 60)) + "$$")
    block = view.widgets[0]
    assert isinstance(block, MathsBlock)
    qtbot.waitUntil(lambda: block._scroll.horizontalScrollBar().maximum() > 100)
    assert block.width() <= view.width()
    shown(view, qtbot, "In a line: $" + " + ".join(f"x_{n}" for n in range(10, 60)) + "$")
    assert prose(view).document().size().width() <= prose(view).viewport().width() + 1, "there it is shrunk"


def test_a_table_of_formulas_is_drawn_spoken_and_drawn_again_in_other_colours(
    view: BlockView, maths: Typesetter, qtbot: QtBot
) -> None:
    view.show_markdown("| $\\alpha$ | tokens |\n|---|---|\n| 0.8 | $3.36$ |", complete=True)
    (table,) = view.findChildren(Table)
    qtbot.waitUntil(lambda: not table._missing)
    assert all(part in table.accessibleDescription() for part in ("$\\alpha$", "$3.36$", "tokens"))
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme = Theme(app)
    try:
        for choice in ("dark", "light", "system"):
            theme.choose(choice)  # type: ignore[arg-type]
            qtbot.waitUntil(lambda: not table._missing)
    finally:
        theme.choose("system")
    assert "$3.36$" in table.accessibleDescription()
