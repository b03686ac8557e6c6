"""Where two texts part."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from backend.protocol import Comparison, Difference, Timings
from desktop.views.compare import explanation
from desktop.views.difference import excerpts

SAME = Comparison(Timings(), Timings(), 1.0, 1.0, True, None, "a", "a", 1, True)


def differing(plain: str, other: str, first: str, second: str) -> Comparison:
    found = Difference(3, 1, first, 2, second, 0.1, 0.1, "")
    return replace(SAME, identical=False, difference=found, plain_text=plain, speculation_text=other)


def test_equal_texts_have_none() -> None:
    assert excerpts(SAME) is None


@pytest.mark.parametrize(
    ("plain", "other", "first", "second", "parts"),
    [
        (
            "I see the sea.",
            "I see that sea.",
            " the",
            " that",
            (("I see", " the", " sea."), ("I see", " that", " sea.")),
        ),
        ("A b", "A b c", "", " c", (("A b", "", ""), ("A b", " c", ""))),
        ("1\n2\n3", "1\n2\n4", "3", "4", (("1⏎2⏎", "3", ""), ("1⏎2⏎", "4", ""))),
        ("sea 🌊 x", "sea 🌋 x", "\ufffd", "\ufffd", (("sea ", "🌊", " x"), ("sea ", "🌋", " x"))),
    ],
    ids=["tokens that begin alike", "one ends", "on another line", "a part of a character"],
)
def test_the_token_stands_between_the_words_around_it(
    plain: str, other: str, first: str, second: str, parts: tuple[tuple[str, str, str], ...]
) -> None:
    found = excerpts(differing(plain, other, first, second))
    assert found is not None
    assert tuple(tuple(excerpt) for excerpt in found) == parts


def test_long_texts_are_cut_around_it_and_markup_stays_text() -> None:
    plain, other = "x" * 100 + "<b>a" + "y" * 100, "x" * 100 + "<b>c" + "y" * 100
    found = excerpts(differing(plain, other, "a", "c"))
    assert found is not None
    assert found[0].before == "…" + "x" * 45 + "<b>"
    assert found[0].after == "y" * 48 + "…"
    assert "&lt;b&gt;<span" in found[0].html()


def test_spaces_that_differ_are_seen(qapp: QApplication) -> None:
    """In code that may be all."""
    found = excerpts(differing("x:\n    y", "x:\n\t  y", "    ", "\t  "))
    assert found is not None
    shown = []
    for excerpt in found:
        document = QTextDocument()
        document.setHtml(excerpt.html())
        shown.append(document.toPlainText())
    assert shown == ["x:⏎    y", "x:⏎⇥  y"]


def test_tokens_that_nobody_sees_are_told_apart() -> None:
    invisible = ["", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u200b", "\u200f", "\u2028"]
    said = [explanation(differing(f"a{token}", "ab", token, "b")) for token in invisible]
    assert len(set(said)) == len(invisible)
    assert "“(the text ends)” plain, “b” with" in said[0]
    assert "“␍⏎” plain" in said[4]
    assert "“⟨U+200B⟩” plain" in said[7]
    assert all(line.isprintable() for line in said)
