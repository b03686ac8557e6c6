"""Cuts a reply into blocks so that, while it streams, only the last block has to be laid out again.

A block is prose (Markdown), one fenced code block, a table, a formula on lines of its own, or the model's thinking.
Prose is cut at a blank line once it is long, and a list between two of its items once it is very long, so each block
is whole Markdown. What is cut out of a list knows how deep it stood there, and what follows it in the same item does.
Text cut this way only ever changes at its end: earlier blocks stay what they were (a property test holds this).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from desktop.maths.find import OPENING, alone, may_close, unclosed
from desktop.models.thinking import CLOSE
from desktop.widgets.markdown_lines import FENCE, ITEM, RULE, closes, dedent, indentation, is_row
from desktop.widgets.thoughts import thoughts

Kind = Literal["prose", "code", "table", "maths", "thinking"]

LONG = 3000
"""Characters of prose after which the next fit place is a cut: about 3 ms of layout."""

VERY_LONG = 4 * LONG
"""Characters of a list after which it is cut before the next item, at the price of a wider gap there."""

_FORMULA = 4000
"""Characters after which what began like a formula is none."""
_ITEMS = re.compile(r"^(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+")
_NEVER_FIRST = re.compile(r"^(\s|[-*+>|]|\d+[.)]|\[)")


@dataclass(slots=True, frozen=True)
class Block:
    """One piece of a reply.

    ``language`` is the fence's word; ``closed`` says that nothing will be added; ``depth`` is the number of list items
    in which the whole block stands.
    """

    kind: Kind
    text: str
    language: str = ""
    closed: bool = True
    depth: int = 0


def split_blocks(text: str, complete: bool = True) -> list[Block]:
    """The blocks of ``text``; with ``complete`` False the last line may still grow and an opening fence waits."""
    thinking, rest, done = thoughts(text, complete)
    blocks = [Block("thinking", thinking, closed=done or complete)] if thinking.strip() else []
    return blocks + split_prose(rest, complete)


def split_prose(text: str, complete: bool = True) -> list[Block]:
    """The same for text in which nothing is thinking."""
    return _Splitter(complete).run(text)


def split_typed(text: str) -> list[Block]:
    """What a person typed: fenced code, and all else as it is."""
    return _Splitter(complete=True, typed=True).run(text)


class _Splitter:
    def __init__(self, complete: bool, typed: bool = False) -> None:
        self._complete, self._typed = complete, typed
        self._whole = True
        """Whether the line at hand is; the last one may still grow."""
        self._blocks: list[Block] = []
        self._items: list[int] = []
        """The list items that are open, by the column in which their text begins."""
        self._kind: Kind = "prose"
        self._begin("prose")

    def run(self, text: str) -> list[Block]:
        *lines, last = text.split("\n")
        for line in lines:
            self._line(line)
        self._whole = self._complete
        if self._whole or not self._pending(last):
            self._line(last)
        elif self._kind == "prose" and last.strip():
            self._leave(indentation(last))
        if self._kind == "maths" and self._whole:
            self._kind = "prose"
        elif self._kind == "prose" and not self._whole and self._lines and self._lines[-1].startswith("|"):
            self._lines.pop()  # most likely the head of a table
        self._flush(closed=self._complete)
        return self._blocks

    def _begin(self, kind: Kind, end: str = "", language: str = "") -> None:
        """A block that stands in the list items that are open now."""
        self._kind = kind
        self._end, self._language = end, language
        self._depth, self._margin = len(self._items), self._inner()
        self._lines: list[str] = []
        self._size = self._nested = 0
        self._blank = self._item = False

    def _line(self, line: str) -> None:
        if self._kind == "code":
            self._code(line)
        elif self._kind == "table":
            self._table(line)
        elif self._kind == "maths":
            self._maths(line)
        else:
            self._prose(line)

    def _inner(self) -> int:
        """Where text of the innermost open item begins."""
        return self._items[-1] if self._items else 0

    def _prose(self, line: str) -> None:
        if not line.strip():
            self._add("")
            return
        column, bare = indentation(line), line.lstrip(" \t")
        self._leave(column)
        text = dedent(line, self._margin)
        if self._cut_before(text) and (self._whole or OPENING.match(_ITEMS.sub("", text))):
            self._flush(closed=True)
        if column - self._inner() <= 3:  # else it is code by its indentation
            if not self._typed:
                bare, column = self._enter(bare, column)
            if self._opens(line, bare, column):
                return
        self._add(text)

    def _leave(self, column: int) -> None:
        """Close the items that a line in this column does not belong to, and the block if it stands in one of them."""
        while self._inner() > column:
            self._items.pop()
        if not self._lines or column < self._margin:
            self._flush(closed=True)

    def _enter(self, bare: str, column: int) -> tuple[str, int]:
        """Open the items that begin here: what stands in the innermost, and in which column."""
        while (item := ITEM.match(bare)) is not None:
            space = len(item[2].expandtabs(4))
            column += len(item[1]) + (space if space <= 4 else 1)
            self._items.append(column)
            bare = bare[item.end() :]
        return bare, column

    def _opens(self, line: str, bare: str, column: int) -> bool:
        """Whether a block of another kind begins with this line; it does then."""
        if (fence := FENCE.match(bare)) is not None:
            self._cut_off(line, bare)
            self._begin("code", fence[1], fence[2].split(" ")[0].strip("{}.").lower())
            self._margin = column
        elif self._typed:
            return False
        elif OPENING.match(bare) is not None:
            self._cut_off(line, bare)
            self._begin("maths")
            self._maths(bare)
        elif RULE.match(bare) and "|" in bare and ITEM.match(line.strip()) is None and self._has_head():
            head = self._lines.pop().strip()
            self._flush(closed=True)
            self._begin("table")
            self._lines = [head, bare]
        else:
            return False
        return True

    def _cut_off(self, line: str, bare: str) -> None:
        """End the prose before ``bare``, the end of this line; an item that begins with it keeps its sign."""
        text = dedent(line, self._margin)
        if sign := text[: len(text) - len(bare)].rstrip():
            self._add(sign)
        self._flush(closed=True)

    def _code(self, line: str) -> None:
        fence = FENCE.match(line.strip()) if self._language in ("md", "markdown") else None
        if fence is not None and fence[2] and fence[1].startswith(self._end):
            self._nested += 1  # code in an example of Markdown whose own fence is no longer
        elif closes(line, self._end) and indentation(line) <= self._margin + 3:
            if not self._nested:
                self._flush(closed=True)
                return
            self._nested -= 1
        self._lines.append(dedent(line, self._margin))

    def _maths(self, line: str) -> None:
        self._add(dedent(line, self._margin))
        over = not line.strip() or self._size > _FORMULA
        if not over and not may_close(self._lines[0], line):  # all of it is read again only where it may be whole
            return
        text = "\n".join(self._lines)
        if alone(text) is not None:
            self._flush(closed=True)
        elif over or not unclosed(text):
            self._kind = "prose"  # it was no formula of its own

    def _table(self, line: str) -> None:
        if is_row(line):
            self._add(line.strip())
        else:
            self._flush(closed=True)
            self._prose(line)

    def _cut_before(self, line: str) -> bool:
        if self._size <= LONG:
            return False
        if self._blank and not _NEVER_FIRST.match(line):
            return True
        return self._size > VERY_LONG and self._item and ITEM.match(line) is not None

    def _add(self, line: str) -> None:
        if not line and not self._lines:
            return
        self._lines.append(line)
        self._size += len(line) + 1
        self._blank = not line
        if line[:1].strip():
            self._item = ITEM.match(line) is not None

    def _flush(self, closed: bool) -> None:
        text = "\n".join(self._lines)
        if self._kind == "code" or text.strip():
            shown = text if self._kind == "code" else text.strip("\n")
            self._blocks.append(Block(self._kind, shown, self._language, closed, self._depth))
        self._begin("prose")

    def _pending(self, last: str) -> bool:
        """Whether the line that still grows may become what is not shown, or would change what is."""
        bare = _ITEMS.sub("", last.strip()) if self._kind == "prose" else last.strip()
        if not last or (not bare and self._kind != "code"):
            return True
        if set(bare[:3]) in ({"`"}, {"~"}) or (len(bare) > 1 and CLOSE.startswith(bare)):
            return True
        if self._kind == "table":
            return "|" not in bare
        return self._kind == "prose" and (
            set(bare) == {"$"} or bare == "\\" or (set(bare) <= set("|:- ") and self._has_head())
        )

    def _has_head(self) -> bool:
        """Whether the last line may be the head of a table."""
        return bool(self._lines) and is_row(self._lines[-1])
