"""The few colours that the window uses, all mixed from the palette: a native or high-contrast palette just works."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtGui import QColor, QGuiApplication, QPalette

_Role = QPalette.ColorRole
_FAINT = 0.55
"""Of the ink: an outline is still three times as light or dark as the page."""


@dataclass(slots=True, frozen=True)
class Tokens:
    """Colours by purpose.

    ``ink`` and ``subtle`` are read on every ground; ``faint`` is of outlines, and of what cannot be used.
    """

    dark: bool
    page: QColor
    side: QColor
    ink: QColor
    subtle: QColor
    faint: QColor
    line: QColor
    hover: QColor
    pressed: QColor
    code: QColor
    bubble: QColor
    accent: QColor
    on_accent: QColor
    bad: QColor
    bad_page: QColor
    good: QColor


def mix(over: QColor, under: QColor, amount: float) -> QColor:
    """``amount`` of ``over`` laid on ``under``."""

    def channel(a: int, b: int) -> int:
        return round(a * amount + b * (1 - amount))

    return QColor(
        channel(over.red(), under.red()),
        channel(over.green(), under.green()),
        channel(over.blue(), under.blue()),
    )


def tokens_for(palette: QPalette) -> Tokens:
    """The tokens of a palette."""
    page, ink, side = palette.color(_Role.Base), palette.color(_Role.Text), palette.color(_Role.Window)
    accent = palette.color(_Role.Highlight)
    dark = page.lightness() < ink.lightness()
    bad = QColor("#ff8f85") if dark else QColor("#b3261e")
    return Tokens(
        dark=dark,
        page=page,
        side=side,
        ink=ink,
        subtle=mix(ink, page, 0.74),
        faint=mix(ink, page, _FAINT),
        line=mix(ink, page, 0.15),
        hover=mix(ink, page, 0.07),
        pressed=mix(ink, page, 0.14),
        code=mix(ink, page, 0.045),
        bubble=mix(accent, page, 0.16 if dark else 0.09),
        accent=accent,
        on_accent=palette.color(_Role.HighlightedText),
        bad=bad,
        bad_page=mix(bad, page, 0.12),
        good=QColor("#7fd69b") if dark else QColor("#15703a"),
    )


def tokens_now() -> Tokens:
    """The tokens of the application's palette (a widget's own palette may be changed by its style sheet)."""
    return _of_palette(QGuiApplication.palette().cacheKey())


@lru_cache(maxsize=4)
def _of_palette(_key: int) -> Tokens:
    """Asked for by every widget, mixed once a palette."""
    return tokens_for(QGuiApplication.palette())


def own_palette(dark: bool) -> QPalette:
    """Tandem's own palette, for desktops whose platform offers no light and dark themselves."""
    names = _DARK if dark else _LIGHT
    palette = QPalette()
    for role, name in names.items():
        palette.setColor(role, QColor(name))
    muted = mix(QColor(names[_Role.Text]), QColor(names[_Role.Base]), _FAINT)
    for role in (_Role.Text, _Role.WindowText, _Role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, muted)
    return palette


_LIGHT = {
    _Role.Window: "#f4f5f7",
    _Role.WindowText: "#1f2430",
    _Role.Base: "#ffffff",
    _Role.AlternateBase: "#f4f5f7",
    _Role.Text: "#1f2430",
    _Role.PlaceholderText: "#6d7483",
    _Role.Button: "#eceef1",
    _Role.ButtonText: "#1f2430",
    _Role.BrightText: "#ffffff",
    _Role.ToolTipBase: "#ffffff",
    _Role.ToolTipText: "#1f2430",
    _Role.Highlight: "#2a62c4",
    _Role.HighlightedText: "#ffffff",
    _Role.Accent: "#2a62c4",
    _Role.Link: "#2a62c4",
    _Role.LinkVisited: "#2a62c4",
    _Role.Light: "#ffffff",
    _Role.Midlight: "#eceef1",
    _Role.Mid: "#c3c8d0",
    _Role.Dark: "#9aa1ad",
    _Role.Shadow: "#5a606c",
}
_DARK = {
    _Role.Window: "#202226",
    _Role.WindowText: "#e4e6eb",
    _Role.Base: "#18191c",
    _Role.AlternateBase: "#202226",
    _Role.Text: "#e4e6eb",
    _Role.PlaceholderText: "#8f96a3",
    _Role.Button: "#2b2e34",
    _Role.ButtonText: "#e4e6eb",
    _Role.BrightText: "#ffffff",
    _Role.ToolTipBase: "#2b2e34",
    _Role.ToolTipText: "#e4e6eb",
    _Role.Highlight: "#7aa9ff",
    _Role.HighlightedText: "#10141c",
    _Role.Accent: "#7aa9ff",
    _Role.Link: "#8db6ff",
    _Role.LinkVisited: "#8db6ff",
    _Role.Light: "#3a3e46",
    _Role.Midlight: "#33363d",
    _Role.Mid: "#40444d",
    _Role.Dark: "#111214",
    _Role.Shadow: "#000000",
}
