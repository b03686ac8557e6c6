"""The model's thinking at the head of a reply, in whatever shape its tags arrive."""

from __future__ import annotations

import re

from desktop.widgets.markdown_lines import FENCE, closes

CLOSE = "</think>"
_OPEN = "<think>"
_CLOSING = re.compile(r"(?<!`)</think>")
"""Thinking that quotes the tag goes on."""


def answer(text: str) -> str:
    """A reply without its thinking; all of it where there is nothing else."""
    rest = thoughts(text, complete=True)[1]
    return rest if rest.strip() else text


def thoughts(text: str, complete: bool) -> tuple[str, str, bool]:
    """Thinking, the rest, and whether the thinking is over."""
    head = text.lstrip()
    if head.startswith(_OPEN):
        inside = head.removeprefix(_OPEN)
        closing = _CLOSING.search(inside)
        if closing is None:
            return inside.strip(), "", False
        return inside[: closing.start()].strip(), inside[closing.end() :].lstrip("\n"), True
    if head and not complete and _OPEN.startswith(head):  # a tag that is still arriving
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
