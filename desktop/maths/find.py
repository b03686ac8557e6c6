r"""Where formulas stand in a text: ``\( \)``, ``\[ \]``, ``$$ $$``, and ``$ $`` under strict rules.

A dollar is a price until it can be nothing but a formula: no space after the first, none before the second, on one
line, no letter or digit around them, and no words after a number. Code, links and escaped signs are left alone.
Nothing is changed or lost: the pieces joined are the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "inline", "display", "open"]

_SIGNS = {
    "\\(": re.compile(r"((?:[^\\]|\\[^)])*)\\\)", re.DOTALL),
    "\\[": re.compile(r"((?:[^\\]|\\[^\]])*)\\\]", re.DOTALL),
    "$$": re.compile(r"((?:[^\\$]|\\.|\$(?!\$))*)\$\$(?!\$)", re.DOTALL),
}
"""What opens a formula, and how it goes on from there; an escaped character is never half of an end."""
_CLOSING = {"\\[": "\\]", "$$": "$$"}
OPENING = re.compile(r"\$\$(?!\$)|\\\[|\\begin\{(?:equation|align|gather|multline|alignat|flalign|eqnarray)\*?\}")
"""How a displayed formula may begin; LaTeX's own environments need no sign around them."""
_NEXT = re.compile(r"\\.|`+|\$+|https?://[^\s<>]+|\]\([^()\s]*\)", re.DOTALL)
_BLANK = re.compile(r"\n[ \t]*\n")
_DOLLAR = re.compile(
    r"(?<![0-9A-Za-z])\$(?!\s)((?:\\.|[^\\$\n])+)(?<!\s)\$(?!\$)(?:(?![0-9A-Za-z])|(?=(?:st|nd|rd|th|s)\b))"
)
_WORD = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{2,}")
_BRACKETED = re.compile(r"[\\^_=+<>{}]|^\s.*\s$", re.DOTALL)
r"""What ``\[ \]`` holds where it is a formula; else these are escaped brackets."""
_QUOTED = re.compile(r"\n[ \t]*>[ \t]?")


@dataclass(slots=True, frozen=True)
class Piece:
    """A part of a text: ``source`` as written, ``latex`` what is between a formula's signs.

    ``open`` is the rest of a text behind a sign that may still be closed.
    """

    kind: Kind
    source: str
    latex: str = ""


def alone(text: str) -> str | None:
    """The LaTeX of a text that is one displayed formula and nothing else."""
    whole = text.strip()
    opened = OPENING.match(whole)
    if opened is None or _BLANK.search(whole):
        return None
    sign = opened[0]
    if sign in _SIGNS:
        closed = _SIGNS[sign].fullmatch(whole, len(sign))
        return closed[1].strip() or None if closed else None
    end = sign.replace("begin", "end", 1)
    return whole if whole.find(end) == len(whole) - len(end) else None


def may_close(first: str, line: str) -> bool:
    """Whether a displayed formula that begins with the line ``first`` may end in ``line``, the same or a later one."""
    opened = OPENING.match(first)
    return opened is None or _CLOSING.get(opened[0], "\\end{") in line


def unclosed(text: str) -> bool:
    """Whether a text that begins like a displayed formula may still become one."""
    opened = OPENING.match(text)
    if opened is None or _BLANK.search(text):
        return False
    if opened[0] in _SIGNS:
        return _SIGNS[opened[0]].match(text, opened.end()) is None
    return opened[0].replace("begin", "end", 1) not in text


def pieces(text: str, open_end: bool = False) -> list[Piece]:
    """The text and its formulas in order; with ``open_end`` the text goes on, and its last formula may be open."""
    return _Finder(text, open_end).run()


class _Finder:
    def __init__(self, text: str, open_end: bool) -> None:
        self._text, self._open_end = text, open_end
        self._found: list[Piece] = []
        self._done = 0
        self._end = -1
        """Of the paragraph, beyond which no formula and no code goes."""
        self._without: set[str] = set()
        """What was looked for up to there in vain: not looked for again."""

    def run(self) -> list[Piece]:
        at = 0
        while (sign := _NEXT.search(self._text, at)) is not None:
            if sign.start() >= self._end:
                blank = _BLANK.search(self._text, sign.start())
                self._end = blank.start() if blank else len(self._text)
                self._without.clear()
            at = self._after(sign.start(), sign[0])
        if self._done < len(self._text):
            self._found.append(Piece("text", self._text[self._done :]))
        return self._found

    def _after(self, at: int, sign: str) -> int:
        """Where to look on."""
        if sign[0] == "`":
            return self._code(at + len(sign), sign)
        if sign in _SIGNS:
            return self._signed(at, sign)
        if sign == "$" and (found := _DOLLAR.match(self._text, at)) is not None:
            price = found[1][0].isdigit() and _WORD.search(found[1])
            if not price and not self._divided(at, found[1]):
                return self._take("inline", at, found.end(), found[1])
        return at + len(sign)

    def _code(self, at: int, ticks: str) -> int:
        if ticks not in self._without:
            closing = re.compile(rf"(?<!`){ticks}(?!`)").search(self._text, at, self._end)
            if closing is not None:
                return closing.end()
            self._without.add(ticks)
        return at

    def _signed(self, at: int, sign: str) -> int:
        behind = at + len(sign)
        closed = None if sign in self._without else _SIGNS[sign].match(self._text, behind, self._end)
        if closed is None:
            self._without.add(sign)
            if self._open_end and self._end == len(self._text):
                return self._take("open", at, self._end, self._text[behind:])
            return behind
        latex, end = closed[1], closed.end()
        link = sign == "\\[" and (self._text[end : end + 1] == "(" or _BRACKETED.search(latex) is None)
        if link or not latex.strip() or self._divided(at, latex):
            return behind
        return self._take("inline" if sign == "\\(" else "display", at, end, latex)

    def _take(self, kind: Kind, at: int, end: int, latex: str) -> int:
        if at > self._done:
            self._found.append(Piece("text", self._text[self._done : at]))
        if self._row(at):
            latex = latex.replace("\\|", "|")  # how a cell writes a bar
        self._found.append(Piece(kind, self._text[at:end], _QUOTED.sub("\n", latex).strip()))
        self._done = end
        return end

    def _divided(self, at: int, latex: str) -> bool:
        """Whether a table's bar goes through it."""
        return self._row(at) and "|" in latex.replace("\\|", "")

    def _row(self, at: int) -> bool:
        return self._text[self._text.rfind("\n", 0, at) + 1 : at].lstrip()[:1] == "|"
