"""Cuts a reply into blocks so that, while it streams, only the last block has to be laid out again.

A block is prose (Markdown without fenced code), one fenced code block, or the model's thinking. Prose is cut at a
blank line once it is long, a list between two of its items once it is very long, and a table never, so each block is
whole Markdown. Text cut this way only ever changes at its end: earlier blocks stay what they were (a property test
holds this).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["prose", "code", "thinking"]

LONG = 3000
"""Characters of prose after which the next fit place is a cut: about 3 ms of layout."""

VERY_LONG = 4 * LONG
"""Characters of a list after which it is cut before the next item, at the price of a wider gap there."""

_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$")
_NEVER_FIRST = re.compile(r"^(\s|[-*+>|]|\d+[.)]|\[)")
_ITEM = re.compile(r"^([-*+]|\d{1,9}[.)])\s+\S")
_OPEN, _CLOSE = "<think>", "</think>"
_CLOSING = re.compile(r"(?<!`)</think>")
"""Thinking that quotes the tag goes on."""


@dataclass(slots=True, frozen=True)
class Block:
    """One piece of a reply. ``language`` is the fence's word; ``closed`` says that nothing will be added."""

    kind: Kind
    text: str
    language: str = ""
    closed: bool = True


def split_blocks(text: str, complete: bool = True) -> list[Block]:
    """The blocks of ``text``; with ``complete`` False the last line may still grow and an opening fence waits."""
    thinking, rest, done = _thinking(text, complete)
    blocks = [Block("thinking", thinking, closed=done or complete)] if thinking.strip() else []
    return blocks + split_prose(rest, complete)


def split_prose(text: str, complete: bool = True) -> list[Block]:
    """The same for text in which nothing is thinking."""
    return _Splitter(complete).run(text)


def answer(text: str) -> str:
    """A reply without its thinking; all of it where there is nothing else."""
    rest = _thinking(text, complete=True)[1]
    return rest if rest.strip() else text


def _thinking(text: str, complete: bool) -> tuple[str, str, bool]:
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
    for line in text.split("\n") if _CLOSE in text else ():
        end = at + len(line)
        opened = _FENCE.match(line)
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif opened:
            fence = opened[1]
        elif line.strip() == _CLOSE and (complete or end < len(text)):
            return text[:at].strip(), text[end:].lstrip("\n"), True
        at = end + 1
    return "", text, True


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


class _Splitter:
    def __init__(self, complete: bool) -> None:
        self._complete = complete
        self._blocks: list[Block] = []
        self._lines: list[str] = []
        self._size = 0
        self._fence = ""
        self._language = ""
        self._blank = False
        self._item = False

    def run(self, text: str) -> list[Block]:
        lines = text.split("\n")
        last = lines.pop()
        for line in lines:
            self._line(line)
        if self._complete:
            self._line(last)
        elif last and not _pending(last):
            self._add(last)
        self._flush(closed=self._complete)
        return self._blocks

    def _line(self, line: str) -> None:
        if self._fence:
            if _closes(line, self._fence):
                self._flush(closed=True)
            else:
                self._add(line)
            return
        opened = _FENCE.match(line)
        if opened:
            self._flush(closed=True)
            self._fence, self._language = opened[1], opened[2].split(" ")[0].strip("{}.").lower()
            return
        if self._cut_before(line):
            self._flush(closed=True)
        self._add(line)

    def _cut_before(self, line: str) -> bool:
        if self._size <= LONG or not line:
            return False
        if self._blank and not _NEVER_FIRST.match(line):
            return True
        return self._size > VERY_LONG and self._item and _ITEM.match(line) is not None

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1
        self._blank = not line.strip()
        if line[:1].strip():
            self._item = _ITEM.match(line) is not None

    def _flush(self, closed: bool) -> None:
        text = "\n".join(self._lines)
        if self._fence:
            self._blocks.append(Block("code", text, self._language, closed))
        elif text.strip():
            self._blocks.append(Block("prose", text.strip("\n"), closed=closed))
        self._lines, self._size, self._fence, self._blank, self._item = [], 0, "", False, False


def _pending(last: str) -> bool:
    """Whether the line that still grows may become a fence or the end of thinking, neither of which is shown."""
    bare = last.strip()
    return bool(bare) and (set(bare[:3]) in ({"`"}, {"~"}) or (len(bare) > 1 and _CLOSE.startswith(bare)))
