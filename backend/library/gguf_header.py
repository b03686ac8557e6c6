"""Reads the header of a GGUF file: metadata, where the big arrays lie, and the tensor table.

The file is untrusted. Every length is checked against the file's own length before it is believed, counts are capped,
and big arrays (a vocabulary of 152,000 tokens, its merges) are stepped over without building Python lists, so that a
real header takes under 0.3 s and a hostile one cannot cost more than about a second.
"""

from __future__ import annotations

import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backend.errors import EngineError, ErrorCode
from backend.library.gguf_tables import ARRAY, SCALARS, STRING, TENSOR_TYPES

Scalar = int | float | bool | str

MAX_HEADER = 128 * 2**20
MAX_STRINGS = 4_000_000
MAX_ENTRIES = 200_000
MAX_TEXT = 2**20
"""Longest metadata text that is kept (chat templates are a few kB)."""
_NEAR = 64 * 2**20
"""A read that runs past the end by less than this means a cut file, by more a damaged length."""

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class ArraySpan:
    """A metadata array left in the file: element type, element count, first byte and end in ``Header.raw``."""

    type: int
    count: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One row of the tensor table. ``offset`` is absolute in the file, ``nbytes`` without padding."""

    name: str
    type: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int

    @property
    def n_elements(self) -> int:
        """Product of the shape."""
        total = 1
        for n in self.shape:
            total *= n
        return total


@dataclass(frozen=True, slots=True)
class Header:
    """A checked header. ``expected_size`` is where the last tensor ends: the file must be at least that long."""

    path: Path
    size: int
    values: dict[str, Scalar]
    arrays: dict[str, ArraySpan]
    tensors: tuple[TensorInfo, ...]
    expected_size: int
    raw: bytearray


def damaged(path: Path, why: str) -> EngineError:
    """A file whose header contradicts itself."""
    return EngineError(
        ErrorCode.FILE_DAMAGED,
        f"The model file {path.name} is damaged ({why}); download it again.",
        {"path": str(path), "reason": why},
    )


def truncated(path: Path, size: int, expected: int, *, whole: bool = True) -> EngineError:
    """A file that ends too early; ``whole`` = ``expected`` is its whole size, else only as far as its header tells."""
    of = f"{expected:,} bytes" if whole else f"at least {expected:,} bytes"
    return EngineError(
        ErrorCode.FILE_TRUNCATED,
        f"The model file {path.name} is cut off: it has {size:,} of {of}; download it again.",
        {"path": str(path), "size": size, "expected": expected},
    )


def unreadable(path: Path, error: OSError) -> EngineError:
    """A file that is not there (any more), or that may not be read."""
    why = error.strerror or str(error)
    return EngineError(
        ErrorCode.FILE_MISSING,
        f"The model file {path} cannot be opened ({why}); check the path or add the model again.",
        {"path": str(path), "reason": why},
    )


def stamp(path: Path) -> tuple[int, int]:
    """Size and time of last change: what is known of a file holds as long as they do.

    Raises:
        EngineError: ``FILE_MISSING``.
    """
    try:
        return (found := path.stat()).st_size, found.st_mtime_ns
    except OSError as error:
        raise unreadable(path, error) from error


def read_header(path: Path) -> Header:
    """Read and check the header of ``path``; the tensors' data is not touched.

    Raises:
        EngineError: ``FILE_MISSING``, ``FILE_NOT_GGUF``, ``FILE_DAMAGED``, ``FILE_TRUNCATED`` or, for a big-endian file
            or a tensor type the engine does not have, ``MODEL_UNSUPPORTED``.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever, a device would never end
            raise _no_file(path)
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            return _Reader(path, file, size).header()
    except OSError as error:
        raise unreadable(path, error) from error


def _no_file(path: Path) -> EngineError:
    kind = "a folder; name a GGUF file in it" if path.is_dir() else "a pipe or a device; name a GGUF file"
    return EngineError(ErrorCode.FILE_MISSING, f"{path} is {kind}.", {"path": str(path)})


class _Reader:
    """One pass over the header. ``buf`` holds the file's first bytes, so positions are file offsets."""

    def __init__(self, path: Path, file: BinaryIO, size: int) -> None:
        self.path = path
        self.file = file
        self.size = size
        self.buf = bytearray()
        self.pos = 0
        self.strings_left = MAX_STRINGS

    def header(self) -> Header:
        n_tensors, n_values = self._preamble()
        values: dict[str, Scalar] = {}
        arrays: dict[str, ArraySpan] = {}
        for _ in range(n_values):
            key = self._text(256)
            if not key or key in values or key in arrays:
                raise damaged(self.path, f"metadata key {key[:60]!r} is empty, too long or given twice")
            self._value(key, values, arrays)
        alignment = values.get("general.alignment", 32)
        if type(alignment) is not int or not 1 <= alignment <= 2**20 or alignment & (alignment - 1):
            raise damaged(self.path, f"its alignment is {alignment!r}")
        rows = [self._tensor() for _ in range(n_tensors)]
        start = (self.pos + alignment - 1) // alignment * alignment
        tensors = tuple(_placed(self.path, row, start, alignment) for row in rows)
        end = max((t.offset + t.nbytes for t in tensors), default=self.pos)
        if end > self.size:
            raise truncated(self.path, self.size, end)
        return Header(self.path, self.size, values, arrays, tensors, end, self.buf)

    def _preamble(self) -> tuple[int, int]:
        magic = self.file.read(4)
        self.file.seek(0)
        if magic != b"GGUF":
            raise _not_gguf(self.path, self.size, magic)
        self._need(24)
        version, n_tensors, n_values = struct.unpack_from("<IQQ", self.buf, 4)
        self.pos = 24
        if version not in (2, 3):
            if version in (1, 1 << 24, 2 << 24, 3 << 24):
                what = "version 1" if version == 1 else "big-endian"
                raise EngineError(
                    ErrorCode.MODEL_UNSUPPORTED,
                    f"The model file {self.path.name} is a {what} GGUF file, which the engine cannot load; "
                    "convert it or download a current one.",
                    {"path": str(self.path)},
                )
            raise damaged(self.path, f"GGUF version {version} does not exist")
        if n_tensors > MAX_ENTRIES or n_values > MAX_ENTRIES:
            raise damaged(self.path, f"it claims {n_tensors:,} tensors and {n_values:,} metadata entries")
        return n_tensors, n_values

    # -- primitives ------------------------------------------------------------------------------------------------

    def _need(self, end: int) -> None:
        """Have the file's bytes up to ``end`` in the buffer."""
        if end <= len(self.buf):
            return
        if end > self.size:
            if end - self.size < _NEAR:
                raise truncated(self.path, self.size, end, whole=False)
            raise damaged(self.path, f"a length points to byte {end:,} of a file of {self.size:,}")
        if end > MAX_HEADER:
            raise damaged(self.path, f"its header is longer than {MAX_HEADER // 2**20} MiB")
        self.buf += self.file.read(max(end - len(self.buf), min(len(self.buf), 8 * 2**20), 2**16))
        if end > len(self.buf):  # it shrank while it was read
            raise truncated(self.path, len(self.buf), end, whole=False)

    def _int(self, layout: struct.Struct) -> int:
        self._need(self.pos + layout.size)
        value: int = layout.unpack_from(self.buf, self.pos)[0]
        self.pos += layout.size
        return value

    def _text(self, limit: int) -> str:
        """A string; one longer than ``limit`` comes back empty, but is stepped over."""
        length = self._int(_U64)
        self._need(self.pos + length)
        raw = self.buf[self.pos : self.pos + length] if length <= limit else b""
        self.pos += length
        return raw.decode("utf-8", "replace")

    def _value(self, key: str, values: dict[str, Scalar], arrays: dict[str, ArraySpan]) -> None:
        kind = self._int(_U32)
        if kind == STRING:
            values[key] = self._text(MAX_TEXT)
        elif kind == ARRAY:
            arrays[key] = self._array(key)
        elif kind in SCALARS:
            letter, width = SCALARS[kind]
            self._need(self.pos + width)
            values[key] = struct.unpack_from(f"<{letter}", self.buf, self.pos)[0]
            self.pos += width
        else:
            raise damaged(self.path, f"metadata entry {key!r} has the unknown type {kind}")

    def _array(self, key: str) -> ArraySpan:
        kind = self._int(_U32)
        count = self._int(_U64)
        start = self.pos
        if kind == STRING:
            self._skip_strings(key, count)
        elif kind in SCALARS:
            self._need(self.pos + count * SCALARS[kind][1])
            self.pos += count * SCALARS[kind][1]
        else:
            raise damaged(self.path, f"metadata array {key!r} has elements of the unknown type {kind}")
        return ArraySpan(kind, count, start, self.pos)

    def _skip_strings(self, key: str, count: int) -> None:
        self.strings_left -= count
        if self.strings_left < 0:
            raise damaged(self.path, f"metadata array {key!r} claims {count:,} texts")
        self._need(self.pos + count * 8)
        buf, pos, unpack = self.buf, self.pos, _U64.unpack_from
        loaded = len(buf)
        for _ in range(count):
            if pos + 8 > loaded:
                self._need(pos + 8)
                loaded = len(buf)
            pos += 8 + unpack(buf, pos)[0]
        self._need(pos)
        self.pos = pos

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._text(256)
        n_dims = self._int(_U32)
        if not name or n_dims > 4:
            raise damaged(self.path, f"tensor {name[:60]!r} has {n_dims} dimensions")
        shape = tuple(self._int(_U64) for _ in range(n_dims)) or (1,)  # a single number
        return name, shape, self._int(_U32), self._int(_U64)


def _placed(path: Path, row: tuple[str, tuple[int, ...], int, int], start: int, alignment: int) -> TensorInfo:
    name, shape, kind, offset = row
    if kind not in TENSOR_TYPES:
        raise EngineError(
            ErrorCode.MODEL_UNSUPPORTED,
            f"Tensor {name!r} of {path.name} has the type {kind}, which this engine does not know; "
            "the file is damaged or made for a newer engine.",
            {"path": str(path), "tensor": name, "type": kind},
        )
    type_name, block, width = TENSOR_TYPES[kind]
    elements = 1
    for n in shape:
        elements *= n
    if elements >= 2**63 or not all(shape) or (shape and shape[0] % block):
        raise damaged(path, f"tensor {name!r} has the shape {shape} in {type_name}")
    if offset % alignment or offset >= 2**63:
        raise damaged(path, f"tensor {name!r} lies at the odd offset {offset}")
    return TensorInfo(name, type_name, shape, start + offset, elements // block * width)


def _not_gguf(path: Path, size: int, magic: bytes) -> EngineError:
    what = {b"": "is empty", b"vers": "is a Git LFS pointer, not the model itself", b"<!DO": "is a web page"}
    kind = what.get(magic, "is not a GGUF model")
    return EngineError(
        ErrorCode.FILE_NOT_GGUF,
        f"The file {path.name} {kind}; choose a file that ends in .gguf.",
        {"path": str(path), "size": size},
    )
