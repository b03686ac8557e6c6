"""A larger model file that computes what a smaller one does: its blocks copied as they are, with zeros around them.

The added widths hold zeros wherever they could change anything. A norm's mean is taken over more numbers then, so its
weights are multiplied by √(width ÷ new width) and its epsilon by width ÷ new width, which undoes that: to the bit where
the new width is 4 or 16 times the old, else but for rounding.
Attention heads keep the key-value head they had: a wider model that shares each between fewer heads gets copies of it,
and the heads stand where their copies are looked for. Added layers are all zeros, so they add nothing to what passes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from gguf import GGUFReader, GGUFWriter, ReaderTensor
from gguf.constants import GGML_QUANT_SIZES

from backend.text import shown_size

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
ARCHITECTURES = ("llama", "qwen2")
"""Nothing in these depends on the width but the norms (Gemma multiplies embeddings by its root)."""
_CHUNK = 64 << 20
_AXES = {  # of each matrix: what its rows and its columns stand for
    "token_embd": ("vocabulary", "width"),
    "output": ("vocabulary", "width"),
    "attn_q": ("heads", "width"),
    "attn_k": ("kv_heads", "width"),
    "attn_v": ("kv_heads", "width"),
    "attn_output": ("width", "heads"),
    "ffn_gate": ("ffn", "width"),
    "ffn_up": ("ffn", "width"),
    "ffn_down": ("width", "ffn"),
}


class UnfitError(Exception):
    """Why a file cannot be widened, in one sentence."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What differs between models of one family."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    ffn: int


class Span(NamedTuple):
    """``length`` numbers of the source from ``start`` on, and where they go."""

    start: int
    length: int
    to: int


class Axis(NamedTuple):
    """What becomes of one dimension: its new size, and what of the source lies where."""

    size: int
    spans: Sequence[Span]


@dataclass(frozen=True, slots=True)
class Wide:
    """A tensor that is put together while it is written, as much of it as ``GGUFWriter`` asks for."""

    shape: tuple[int, ...]
    """Bytes in its last dimension."""
    source: Bytes | None
    rows: Sequence[Span]
    columns: Sequence[Span]
    """In bytes."""

    @property
    def dtype(self) -> np.dtype[np.uint8]:
        return np.dtype(np.uint8)

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape))

    def tofile(self, file: BinaryIO) -> None:
        width = self.shape[-1]
        rows, step = self.nbytes // width, max(1, _CHUNK // width)
        for first in range(0, rows, step):
            self._part(first, min(step, rows - first)).tofile(file)

    def _part(self, first: int, count: int) -> Bytes:
        part = np.zeros((count, self.shape[-1]), np.uint8)
        if self.source is None:
            return part
        for start, n, to in self.rows:
            low, high = max(to, first), min(to + n, first + count)
            if low < high:
                piece = self.source[start + low - to : start + high - to]
                for begin, width, at in self.columns:
                    part[low - first : high - first, at : at + width] = piece[:, begin : begin + width]
        return part


def widen(source: Path, out: Path, new: Shape, name: str) -> None:
    """Write ``out``, called ``name``; nothing half-written is left behind.

    Raises:
        UnfitError: the source has another architecture, or its blocks do not fit into the new shape; the disk is full.
    """
    reader = GGUFReader(source)
    old = shape_of(reader)
    axes = _axes(old, new)
    part = out.with_name(out.name + ".part")
    writer = GGUFWriter(part, _architecture(reader))
    _copy_fields(reader, writer, old, new, name)
    for title, tensor, empty in _planned(reader, old, new):
        wide = _wide(tensor, axes, np.sqrt(old.width / new.width), empty=empty)
        writer.add_tensor(title, wide, raw_dtype=tensor.tensor_type)  # it is all that it asks
    size, free = sum(t.nbytes for t in writer.tensors[0].values()), shutil.disk_usage(out.parent).free
    if size > 0.95 * free:
        raise UnfitError(f"{out} would take {shown_size(size)}, and {shown_size(free)} are free; choose another disk.")
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        part.replace(out)
    finally:
        writer.close()
        part.unlink(missing_ok=True)


def shape_of(reader: GGUFReader) -> Shape:
    """The shape of a file.

    Raises:
        UnfitError: its architecture is not one that can be widened.
    """
    arch = _architecture(reader)
    if arch not in ARCHITECTURES:
        raise UnfitError(f"A model of the architecture {arch} cannot be widened, only {' and '.join(ARCHITECTURES)}.")
    keys = ("block_count", "embedding_length", "attention.head_count", "attention.head_count_kv", "feed_forward_length")
    return Shape(*(int(reader.fields[f"{arch}.{key}"].contents()) for key in keys))


def _architecture(reader: GGUFReader) -> str:
    return str(reader.fields["general.architecture"].contents())


def _axes(old: Shape, new: Shape) -> dict[str, Axis]:
    """Where each dimension's numbers go.

    Raises:
        UnfitError: the new shape is not larger in everything, or has other heads.
    """
    head, shared, new_shared = old.width // old.heads, old.heads // old.kv_heads, new.heads // new.kv_heads
    copies = -(-shared // new_shared)
    if new.width // new.heads != head:
        raise UnfitError(f"Heads must keep their size: {new.width} ÷ {new.heads} is not {head}.")
    smaller = old.layers > new.layers or old.width > new.width or old.ffn > new.ffn
    if smaller or copies * old.kv_heads > new.kv_heads:
        raise UnfitError(f"A model of the shape {old} does not fit into {new}.")
    groups = range(old.kv_heads)
    heads = [Span(g * shared * head, shared * head, g * copies * new_shared * head) for g in groups]
    kv = [Span(g * head, head, (g * copies + copy) * head) for g in groups for copy in range(copies)]
    return {
        "width": Axis(new.width, [Span(0, old.width, 0)]),
        "ffn": Axis(new.ffn, [Span(0, old.ffn, 0)]),
        "heads": Axis(new.heads * head, heads),
        "kv_heads": Axis(new.kv_heads * head, kv),
    }


def _planned(reader: GGUFReader, old: Shape, new: Shape) -> Iterator[tuple[str, ReaderTensor, bool]]:
    """Each tensor of the new file, the one it is made like, and whether it is all zeros: those of added layers."""
    for tensor in reader.tensors:
        yield tensor.name, tensor, False
    for layer in range(old.layers, new.layers):
        like = f"blk.{layer % old.layers}."
        for tensor in reader.tensors:
            if tensor.name.startswith(like):
                yield f"blk.{layer}.{tensor.name.removeprefix(like)}", tensor, True


def _wide(tensor: ReaderTensor, axes: dict[str, Axis], scale: float, *, empty: bool) -> Wide:
    rows, columns = _axes_of(tensor, axes)
    data = np.asarray(tensor.data)
    if tensor.name.endswith("_norm.weight"):
        data = (data * scale).astype(data.dtype)
    block, size = GGML_QUANT_SIZES[tensor.tensor_type]
    if any(number % block for number in (columns.size, *(n for span in columns.spans for n in span))):
        raise UnfitError(f"{tensor.name} has blocks of {block} numbers, which a part of it does not begin or end with.")
    in_bytes = [Span(*(n // block * size for n in span)) for span in columns.spans]
    width = columns.size // block * size
    source = None if empty else data.view(np.uint8).reshape(-1, tensor.n_bytes // _rows_of(tensor))
    return Wide((rows.size, width) if tensor.data.ndim > 1 else (width,), source, rows.spans, in_bytes)


def _rows_of(tensor: ReaderTensor) -> int:
    return int(tensor.shape[1]) if len(tensor.shape) > 1 else 1


def _axes_of(tensor: ReaderTensor, axes: dict[str, Axis]) -> tuple[Axis, Axis]:
    kind = tensor.name.split(".")[-2]
    n = _rows_of(tensor)
    whole = Axis(n, [Span(0, n, 0)])
    if kind in _AXES:
        row, column = _AXES[kind]
        return (whole, axes[row]) if n == 1 else (axes.get(row, whole), axes[column])
    if kind.endswith("_norm"):
        return whole, axes["width"]
    raise UnfitError(f"What becomes of {tensor.name} in a wider model is not known here.")


def _copy_fields(reader: GGUFReader, writer: GGUFWriter, old: Shape, new: Shape, name: str) -> None:
    arch = _architecture(reader)
    epsilon = f"{arch}.attention.layer_norm_rms_epsilon"
    changed: dict[str, Any] = {
        "general.name": name,
        f"{arch}.block_count": new.layers,
        f"{arch}.embedding_length": new.width,
        f"{arch}.feed_forward_length": new.ffn,
        f"{arch}.attention.head_count": new.heads,
        f"{arch}.attention.head_count_kv": new.kv_heads,
        epsilon: reader.fields[epsilon].contents() * old.width / new.width,
    }
    for key, field in reader.fields.items():
        if key == "general.architecture" or key.startswith("GGUF."):
            continue
        inner = field.types[1] if len(field.types) > 1 else None
        writer.add_key_value(key, changed.get(key, field.contents()), field.types[0], inner)
