"""Code, tables and formulas: cut out of the prose, and out of lists, as the Markdown standards say."""

from __future__ import annotations

import pytest

from desktop.widgets import markdown_split
from desktop.widgets.markdown_split import Block, split_blocks, split_typed

TABLE = "| a | b |\n|---|:-:|\n| 1 | 2 |"


def shapes(text: str, complete: bool = True) -> list[tuple[str, str, int]]:
    return [(b.kind, b.text, b.depth) for b in split_blocks(text, complete)]


def test_code_in_a_list_is_dedented_and_the_list_goes_on() -> None:
    text = "1. One:\n   ```py\n   if x:\n       y\n   ```\n   More.\n2. Two"
    assert shapes(text) == [
        ("prose", "1. One:", 0),
        ("code", "if x:\n    y", 1),
        ("prose", "More.", 1),
        ("prose", "2. Two", 0),
    ]


def test_code_in_a_list_in_a_list() -> None:
    text = "- a\n  - b\n\n    ```\n    \tc\n    ```\n  - d\n- e"
    assert shapes(text) == [
        ("prose", "- a\n  - b", 0),
        ("code", "\tc", 2),
        ("prose", "- d", 1),
        ("prose", "- e", 0),
    ]


def test_an_item_may_begin_with_code_and_its_number_may_be_long() -> None:
    assert shapes("- ```sh\n  ls\n  ```\n- b") == [("prose", "-", 0), ("code", "ls", 1), ("prose", "- b", 0)]
    assert shapes("10. x\n    ```\n    y\n    ```") == [("prose", "10. x", 0), ("code", "y", 1)]


def test_code_by_indentation_is_no_fence() -> None:
    assert shapes("Text\n\n    ```\n    x\n    ```") == [("prose", "Text\n\n    ```\n    x\n    ```", 0)]


def test_code_that_leaves_its_item_stays_whole() -> None:
    assert shapes("1. a\n   ```\nx\n   ```\nb") == [("prose", "1. a", 0), ("code", "x", 1), ("prose", "b", 0)]


def test_an_example_of_markdown_holds_fences_of_its_own_length() -> None:
    text = "```markdown\n# A\n```py\nx\n```\nB\n```\nAfter"
    assert shapes(text) == [("code", "# A\n```py\nx\n```\nB", 0), ("prose", "After", 0)]
    assert shapes("```py\n# ```sh\n```\nAfter") == [("code", "# ```sh", 0), ("prose", "After", 0)]


def test_a_table_is_a_block_also_right_below_a_line_and_in_a_list() -> None:
    assert shapes(f"Here:\n{TABLE}\nAfter") == [("prose", "Here:", 0), ("table", TABLE, 0), ("prose", "After", 0)]
    assert shapes("- x\n  | a | b |\n  |---|---|\n- y") == [
        ("prose", "- x", 0),
        ("table", "| a | b |\n|---|---|", 1),
        ("prose", "- y", 0),
    ]
    assert shapes("a | b\n--|--\n1 | 2\n\n| not | one |") == [
        ("table", "a | b\n--|--\n1 | 2", 0),
        ("prose", "| not | one |", 0),
    ]


@pytest.mark.parametrize("text", ["a | b\n\n---", "- a | b\n|---|", "> | a |\n> |---|", "# a | b\n|--|--|", "|---|"])
def test_what_is_no_table(text: str) -> None:
    assert {kind for kind, _, _ in shapes(text)} == {"prose"}


def test_a_table_never_shows_its_bars_while_it_arrives() -> None:
    text = f"Here:\n\n{TABLE}\n\nAfter | that"
    for end in range(len(text)):
        for kind, shown, _ in shapes(text[:end], complete=False):
            assert kind == "table" or "|" not in shown or shown.startswith("After")


@pytest.mark.parametrize(
    "formula",
    ["$$x = 1$$", "$$\nx\n= 1\n$$", "\\[ x \\]", "\\[\n  a \\\\[2pt] b\n\\]", "\\begin{align*}\na &= b\n\\end{align*}"],
)
def test_a_formula_on_its_own_lines_is_a_block(formula: str) -> None:
    assert shapes(f"So\n{formula}\nis it.") == [("prose", "So", 0), ("maths", formula, 0), ("prose", "is it.", 0)]
    inside = formula.replace("\n", "\n  ")
    assert shapes(f"- So\n  {inside}\n- b") == [("prose", "- So", 0), ("maths", formula, 1), ("prose", "- b", 0)]


@pytest.mark.parametrize("text", ["$$x$$ and $$y$$", "$$ is dear", "$$\nx\n\ny\n$$", "\\[a\\](b)", "$$$ a $$$", "\\["])
def test_what_is_no_formula_of_its_own(text: str) -> None:
    assert {kind for kind, _, _ in shapes(text)} == {"prose"}


def test_a_formula_that_is_still_open_is_one_until_it_cannot_be() -> None:
    assert split_blocks("$$\nx", complete=False) == [Block("maths", "$$\nx", closed=False)]
    assert split_blocks("$$\nx") == [Block("prose", "$$\nx")]
    assert [b.kind for b in split_blocks("$$ x\n\nmore", complete=False)] == ["prose"]


def test_a_long_open_formula_is_not_read_again_for_each_of_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(markdown_split, "alone", lambda text: read.append(text))
    for opening in ("$$", "\\[", "\\begin{align}"):
        assert shapes(f"{opening}\n" + "x\n" * 1000, complete=False)[0][0] == "maths"
    assert len(read) == 1, "the opening line may close itself"


def test_what_a_person_typed_is_cut_at_fences_alone() -> None:
    typed = f"- a\n  $$x$$\n{TABLE}"
    assert split_typed(f"{typed}\n```\nx\n```") == [Block("prose", typed), Block("code", "x")]
