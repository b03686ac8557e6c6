"""A model in several files, loaded by the name of any of them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from backend.library.gguf_header import read_header
from tests.engine.rig import loaded
from tests.tiny import tiny_llama


def split(source: Path, stem: str) -> list[Path]:
    """The file in two parts, as llama-gguf-split writes them."""
    header, raw = read_header(source), source.read_bytes()
    names = [tensor.name for tensor in header.tensors]
    keys_end = raw.index(struct.pack("<Q", len(names[0])) + names[0].encode())
    (n_keys,) = struct.unpack_from("<Q", raw, 16)
    half, parts = len(names) // 2, []
    for number, tensors in enumerate((header.tensors[:half], header.tensors[half:])):
        keys = raw[24:keys_end] if number == 0 else b""
        for name, value in (("no", number), ("count", 2), ("tensors.count", len(names))):
            layout = (5, "i") if name == "tensors.count" else (2, "H")
            keys += text(f"split.{name}") + struct.pack(f"<I{layout[1]}", layout[0], value)
        rows, data = b"", b""
        for tensor in tensors:
            rows += text(tensor.name) + struct.pack(
                f"<I{len(tensor.shape)}QIQ", len(tensor.shape), *tensor.shape, 0, len(data)
            )
            data += raw[tensor.offset : tensor.offset + tensor.nbytes]
            data += bytes(-len(data) % 32)
        head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), (n_keys if number == 0 else 0) + 3) + keys + rows
        path = source.with_name(f"{stem}-{number + 1:05d}-of-00002.gguf")
        path.write_bytes(head + bytes(-len(head) % 32) + data)
        parts.append(path)
    return parts


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


@pytest.mark.parametrize("named", [0, 1])
def test_any_part_names_the_model(tmp_path: Path, named: int) -> None:
    parts = split(tiny_llama(tmp_path / "whole.gguf"), "parts")
    with loaded(parts[named], n_ctx=256) as model:
        assert model.info.n_layer == 2
