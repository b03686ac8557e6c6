"""A JSON object with a long list in it, read an item at a time: memory goes by the largest item, not by the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

_CHUNK = 250_000
"""Letters that are read at once, to begin with."""
_SPACE = re.compile(r"[ \t\n\r]*")
_NEAR = 16
"""A fault so near to the end of what is read may only be that the rest is missing."""


class TooLongError(ValueError):
    """An item is longer than it may be."""


class Chunks:
    """Reads ``file``, which holds one object.

    Args:
        file: at its beginning.
        name: of the list that is given item by item.
        longest: letters that an item, or the value of another name, may have.
    """

    def __init__(self, file: TextIO, name: str, longest: int) -> None:
        self.others: dict[str, Any] = {}
        """The object's other values, those before the list first."""
        self.found = False
        """Whether the list is there."""
        self._file, self._name, self._longest = file, name, longest
        self._decode = json.JSONDecoder().raw_decode
        self._text, self._at, self._before = "", 0, 0
        self._ended = False

    def items(self) -> Iterator[Any]:
        """The list's.

        Raises:
            ValueError: it is no JSON, or no object; RecursionError: it lies too deep; TooLongError.
        """
        self._expect("{")
        while (sign := self._look()) != "}":
            name = self._value() if sign == '"' else self._fail("Expecting a name")
            self._expect(":")
            if name == self._name and self._look() == "[":
                self.found = True
                yield from self._list()
            else:
                self.others[name] = self._value()
            if self._look() != "}":
                self._expect(",")
        self._expect("}")
        if self._look():
            self._fail("Extra data")

    def _list(self) -> Iterator[Any]:
        self._expect("[")
        if self._look() == "]":
            self._at += 1
            return
        while True:
            yield self._value()
            if self._look() == "]":
                self._at += 1
                return
            self._expect(",")

    def _look(self) -> str:
        """The next sign that is no space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space is not None else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _expect(self, sign: str) -> None:
        if self._look() != sign:
            self._fail(f"Expecting {sign!r}")
        self._at += 1

    def _value(self) -> Any:
        self._look()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
                if end < len(self._text) or self._ended:  # else a number may go on
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                missing = error.pos > len(self._text) - _NEAR or error.msg.startswith("Unterminated")
                if self._ended or not missing:
                    self._at = error.pos
                    self._fail(error.msg)
            self._more()

    def _more(self) -> bool:
        """Read as much again as there is of what is being looked at; False at the end of the file."""
        self._text, self._before, self._at = self._text[self._at :], self._before + self._at, 0
        if len(self._text) > self._longest:
            raise TooLongError
        self._ended = self._ended or not (more := self._file.read(max(_CHUNK, len(self._text))))
        self._text += "" if self._ended else more
        return not self._ended

    def _fail(self, why: str) -> Any:
        raise ValueError(f"{why} at character {self._before + self._at + 1:,}")
