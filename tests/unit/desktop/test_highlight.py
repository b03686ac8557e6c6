"""Colours for code: where they stand, in Qt's units, in both schemes, and where there are none."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from desktop.theme.highlight import LIMIT, Span, highlight
from desktop.theme.tokens import own_palette, tokens_for
from tests.contrast import TEXT, contrast


def coloured(code: str, dark: bool = False) -> list[tuple[str, Span]]:
    """The stretches with the text that Qt finds there."""
    lines = [line.encode("utf-16-le") for line in code.split("\n")]
    spans = highlight(code, "python", dark)
    return [(lines[s.line][2 * s.start : 2 * (s.start + s.length)].decode("utf-16-le"), s) for s in spans]


def test_an_emoji_shifts_what_follows_by_two_units() -> None:
    found = {text: span for text, span in coloured('x = "🙂🙂"; return\nreturn') if text == "return" and span.line == 0}
    assert found["return"].start == len('x = "🙂🙂"; ') + 2
    texts = [text for text, _ in coloured('"🙂" if x else "é"  # 👩‍👩‍👧 yes\nimport os')]
    assert {"if", "else", "# 👩‍👩‍👧 yes", "import"} <= set(texts)


def test_stretches_of_several_lines_are_cut_at_their_ends() -> None:
    spans = [span for text, span in coloured('"""one\ntwo 🙂\nthree"""') if text.strip()]
    assert {span.line for span in spans} == {0, 1, 2}
    assert all(span.start == 0 for span in spans)


@pytest.mark.parametrize("dark", [False, True])
def test_each_scheme_can_be_read_on_its_page(dark: bool) -> None:
    page = tokens_for(own_palette(dark=dark)).code
    code = 'import os\n\n@cache\nclass A(B):\n    x: int = 0x1F + 1.5  # why\n    def f(self): return f"{x!r}\\n"\n'
    inks = {span.format.foreground().color().name() for text, span in coloured(code, dark) if text.strip()}
    assert len(inks) > 3
    for ink in inks:
        assert contrast(QColor(ink), page) >= TEXT, ink


def test_the_schemes_differ() -> None:
    one, other = (
        {s.format.foreground().color().name() for _, s in coloured("import os  # x", d)} for d in (False, True)
    )
    assert not one & other


@pytest.mark.parametrize("language", ["", "no such language", "<b>", "c#++"])
def test_an_unknown_language_stays_plain(language: str) -> None:
    assert highlight("import os", language, dark=False) == []


def test_very_long_code_stays_in_one_ink() -> None:
    line = "import os\n"
    fits = line * (LIMIT // len(line))
    assert highlight(fits, "python", dark=False)
    assert highlight(fits + line, "python", dark=False) == []
