"""The model's thinking at the head of a reply, in whatever shape its tags arrive."""

from __future__ import annotations

import re

from desktop.models.thinking import CLOSE, OPEN
from desktop.widgets.markdown_lines import FENCE, closes

_CLOSING = re.compile(r"(?<!`)</think>")
"""Thinking that quotes the tag goes on."""
_ARRIVING = re.compile("(" + "|".join(re.escape(CLOSE[:n]) for n in range(len(CLOSE) - 1, 0, -1)) + r")\Z")
"""The end's first letters: they are not shown before it is known what they are."""


def answer(text: str) -> str:
    """A reply without its thinking; all of it where there is nothing else."""
    rest = thoughts(text, complete=True)[1]
    return rest if rest.strip() else text


def as_markdown(text: str) -> str:
    """A reply to be read elsewhere: its thinking is a quotation before it."""
    thinking, rest, _ = thoughts(text, complete=True)
    if not thinking:
        return text
    quoted = "\n".join(f"> {line}".rstrip() for line in ["*Thinking*", "", *thinking.split("\n")])
    return f"{quoted}\n\n{rest}"


def thoughts(text: str, complete: bool) -> tuple[str, str, bool]:
    """Thinking, the rest, and whether the thinking is over."""
    head = text.lstrip()
    if head.startswith(OPEN):
        inside = head.removeprefix(OPEN)
        closing = _CLOSING.search(inside)
        if closing is None:
            return (inside if complete else _ARRIVING.sub("", inside)).strip(), "", False
        return inside[: closing.start()].strip(), inside[closing.end() :].lstrip("\n"), True
    if head and not complete and OPEN.startswith(head):  # a tag that is still arriving
        return "", "", False
    return _closed_only(text, complete)


def _closed_only(text: str, complete: bool) -> tuple[str, str, bool]:
    """Where the template opened the tag itself, only its end arrives: on a line of its own and outside of code.

    Anywhere else the reply speaks about the tag.
    """
    fence, at = "", 0
    for line in text.split("\n") if CLOSE in text else ():
        end = at + len(line)
        opened = FENCE.match(line)
        if fence:
            fence = "" if closes(line, fence) else fence
        elif opened:
            fence = opened[1]
        elif line.strip() == CLOSE and (complete or end < len(text)):
            return text[:at].strip(), text[end:].lstrip("\n"), True
        at = end + 1
    return "", text, True
