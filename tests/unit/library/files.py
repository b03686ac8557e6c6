"""Writes tiny GGUF files, catalogue entries and wheels for the library's tests."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import gguf
import numpy as np

from backend.library.catalogue import CatalogueModel

TOKENS = [f"t{n}" for n in range(40)]


def write_gguf(
    path: Path,
    *,
    arch: str = "llama",
    tokens: Sequence[str] | None = TOKENS,
    blocks: int = 2,
    width: int = 64,
    tensors: Sequence[str] | None = None,
    extra: Callable[[gguf.GGUFWriter], None] = lambda _: None,
    pre: str = "qwen2",
    tokenizer: str = "gpt2",
    bos: int | None = 1,
    eos: int | None = 2,
    add_bos: bool | None = False,
    add_eos: bool | None = None,
) -> Path:
    """A small, complete model file (weights zero)."""
    writer = gguf.GGUFWriter(path, arch)
    writer.add_name(path.stem)
    writer.add_block_count(blocks)
    writer.add_context_length(2048)
    writer.add_embedding_length(width)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    if tokens is not None:
        writer.add_tokenizer_model(tokenizer)
        writer.add_tokenizer_pre(pre)
        writer.add_token_list(list(tokens))
        for value, add in ((bos, writer.add_bos_token_id), (eos, writer.add_eos_token_id)):
            if value is not None:
                add(value)
        if add_bos is not None:
            writer.add_add_bos_token(add_bos)
        if add_eos is not None:
            writer.add_add_eos_token(add_eos)
    extra(writer)
    names = [f"blk.{n}.attn_q.weight" for n in range(blocks)] if tensors is None else tensors
    for name in names:
        writer.add_tensor(name, np.zeros((width, width), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_split(folder: Path, stem: str, count: int, **options: object) -> list[Path]:
    """A model split into ``count`` files, one block each."""
    paths = []
    for number in range(count):
        path = folder / f"{stem}-{number + 1:05d}-of-{count:05d}.gguf"

        def extra(writer: gguf.GGUFWriter, number: int = number) -> None:
            writer.add_uint16("split.no", number)
            writer.add_uint16("split.count", count)
            writer.add_int32("split.tensors.count", count)

        write_gguf(path, extra=extra, blocks=count, tensors=[f"blk.{number}.attn_q.weight"], **options)  # type: ignore[arg-type]
        paths.append(path)
    return paths


def entry(**changes: object) -> CatalogueModel:
    """A catalogue entry with one file ``m.gguf``."""
    base: dict[str, object] = {
        "id": "m",
        "name": "M",
        "family": "m",
        "repo": "org/m-GGUF",
        "variants": [{"quant": "F32", "files": [{"name": "m.gguf"}]}],
    }
    return CatalogueModel.model_validate(base | changes)


def mirrored(content: bytes, parts: int = 3, repo: str | None = None, sha256: str | None = None) -> CatalogueModel:
    """An entry whose file lies in ``parts`` wheels."""
    file = {"name": "m.gguf", "size": len(content), "sha256": sha256 or hashlib.sha256(content).hexdigest()}
    mirror = {
        "package": "tandem-test-part{n}",
        "version": "1.0",
        "parts": parts,
        "member": "tandem_test_part{n}/data/part{nn}.bin",
    }
    return entry(repo=repo, variants=[{"quant": "F32", "files": [file], "mirror": mirror}])


def write_wheels(folder: Path, content: bytes, parts: int = 3) -> None:
    """``content`` in ``parts`` wheels."""
    step = -(-len(content) // parts)
    for number in range(1, parts + 1):
        package, name = f"tandem-test-part{number}", f"tandem_test_part{number}"
        info = f"{name}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(f"{name}/data/part{number:02d}.bin", content[(number - 1) * step : number * step])
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
