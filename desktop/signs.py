"""Signs for what cannot be seen in a text: two tokens that differ never look alike."""

from __future__ import annotations

_SIGNS = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
_ON_ONE_LINE = str.maketrans(_SIGNS)


def on_one_line(text: str) -> str:
    """A text with signs for what would break its line."""
    return text.translate(_ON_ONE_LINE)


def seen(token: str) -> str:
    """A token with signs, or the numbers they have, for all letters that nobody sees; a space stays one."""
    return "".join(sign if sign.isprintable() else f"⟨U+{ord(sign):04X}⟩" for sign in on_one_line(token))
