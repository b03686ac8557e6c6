"""The rows of a database by its pages alone, for a file that SQLite will not read any more.

Each page that holds rows of a table tells where they are, and a row tells its values. So what is damaged costs what
stands on its page: neither the file's header is needed, nor its schema, nor what leads from page to page. What was
committed to the log beside the file counts, as it does for SQLite. Nothing is written, and a row is held at a time.

The format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

Value = int | float | str | bytes | None
_MAGIC = b"SQLite format 3\0"
_USUAL_SIZE = 4096
"""Of a page, where the header does not tell: SQLite's own choice."""
_ROWS = 0x0D
"""The kind of page that holds rows."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_LOG_HEADER, _FRAME_HEADER = 32, 24


@dataclass(frozen=True, slots=True)
class Row:
    """What is there of a row: where it is not ``whole`` the last of its ``columns`` have no value, or half a text."""

    number: int
    values: tuple[Value, ...]
    columns: int
    whole: bool


def format_of(path: Path) -> int:
    """The ``user_version`` that the header tells; 0 where there is no header."""
    with path.open("rb") as file:
        head = file.read(100)
    return int.from_bytes(head[60:64], "big") if _has_header(head) else 0


def rows(path: Path) -> Iterator[Row]:
    """All rows of all tables in the order of their pages.

    Raises:
        OSError: the file cannot be opened; a part that cannot be read is left out.
    """
    with contextlib.ExitStack() as files:
        file = files.enter_context(path.open("rb"))
        log = None
        with contextlib.suppress(OSError):
            log = files.enter_context(path.with_name(f"{path.name}-wal").open("rb"))
        pages = _Pages(file, log)
        for number in range(2, pages.count + 1):  # the first one holds the schema
            yield from pages.rows(number)


def _has_header(head: bytes) -> bool:
    return head.startswith(_MAGIC) and len(head) == 100


class _Pages:
    """The pages of a file, with what its log has newer."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None) -> None:
        self._file, self._log = file, log
        self._size, self._unused, self._told = _USUAL_SIZE, 0, 0
        head = file.read(100)
        size = int.from_bytes(head[16:18], "big")
        size = 65536 if size == 1 else size
        if _has_header(head) and size >= 512 and not size & (size - 1):
            self._size, self._unused, self._told = size, head[20], int.from_bytes(head[28:32], "big")
        self._newer = _committed(log, self._size) if log is not None else {}
        self.count = max(file.seek(0, 2) // self._size, *self._newer, 0)

    def rows(self, number: int) -> Iterator[Row]:
        """Those that stand on a page; none where it holds something else or is damaged."""
        page = self._page(number)
        if page is None or page[0] != _ROWS:
            return
        cells = int.from_bytes(page[3:5], "big")
        for at in range(8, min(8 + 2 * cells, self._size - 1), 2):
            row = self._row(page, int.from_bytes(page[at : at + 2], "big"))
            if row is not None:
                yield row

    def _page(self, number: int) -> bytes | None:
        place = self._newer.get(number)
        file = self._file if place is None or self._log is None else self._log
        try:
            file.seek((number - 1) * self._size if place is None else place)
            page = file.read(self._size)
        except OSError:  # a bad place on the disk
            return None
        return page if len(page) == self._size else None

    def _row(self, page: bytes, at: int) -> Row | None:
        try:
            size, at = _varint(page, at)
            number, at = _varint(page, at)
            return _parsed(number, self._payload(page, at, size))
        except (IndexError, ValueError, struct.error):  # not a row
            return None

    def _payload(self, page: bytes, at: int, size: int) -> bytes:
        """What a row holds, or its beginning: the rest of a long one is on other pages, each naming the next."""
        usable = self._size - self._unused
        if size <= usable - 35:
            return page[at : at + size]
        least = (usable - 12) * 32 // 255 - 23
        here = least + (size - least) % (usable - 4)
        here = here if here <= usable - 35 else least
        parts = [page[at : at + here]]
        left, following = size - here, int.from_bytes(page[at + here : at + here + 4], "big")
        seen: set[int] = set()
        while left > 0:
            more = self._page(following) if 1 < following <= self.count and following not in seen else None
            if more is None:
                if len(parts) > 1 and not self.count < following <= self._told:  # else the file was cut off there
                    parts.pop()  # it leads nowhere: it is that page which is damaged
                break
            seen.add(following)
            parts.append(more[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            following = int.from_bytes(more[:4], "big")
        return b"".join(parts)


def _parsed(number: int, payload: bytes) -> Row | None:
    """A row from its bytes; None where they cannot be one."""
    end, at = _varint(payload, 0)
    kinds: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    number -= 2**64 if number >= 2**63 else 0
    if at != end or not kinds or abs(number) >= 2**62:
        return None
    values: list[Value] = []
    for kind in kinds:
        length = _INTEGERS.get(kind, 8 if kind == 7 else max(kind - 12, 0) // 2)
        raw = payload[at : at + length]
        if len(raw) < length:
            half = [raw.decode("utf-8", "replace")] if kind > 12 and kind % 2 and raw else []
            return Row(number, (*values, *half), len(kinds), whole=False)
        values.append(_value(kind, raw))
        at += length
    return Row(number, tuple(values), len(kinds), whole=True)


def _value(kind: int, raw: bytes) -> Value:
    if kind == 0:
        return None
    if kind in _INTEGERS:
        return int.from_bytes(raw, "big", signed=True)
    if kind == 7:
        return float(struct.unpack(">d", raw)[0])
    if kind in (8, 9):
        return kind - 8
    if kind in (10, 11):
        raise ValueError("no kind of value")
    return raw.decode("utf-8", "replace") if kind % 2 else raw


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for n in range(8):
        byte = data[at + n]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    return value << 8 | data[at + 8], at + 9


def _committed(log: BinaryIO, size: int) -> dict[int, int]:
    """Where in the log the latest version of each page stands, of those that were committed whole."""
    found: dict[int, int] = {}
    with contextlib.suppress(OSError, struct.error):
        header = log.read(_LOG_HEADER)
        magic, _, told, _, *salt, first, second = struct.unpack(">8I", header)
        if magic >> 1 != 0x377F0682 >> 1 or told != size:
            return {}
        order = ">" if magic & 1 else "<"
        sums = _checksum(header[:24], order, (0, 0))
        if sums != (first, second):
            return {}
        waiting: dict[int, int] = {}
        while len(frame := log.read(_FRAME_HEADER + size)) == _FRAME_HEADER + size:
            number, commits, *own = struct.unpack(">6I", frame[:_FRAME_HEADER])
            sums = _checksum(frame[:8] + frame[_FRAME_HEADER:], order, sums)
            if own != [*salt, *sums]:  # of an earlier round of the log, or never written whole
                break
            waiting[number] = log.tell() - size
            if commits:
                found |= waiting
                waiting = {}
    return found


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
