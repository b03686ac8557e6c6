"""What a line of Markdown is by itself: a fence, an item, a row of a table; how far it is indented, how it ends."""

from __future__ import annotations

import re

FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$")
ITEM = re.compile(r"^([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)")
RULE = re.compile(r"^\|?[ \t]*+:?-++:?[ \t]*+(\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")
"""The line below a table's head. Nothing is taken back (``+``): tabs would take the square of their number."""

BREAK = "\f"
"""Ends a line within a paragraph: white space to Markdown, so that words beside it keep their emphasis and links."""

_QUOTE = re.compile(r"^ {0,3}>(?: ?>)* ?")
_NO_PROSE = re.compile(r"^[^>\n]*>.*(?:`{3}|~{3}|\|)", re.MULTILINE)
"""Code or a table in a quotation, where a line's end is more than a space. Tried once a line, from its first ``>``."""
_BEGINS = re.compile(r"#|>|\||[-*+][ \t]|\d{1,9}[.)][ \t]|`{3}|~{3}|=+$|-+$|\*{3}|_{3}|\[[^\]]+\]:")
"""Lines that go on with no paragraph."""
_ENDS = re.compile(r"#|\[[^\]]+\]:|(?:[-*_=][ \t]*)+$")
"""Lines that no paragraph goes on from: headings, where a link leads, rules."""
_FORMULA = re.compile(r"[\ue000-\uf8ff]")
"""A sign in a formula's place, which sees to its own lines."""


def closes(line: str, fence: str) -> bool:
    """Whether the line ends the code that ``fence`` began."""
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def is_row(line: str) -> bool:
    """Whether the line may be one of a table: of its head where its rule follows."""
    bare = line.strip()
    return "|" in bare and bare[0] not in ">#" and ITEM.match(bare) is None and FENCE.match(bare) is None


def indentation(line: str) -> int:
    """In columns."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


def dedent(line: str, columns: int) -> str:
    """The line without so much of its indentation."""
    at = width = 0
    while width < columns and line[at : at + 1] in (" ", "\t"):
        width += 1 if line[at] == " " else 4 - width % 4
        at += 1
    return " " * (width - columns) + line[at:]


def broken(text: str) -> str:
    """With `BREAK` where a line ends within a paragraph, for Qt's Markdown, which has no such thing.

    Markdown takes a line's end for a space; models, asked for a poem or an address, mean it. Where it is marked as
    meant (two spaces, a backslash), Qt makes two paragraphs of one. So also in quotations, but for texts with quoted
    code or tables, and for quotations within items.
    """
    quotes = _NO_PROSE.search(text) is None
    first, *rest = text.split("\n")
    lines = [first]
    for line in rest:
        last = lines[-1]
        (depth, before), (deeper, after) = _quoted(last, quotes), _quoted(line, quotes)
        marked = last.endswith("\\") and not last.endswith("\\\\")
        alike = deeper in (0, depth)  # a quotation's paragraph goes on without its mark, too
        if alike and _goes_on(before, after, meant=marked or last.endswith("  ")):
            lines[-1] = f"{last[:-1] if marked else last.rstrip()}{BREAK}{after.lstrip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def _quoted(line: str, quotes: bool) -> tuple[int, str]:
    """How deep in quotations the line stands, and what it says there; as it is where those are left alone."""
    mark = _QUOTE.match(line) if quotes else None
    return (mark[0].count(">"), line[mark.end() :]) if mark else (0, line)


def _goes_on(last: str, line: str, *, meant: bool) -> bool:
    """Whether ``line`` is one more of the paragraph that ``last`` stands in."""
    before, after = last.strip(), line.strip()
    if not before or not after or indentation(last) >= 4 or _ENDS.match(before) or _BEGINS.match(after):
        return False
    if is_row(before) and (is_row(after) or RULE.match(after)):
        return False
    return meant or not (_FORMULA.match(before[-1]) or _FORMULA.match(after[0]))
