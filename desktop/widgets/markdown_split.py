"""Cuts a reply into blocks so that, while it streams, only the last block has to be laid out again.

A block is prose (Markdown without fenced code), one fenced code block, or the model's thinking. Prose is cut at a
blank line once it is long; a cut never falls within a list or a table, so each block is whole Markdown. Text cut
this way only ever changes at its end: earlier blocks stay what they were (a property test holds this).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["prose", "code", "thinking"]

LONG = 3000
"""Characters of prose after which the next fit place is a cut: about 3 ms of layout."""

_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$")
_NEVER_FIRST = re.compile(r"^(\s|[-*+>|]|\d+[.)]|\[)")
_OPEN, _CLOSE = "<think>", "</think>"


@dataclass(slots=True, frozen=True)
class Block:
    """One piece of a reply. ``language`` is the fence's word; ``closed`` says that nothing will be added."""

    kind: Kind
    text: str
    language: str = ""
    closed: bool = True


def split_blocks(text: str, complete: bool = True) -> list[Block]:
    """The blocks of ``text``; with ``complete`` False the last line may still grow and an opening fence waits."""
    thinking, rest, done = _thinking(text)
    blocks = [Block("thinking", thinking, closed=done or complete)] if thinking.strip() else []
    return blocks + _Splitter(complete).run(rest)


def _thinking(text: str) -> tuple[str, str, bool]:
    """Thinking, the rest, and whether the thinking is over. Templates may open the tag themselves."""
    head = text.lstrip()
    if _CLOSE in text:
        before, after = text.split(_CLOSE, 1)
        return before.lstrip().removeprefix(_OPEN).strip(), after.lstrip("\n"), True
    if head.startswith(_OPEN):
        return head.removeprefix(_OPEN).strip(), "", False
    if head and _OPEN.startswith(head):  # a tag that is still arriving
        return "", "", False
    return "", text, True


class _Splitter:
    def __init__(self, complete: bool) -> None:
        self._complete = complete
        self._blocks: list[Block] = []
        self._lines: list[str] = []
        self._size = 0
        self._fence = ""
        self._language = ""
        self._blank = False

    def run(self, text: str) -> list[Block]:
        lines = text.split("\n")
        last = lines.pop()
        for line in lines:
            self._line(line)
        if self._complete:
            self._line(last)
        elif last and not self._pending_fence(last):
            self._add(last)
        self._flush(closed=self._complete)
        return self._blocks

    def _pending_fence(self, last: str) -> bool:
        bare = last.strip()
        return bool(bare) and set(bare[:3]) in ({"`"}, {"~"})

    def _line(self, line: str) -> None:
        if self._fence:
            bare = line.strip()
            if len(bare) >= len(self._fence) and set(bare) == {self._fence[0]}:
                self._flush(closed=True)
            else:
                self._add(line)
            return
        opened = _FENCE.match(line)
        if opened:
            self._flush(closed=True)
            self._fence, self._language = opened[1], opened[2].split(" ")[0].strip("{}.").lower()
            return
        if self._blank and self._size > LONG and line and not _NEVER_FIRST.match(line):
            self._flush(closed=True)
        self._add(line)

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1
        self._blank = not line.strip()

    def _flush(self, closed: bool) -> None:
        text = "\n".join(self._lines)
        if self._fence:
            self._blocks.append(Block("code", text, self._language, closed))
        elif text.strip():
            self._blocks.append(Block("prose", text.strip("\n"), closed=closed))
        self._lines, self._size, self._fence, self._blank = [], 0, "", False
