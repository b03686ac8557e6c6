"""Where two texts part, side by side: a few words before, the first token that differs, a few words after."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

from backend.protocol import Comparison
from desktop.language import marked, tr
from desktop.signs import on_one_line, seen
from desktop.theme.tokens import mix, tokens_now

ENDS = marked("(the text ends)")
_AROUND = 48
"""Characters shown on either side."""
_LONGEST_TOKEN = 64


class Excerpt(NamedTuple):
    """``token`` is empty where the text has ended."""

    before: str
    token: str
    after: str

    def html(self) -> str:
        """The token with a tint behind it and a line below, so that colour is not all that tells. Spaces are kept."""
        tokens = tokens_now()
        tint = mix(tokens.accent, tokens.page, 0.3).name()
        token = escape(self.token) if self.token else escape(tr(ENDS))
        look = f"background-color: {tint}; text-decoration: underline"
        return (
            f"<div style='white-space: pre-wrap'>{escape(self.before)}<span style='{look}'>{token}</span>"
            f"{escape(self.after)}</div>"
        )


def excerpts(result: Comparison) -> tuple[Excerpt, Excerpt] | None:
    """Of the plain text and of the other; None where they are the same."""
    found = result.difference
    if found is None:
        return None
    plain, other = result.plain_text, result.speculation_text
    at = _where(plain, other, found.plain_text, found.other_text)
    return _excerpt(plain, at, found.plain_text), _excerpt(other, at, found.other_text)


def _where(plain: str, other: str, first: str, second: str) -> int:
    """Tokens that differ may begin alike, so the last place is sought where each text goes on with its own."""
    pairs = enumerate(zip(plain, other, strict=False))
    common = next((i for i, (a, b) in pairs if a != b), min(len(plain), len(other)))
    for at in range(common, max(-1, common - _LONGEST_TOKEN), -1):
        if plain.startswith(first, at) and other.startswith(second, at):
            return at
    return common  # a part of a character, or a stop string's


def _excerpt(text: str, at: int, token: str) -> Excerpt:
    token = token if text.startswith(token, at) else text[at : at + 1]
    before, after = text[max(0, at - _AROUND) : at], text[at + len(token) : at + len(token) + _AROUND]
    return Excerpt(
        ("…" if at > _AROUND else "") + on_one_line(before),
        seen(token),
        on_one_line(after) + ("…" if at + len(token) + _AROUND < len(text) else ""),
    )
