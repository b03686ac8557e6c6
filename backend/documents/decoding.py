"""Bytes to text: UTF-8, UTF-16 and UTF-32 by their marks, Latin-1 where it is none of them, and never a binary file."""

from __future__ import annotations

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(c for c in range(32) if chr(c) not in "\t\n\v\f\r\b\x1b") + b"\x7f"
_MOST_CONTROLS = 0.005
"""Of a text's bytes: a stray NUL is no binary file."""
_LINE_END = re.compile(r"\r\n?")

LATIN = "not UTF-8, so it was read as Latin-1: letters with accents may be wrong"


def decoded(data: bytes) -> tuple[str, str] | None:
    """The text with one kind of line end and without NULs, and what to know of it; None = this is no text."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _tidy(data[len(mark) :].decode(name, "replace")), ""
    if len(data) - len(data.translate(None, _CONTROLS)) > _MOST_CONTROLS * len(data):
        return None
    try:
        return _tidy(data.decode("utf-8")), ""
    except UnicodeDecodeError:
        return _tidy(_western(data)), LATIN


def _western(data: bytes) -> str:
    """As browsers read Latin-1: with Windows' quotation marks where it has none."""
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _tidy(text: str) -> str:
    return _LINE_END.sub("\n", text).replace("\0", "")
