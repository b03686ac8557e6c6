"""Whole layers of a mapped model file, taken out of the mapping: memory of our own at the same addresses (Linux).

llama.cpp maps a file and computes from the mapping. Which pages of it stay is then up to the page cache, and a cyclic
scan through a cache that is too small hits nothing. Memory that replaces part of the mapping is filled and given back
as we like, and llama.cpp sees no difference.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import mmap
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from backend.library.gguf import GgufFacts
from backend.library.gguf_header import read_header, stamp

PAGE = mmap.PAGESIZE
_CHUNK = 4 << 20
_BLOCK = re.compile(r"blk\.(\d+)\.")
_FREE, _OTHER = -2, -1
_MAP_FIXED, _MAP_NORESERVE = 0x10, 0x4000
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
"""ioprio_set(2), for which neither Python nor the C library has a function."""
_THIS_THREAD, _LAST_OF_ALL = 1, 2 << 13 | 7
_FAILED = ctypes.c_void_p(-1).value
_MAPPED = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+\s+(/.*)")


class Run(NamedTuple):
    """Whole pages of one file that hold weights of one layer and of nothing else. Bytes."""

    path: Path
    offset: int
    size: int


class Region(NamedTuple):
    """A run and where it is mapped."""

    run: Run
    address: int


def supported() -> bool:
    """Whether parts of a mapping can be replaced here."""
    return sys.platform.startswith("linux")


def layer_runs(facts: GgufFacts) -> dict[int, list[Run]]:
    """The pages of each layer, without those that it shares with a neighbour; what follows the last is one more.

    The embedding is none of them unless it is the output matrix as well: a token reads one row of it.
    """
    tensors = {path: read_header(path).tensors for path in facts.files}
    untied = any(t.name == "output.weight" for found in tensors.values() for t in found)
    runs: dict[int, list[Run]] = {layer: [] for layer in range(facts.n_layer + 1)}
    for path in facts.files:
        owner = np.full(stamp(path)[0] // PAGE + 1, _FREE, np.int32)
        for tensor in tensors[path]:
            block = _BLOCK.match(tensor.name)
            layer = min(int(block[1]), facts.n_layer) if block else facts.n_layer
            if tensor.name == "token_embd.weight" and untied:
                layer = _OTHER
            pages = owner[tensor.offset // PAGE : (tensor.offset + max(1, tensor.nbytes) - 1) // PAGE + 1]
            pages[(pages != _FREE) & (pages != layer)] = _OTHER
            pages[pages == _FREE] = layer
        owner[-1] = _OTHER  # not whole
        for first, last in _stretches(owner):
            if (layer := int(owner[first])) >= 0:
                runs[layer].append(Run(path, first * PAGE, (last - first) * PAGE))
    return runs


def mapped(files: Iterable[Path]) -> set[int]:
    """Addresses at which the files are mapped in this process now."""
    return {first for path in files for first, _, _ in _mappings(path)} if supported() else set()


def locate(runs: dict[int, list[Run]], others: set[int]) -> dict[int, list[Region]]:
    """Where the runs are mapped in this process; only layers of which all are.

    Args:
        runs: of each layer.
        others: addresses of mappings that are somebody else's: another load of the same file may be freed before.
    """
    paths = {run.path for found in runs.values() for run in found}
    places = {path: [at for at in _mappings(path) if at[0] not in others] for path in paths}
    out: dict[int, list[Region]] = {}
    for layer, found in runs.items():
        regions = [Region(run, at) for run in found if (at := _address(run, places[run.path])) is not None]
        if regions and len(regions) == len(found):
            out[layer] = regions
    return out


def replace(region: Region) -> None:
    """Anonymous memory, all zeros and taking none yet, where the file or a pool was mapped.

    Raises:
        OSError: the system refuses.
    """
    _map(region, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE, -1, 0)


def read_singly(files: Iterable[Path], others: set[int]) -> None:
    """What is still mapped, an embedding most of all, is read by the page: a row of it would bring 128 KB else.

    Args:
        files: the model's.
        others: see :func:`locate`.
    """
    for path in files:
        for first, end, _ in _mappings(path):
            if first not in others:
                _libc().madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), mmap.MADV_RANDOM)


class Pool:
    """Memory in which layers take turns.

    Its pages stay from one layer to the next: new ones would first be cleared by the system.

    Args:
        slots: layers that are in memory at once.
        size: of the largest, in bytes.
    """

    def __init__(self, slots: int, size: int) -> None:
        self._fd = os.memfd_create("layers", os.MFD_CLOEXEC)
        os.ftruncate(self._fd, slots * size)
        self._free = [size * slot for slot in range(slots)]
        self._lent: dict[int, int] = {}

    def lend(self, layer: int, regions: list[Region]) -> None:
        """Map a free slot where the layer is expected; what it holds is another layer's until it is filled.

        Called by one thread, while another may take layers back.

        Raises:
            OSError: the system refuses.
        """
        offset = self._lent[layer] = self._free.pop()
        for region in regions:
            _map(region, mmap.MAP_SHARED, self._fd, offset)
            offset += region.run.size

    def take_back(self, layer: int, regions: list[Region]) -> None:
        """The layer reads as zeros from now on."""
        for region in regions:
            replace(region)
        self._free.append(self._lent.pop(layer))

    def close(self) -> None:
        """Give the memory back, as soon as nothing of it is mapped any more."""
        os.close(self._fd)


def _map(region: Region, flags: int, fd: int, offset: int) -> None:
    _libc().mmap.restype = ctypes.c_void_p
    where = (ctypes.c_void_p(region.address), ctypes.c_size_t(region.run.size))
    at = _libc().mmap(*where, mmap.PROT_READ | mmap.PROT_WRITE, flags | _MAP_FIXED, fd, ctypes.c_long(offset))
    if at == _FAILED:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def give_way() -> None:
    """From now on this thread's reads come after those of other programs, where the disk's scheduler knows ranks."""
    number = _IOPRIO_SET.get(platform.machine())
    if number is not None:
        _libc().syscall(number, _THIS_THREAD, 0, _LAST_OF_ALL)


class Files:
    """The files, opened so that reading bypasses the page cache where the file system can do that."""

    def __init__(self, facts: GgufFacts) -> None:
        self._open = {path: _open_direct(path) for path in facts.files}

    def fill(self, region: Region, pool: Executor, wanted: Callable[[], bool]) -> None:
        """Read a region's weights from its file, in several pieces at once, as long as they are ``wanted``.

        Raises:
            OSError: the disk fails, or the file has become shorter.
        """
        fd = self._open[region.run.path]
        size = region.run.size
        view = memoryview((ctypes.c_ubyte * size).from_address(region.address))
        starts = range(0, size, _CHUNK)

        def read(at: int) -> None:
            if wanted():
                _read(fd, view[at : at + _CHUNK], region.run.offset + at)

        for _ in pool.map(read, starts):
            pass

    def close(self) -> None:
        """Close them."""
        for fd in self._open.values():
            os.close(fd)
        self._open = {}


def _read(fd: int, into: memoryview, offset: int) -> None:
    done = 0
    while done < len(into):
        n = os.preadv(fd, [into[done:]], offset + done)
        if n < len(into) - done:
            n -= n % PAGE  # a read past the cache begins at a page
        if n <= 0:
            raise OSError("the model file is shorter than it was")
        done += n


def _open_direct(path: Path) -> int:
    with contextlib.suppress(OSError):
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECT", 0))
        try:
            os.preadv(fd, [mmap.mmap(-1, PAGE)], 0)  # some file systems only refuse now
            return fd
        except OSError:
            os.close(fd)
    return os.open(path, os.O_RDONLY)


def _stretches(owner: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Iterator[tuple[int, int]]:
    """First and one past the last index of each stretch of equal values."""
    yield from itertools.pairwise([0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)])


def _mappings(path: Path) -> Iterator[tuple[int, int, int]]:
    """``(first address, one past the last, file offset of the first)`` of each mapping of the file."""
    wanted = os.path.realpath(path)
    for line in Path("/proc/self/maps").read_text(errors="surrogateescape").splitlines():
        match = _MAPPED.fullmatch(line)
        if match and match[4].replace("\\012", "\n") == wanted:
            yield int(match[1], 16), int(match[2], 16), int(match[3], 16)


def _address(run: Run, places: list[tuple[int, int, int]]) -> int | None:
    for first, end, offset in places:
        if offset <= run.offset and run.offset + run.size <= offset + (end - first):
            return first + run.offset - offset
    return None


def _libc() -> ctypes.CDLL:
    return _LIBC


_LIBC = ctypes.CDLL(None, use_errno=True) if supported() else ctypes.CDLL("msvcrt" if os.name == "nt" else None)
