"""Every ink is read on every ground that it stands on, in both of Tandem's own palettes."""

from __future__ import annotations

import pytest
from pygments.styles import get_style_by_name
from pygments.token import Whitespace
from PySide6.QtGui import QColor, QPalette

from desktop.theme.highlight import style_name
from desktop.theme.tokens import Tokens, mix, own_palette, tokens_for
from tests.contrast import SHAPE, TEXT, contrast

GROUNDS = ("page", "side", "hover", "pressed", "code", "bubble", "bad_page")
READ = {
    "ink": GROUNDS,
    "subtle": GROUNDS,
    "accent": ("page", "side", "hover", "code", "bubble"),
    "bad": ("page", "side", "hover", "bubble", "bad_page"),
    "good": ("page", "side", "hover", "bubble"),
    "on_accent": ("accent",),
    "page": ("ink", "subtle"),
}
"""The last is what lies over the page for a while: the toast, and its button."""
SEEN = {
    "faint": ("page", "side", "hover", "bubble"),
    "accent": ("page", "side", "line", "pressed"),
    "subtle": ("page", "side", "hover", "pressed"),
}
"""Outlines of what is switched, the line around what has the focus, icons; and what cannot be used, which is exempt."""


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def palette(request: pytest.FixtureRequest) -> QPalette:
    return own_palette(request.param)


@pytest.fixture
def tokens(palette: QPalette) -> Tokens:
    return tokens_for(palette)


@pytest.mark.parametrize(("pairs", "least"), [(READ, TEXT), (SEEN, SHAPE)], ids=["text", "shapes"])
def test_inks_stand_out(tokens: Tokens, pairs: dict[str, tuple[str, ...]], least: float) -> None:
    found = {(a, b): contrast(getattr(tokens, a), getattr(tokens, b)) for a, grounds in pairs.items() for b in grounds}
    assert {pair: round(ratio, 2) for pair, ratio in found.items() if ratio < least} == {}


def test_words_stand_out_where_they_are_marked(tokens: Tokens) -> None:
    """Tokens by their origin, words that were looked for, and what is selected."""
    for tint, share in ((tokens.accent, 0.13), (tokens.bad, 0.13), (tokens.accent, 0.3)):
        assert contrast(tokens.ink, mix(tint, tokens.page, share)) >= TEXT


def test_code_stands_out(tokens: Tokens) -> None:
    inks = {
        kind: QColor(f"#{look['color']}") for kind, look in get_style_by_name(style_name(tokens.dark)) if look["color"]
    }
    inks.pop(Whitespace, None)  # shows nothing
    assert {kind: ink.name() for kind, ink in inks.items() if contrast(ink, tokens.code) < TEXT} == {}


def test_the_palette_itself_stands_out(palette: QPalette) -> None:
    role = QPalette.ColorRole
    for ink, ground in (
        (role.PlaceholderText, role.Base),
        (role.Link, role.Base),
        (role.ButtonText, role.Button),
        (role.ToolTipText, role.ToolTipBase),
        (role.WindowText, role.Window),
    ):
        assert contrast(palette.color(ink), palette.color(ground)) >= TEXT, ink
