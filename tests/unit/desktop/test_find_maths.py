r"""Formulas are found where they are meant, and prices, code and links stay what they are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from desktop.maths.find import alone, pieces, unclosed


def formulas(text: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.latex) for piece in pieces(text) if piece.kind != "text"]


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        (r"So \(x_1 + x_2\) is.", "x_1 + x_2"),
        ("So $x$, and", "x"),
        ("the $n$th, the $k$-th and", "n"),
        ("($a$)", "a"),
        ("**$E = mc^2$**", "E = mc^2"),
        ("| $a$ | b |", "a"),
        ("$10$", "10"),
        (r"$3 \times 4$", r"3 \times 4"),
        (r"$2x + 3\sin y$", r"2x + 3\sin y"),
        (r"$\$5 + x$", r"\$5 + x"),
        ("设$x$是", "x"),
        (r"\\(no) but \(x\\y\)", r"x\\y"),
        ("a `code` and $x$", "x"),
        ("a lone ` and $x$", "x"),
    ],
)
def test_within_a_line(text: str, latex: str) -> None:
    assert formulas(text)[0] == ("inline", latex)


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "$5-$10, $5/$6, $20,000 and USD$30",
        "between $5 (or 4€) and 6$",
        "It is $5 in A$, she paid 6$.",
        "$100 per month; or 90$ for two",
        "The menu: $$ (moderate) to $$$ (dear)",
        "echo $HOME/$USER and $PATH:$HOME",
        "`$x$` and ``a ` $x$ ``",
        r"\$x\$ and \\\$y$",
        "https://a.b/$x$/c and [l](http://a.b/$x$)",
        "$ x$ and $x $ and $\nx$",
        "a$b$c and 2$x$",
        r"\[text\](https://a.b) and \[1\] and \[optional\]",
        "| $a | b$ |",
        "$x\n\n$ and $$x\n\n$$ and \\(x\n\n\\)",
        "$$ $$ and \\( \\)",
        "$",
    ],
)
def test_what_is_none(text: str) -> None:
    assert formulas(text) == []


def test_displayed_in_a_line() -> None:
    assert formulas(r"So \[ a \\[2pt] b \] and $$c$$.") == [("display", r"a \\[2pt] b"), ("display", "c")]
    assert formulas("> $$\n> x\n> $$") == [("display", "x")]
    assert formulas(r"| $\|x\|$ |") == [("inline", "|x|")], "a cell writes a bar like this"


def test_alone() -> None:
    assert alone("  $$\nx^2\n$$\n") == "x^2"
    assert alone(r"\[x\]") == "x"
    assert alone("\\begin{align}\na\n\\end{align}") == "\\begin{align}\na\n\\end{align}"
    for text in ("$$x$$ and $$y$$", "$$x$$.", "$$ $$", "$x$", "$$x\n\ny$$", "a $$x$$", r"\[x\] \[y\]"):
        assert alone(text) is None
    assert unclosed("$$\nx")
    assert unclosed("\\begin{align}\nx")
    assert not unclosed("$$x$$ and")
    assert not unclosed("x")


def test_the_end_of_a_text_that_goes_on_may_be_open() -> None:
    assert [(p.kind, p.source) for p in pieces("So \\(x_1 +", open_end=True)] == [("text", "So "), ("open", "\\(x_1 +")]
    assert [p.kind for p in pieces("So \\(x_1 +")] == ["text"]
    assert [p.kind for p in pieces("So \\(x\n\nand", open_end=True)] == ["text"]
    assert [p.kind for p in pieces("It costs $5", open_end=True)] == ["text"]


_parts = st.lists(
    st.sampled_from(
        [
            "$",
            "$$",
            "\\(",
            "\\)",
            "\\[",
            "\\]",
            "\\",
            "`",
            "``",
            "\n",
            "\n\n",
            "|",
            "x",
            " ",
            "5",
            "> ",
            "](",
            "é",
            "🙂",
        ]
    ),
    max_size=40,
).map("".join)


@given(_parts, st.booleans())
@example("$" * 3000, True)
@example("`" * 10 + " `" * 3000, False)
@example("\\( " * 3000, False)
def test_the_pieces_are_the_text(text: str, open_end: bool) -> None:
    found = pieces(text, open_end)
    assert "".join(piece.source for piece in found) == text
    assert all(piece.source for piece in found)
    for piece in found:
        assert piece.kind == "text" or (piece.latex in piece.source or ">" in text or "|" in text)


@given(_parts)
def test_code_is_never_a_formula(text: str) -> None:
    assert formulas("`" + text.replace("`", "").replace("\n", "") + "`") == []
