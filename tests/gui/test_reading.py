"""What is read: tables that scroll, lists with code in them, code copied to the letter, scripts in their direction."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QTextBlock, QTextCursor, QTextTable, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.start import Desktop
from desktop.widgets.blocks import BlockView
from desktop.widgets.code import CodeBlock
from desktop.widgets.prose import Prose
from desktop.widgets.table import Table

RIGHT, LEFT = Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight
HEBREW, ARABIC = "שלום עולם", "مرحبا بالعالم"


@pytest.fixture
def view(qtbot: QtBot) -> BlockView:
    made = BlockView()
    qtbot.addWidget(made)
    made.resize(500, 400)
    made.show()
    return made


def blocks(prose: Prose) -> Iterator[QTextBlock]:
    block = prose.document().begin()
    while block.isValid():
        yield block
        block = block.next()


def the_table(widget: object) -> QTextTable:
    assert isinstance(widget, Table)
    (table,) = [frame for frame in widget.document().rootFrame().childFrames() if isinstance(frame, QTextTable)]
    return table


def row(count: int, word: str) -> str:
    return "|" + "|".join(f"{word} {n}" for n in range(count)) + "|"


def test_a_wide_table_scrolls_and_no_word_of_it_is_broken(view: BlockView, qtbot: QtBot) -> None:
    view.show_markdown(f"{row(12, 'heading')}\n{'|---' * 12}|\n{row(12, 'word')}", complete=True)
    (table,) = view.widgets
    assert isinstance(table, Table)
    bar = table.horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 200)
    assert view.width() <= 500
    for block in blocks(table):
        assert block.layout().lineCount() == 1
    assert table.height() >= table.document().size().height() + bar.height() - 1, "the bar covers no row"
    qtbot.waitUntil(table.isVisible)
    QApplication.sendPostedEvents()
    assert bar.value() == 0, "it is read from its beginning"
    wheel = QWheelEvent(
        QPointF(9, 9),
        QPointF(9, 9),
        QPoint(),
        QPoint(-120, 0),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(table.viewport(), wheel)
    assert bar.value() == 120


def test_no_word_of_a_wide_table_is_broken_at_any_size(view: BlockView) -> None:
    view.show_markdown(f"{row(12, 'heading')}\n{'|---' * 12}|", complete=True)
    (table,) = view.widgets
    assert isinstance(table, Table)
    for points in range(8, 21):
        font = table.font()
        font.setPointSize(points)
        table.setFont(font)
        assert [block.text() for block in blocks(table) if block.layout().lineCount() > 1] == [], points


def test_a_narrow_table_does_not_and_long_cells_are_broken(view: BlockView, qtbot: QtBot) -> None:
    view.show_markdown("| a | b |\n|---|---|\n| 1 | " + "word " * 60 + "|", complete=True)
    (table,) = view.widgets
    assert isinstance(table, Table)
    qtbot.wait(50)
    assert table.horizontalScrollBar().maximum() == 0
    assert max(block.layout().lineCount() for block in blocks(table)) > 3
    style = the_table(table).format()
    assert style.borderBrush().color() != Qt.GlobalColor.darkGray, "Qt's own look"


def test_a_growing_table_keeps_its_widget(view: BlockView, qtbot: QtBot) -> None:
    view.show_markdown("Here:\n| a | b |\n|---|---|\n| 1 |", complete=False)
    before = list(view.widgets)
    assert [type(w) for w in before] == [Prose, Table]
    view.show_markdown("Here:\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nAfter", complete=True)
    assert view.widgets[:2] == before
    assert the_table(before[1]).rows() == 3


def test_lists_go_on_around_code_and_keep_their_numbers(view: BlockView, qtbot: QtBot) -> None:
    view.show_markdown(
        "4. One\n   ```py\n   if x:\n       y\n   ```\n   more\n5. Two\n   - deep\n     - deeper", complete=True
    )
    first, code, more, rest = view.widgets
    assert isinstance(first, Prose)
    assert isinstance(code, CodeBlock)
    assert isinstance(more, Prose)
    assert isinstance(rest, Prose)
    qtbot.waitUntil(lambda: code.x() > 0)
    assert code.text == "if x:\n    y"
    assert next(blocks(more)).blockFormat().indent() == 1
    items = [(b.text(), b.textList().itemText(b), b.textList().format().indent()) for b in blocks(rest)]
    assert items == [("Two", "5.", 1), ("deep", ".", 2), ("deeper", ".", 3)]


@pytest.mark.parametrize("source", ["a\u00a0b\tc  \n\n  d\u2028e", "x = '🙂'\n", "```\nin\n```", "‏שלום = 1"])
def test_code_is_copied_to_the_letter(view: BlockView, source: str) -> None:
    view.show_markdown(f"````Python title=x\n{source[:3]}", complete=False)
    view.show_markdown(f"````Python title=x\n{source}\n````", complete=True)
    (code,) = view.widgets
    assert isinstance(code, CodeBlock)
    code.copy()
    assert QGuiApplication.clipboard().text() == source
    assert code._name.text() == "python"
    assert code._edit.layoutDirection() == LEFT


MIXED = f"""{ARABIC} with English

English with {HEBREW}

- {HEBREW}
- item
  1. {ARABIC}

> {HEBREW}

你好，世界。 한국어 🙂👩‍👩‍👧"""


def test_each_paragraph_has_the_direction_of_its_own_script(view: BlockView) -> None:
    view.show_markdown(MIXED, complete=True)
    (prose,) = view.widgets
    assert isinstance(prose, Prose)
    prose.grab()
    shown = [(b.text(), b.textDirection()) for b in blocks(prose)]
    assert [way for _, way in shown] == [RIGHT, LEFT, RIGHT, LEFT, RIGHT, RIGHT, LEFT]
    assert shown[-1][0] == "你好，世界。 한국어 🙂👩‍👩‍👧"
    for block in blocks(prose):  # aligned on the side where it begins, items and quotes too
        line = block.layout().lineAt(0)
        left, right = line.naturalTextRect().left(), line.rect().right() - line.naturalTextRect().right()
        assert left < right if block.textDirection() == LEFT else right < left


def test_a_persons_own_lines_too(view: BlockView) -> None:
    view.show_plain(f"{HEBREW}\nEnglish")
    (prose,) = view.widgets
    assert isinstance(prose, Prose)
    assert [b.textDirection() for b in blocks(prose)] == [RIGHT, LEFT]


def test_a_table_from_the_right_has_its_first_column_there(view: BlockView) -> None:
    view.show_markdown(f"| {HEBREW} | ב \\| |\n|---|:-:|\n| 1 |", complete=True)
    table = the_table(view.widgets[0])
    cells = [table.cellAt(0, n).firstCursorPosition().block().text() for n in range(2)]
    assert cells == ["ב |", HEBREW]
    assert table.cellAt(1, 1).firstCursorPosition().block().text() == "1"
    assert table.format().alignment() == Qt.AlignmentFlag.AlignRight


@pytest.mark.parametrize("word", ["x", HEBREW])
def test_no_cell_of_a_table_is_left_out(view: BlockView, word: str) -> None:
    view.show_markdown(f"| {word} | b | `c|c` |\n|---|---|\n|| 2\\|| 3 |\n| 1 | 2 | 3 | 4 |", complete=True)
    table = the_table(view.widgets[0])
    rows = [[table.cellAt(r, c).firstCursorPosition().block().text() for c in range(table.columns())] for r in range(3)]
    wanted = [[word, "b", "c|c", ""], ["", "2|", "3", ""], ["1", "2", "3", "4"]]
    assert rows == (wanted if word == "x" else [row[::-1] for row in wanted])


def test_headings_are_as_large_as_they_are_meant_to_be(view: BlockView) -> None:
    view.show_markdown("# One *and*\n\n### Three\n\ntext", complete=True)
    (prose,) = view.widgets
    assert isinstance(prose, Prose)
    heights = [b.layout().lineAt(0).height() for b in blocks(prose)]
    assert 1.2 < heights[0] / heights[2] < 1.5
    assert 1 <= heights[1] / heights[2] < 1.2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Roses  \nare  \n**red**", ["Roses\u2028are\u2028red"]),
        ("Roses\nare\n_red_\n\n- 1 Mill Lane\n  Bath", ["Roses\u2028are\u2028red", "1 Mill Lane\u2028Bath"]),
        ("a\n---\n# b\nc\n***\n> d\n> e", ["a", "b", "c", "", "d\u2028e"]),
        ("[a][x]\nb\n\n[x]: https://x.y\n[z]: https://z.y", ["a\u2028b"]),
        ("- a\\\n  b  \n  c\n- d", ["a\u2028b\u2028c", "d"]),
        (
            "> Roses\n> are  \n> **red**\nhere\n>\n> > too\n>> soon",
            ["Roses\u2028are\u2028red\u2028here", "too\u2028soon"],
        ),
        ("> # a\n> b\n> - c\n> d", ["a", "b", "c\u2028d"]),
        ("> ```\n> x = 1\n> ```\n> That\n> sets x.", ["x = 1", "That sets x."]),
        ("> - ```py\n>   a = 1\n>   b = 2\n>   ```", ["a = 1", "b = 2"]),
        ("# a  \nb", ["a", "b"]),
        ("a  \n- b  \n\nc  ", ["a", "b", "c"]),
        ("x\n\n    code  \n    more", ["x", "code  ", "more"]),
    ],
)
def test_a_broken_line_is_no_new_paragraph(view: BlockView, text: str, shown: list[str]) -> None:
    view.show_markdown(text, complete=True)
    (prose,) = view.widgets
    assert isinstance(prose, Prose)
    assert [block.text() for block in blocks(prose)] == shown


@pytest.mark.parametrize("end", ["\n", "  \n", "\\\n"])
def test_links_and_emphasis_are_such_at_the_begin_and_end_of_a_line(view: BlockView, end: str) -> None:
    view.show_markdown(f"See{end}https://x.y/a{end}~~old~~{end}end", complete=True)
    (prose,) = view.widgets
    assert isinstance(prose, Prose)
    (block,) = blocks(prose)
    cursor = QTextCursor(block)
    looks = {}
    for place, sign in enumerate(block.text()):
        cursor.setPosition(block.position() + place + 1)
        look = cursor.charFormat()
        looks[sign] = (look.anchorHref(), look.fontStrikeOut())
    assert block.text() == "See\u2028https://x.y/a\u2028old\u2028end"
    assert looks["h"] == looks["a"] == ("https://x.y/a", False)
    assert looks["l"] == ("", True)
    assert looks["S"] == looks["n"] == ("", False)


def ends(image: QImage, paper: QColor) -> tuple[float, float]:
    """Where what is written begins and ends, of the width."""
    xs = [x for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y) != paper]
    return min(xs) / image.width(), (max(xs) + 1) / image.width()


def test_each_title_in_the_list_begins_where_its_own_script_does(desktop: Desktop, qtbot: QtBot) -> None:
    for title in ("English", HEBREW, "2026"):
        desktop.store.add_chat(title).result()
    desktop.window.sidebar.refresh()
    chats = desktop.window.sidebar.list
    qtbot.waitUntil(lambda: chats.model().rowCount() == 4)
    desktop.window.sidebar.mark(None)
    shown = {chats.model().index(row).data(): chats.visualRect(chats.model().index(row)) for row in range(4)}
    image = chats.viewport().grab().toImage()
    paper = image.pixelColor(image.width() // 2, image.height() - 5)
    at = {title: ends(image.copy(rect), paper) for title, rect in shown.items()}
    assert at["English"][1] < 0.6
    assert at["2026"][1] < 0.6, "what has no direction stands as the window's own words do"
    assert at[HEBREW][0] > 0.4
