"""What a line of Markdown is by itself: a fence, an item, a row of a table; how far it is indented, how it ends."""

from __future__ import annotations

import re

FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$")
ITEM = re.compile(r"^([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)")
RULE = re.compile(r"^\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
"""The line below a table's head."""

_BEGINS = re.compile(r"#|>|\||[-*+][ \t]|\d{1,9}[.)][ \t]|`{3}|~{3}|=+$|-+$|\*{3}|_{3}")
"""Lines that go on with no paragraph."""


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


def soft(text: str) -> str:
    """Breaks within a paragraph as Qt's documents have them: its Markdown makes two paragraphs of one."""
    if "  \n" not in text and "\\\n" not in text:
        return text
    first, *rest = text.split("\n")
    lines = [first]
    for line in rest:
        last, bare = lines[-1], line.strip()
        hard = last.endswith("  ") or (last.endswith("\\") and not last.endswith("\\\\"))
        if (
            hard
            and last.strip()
            and indentation(last) < 4
            and last.lstrip()[0] != "#"
            and bare
            and not _BEGINS.match(bare)
        ):
            lines[-1] = f"{last.rstrip(' ').removesuffix(chr(92))}\u2028{line.lstrip()}"
        else:
            lines.append(line)
    return "\n".join(lines)
