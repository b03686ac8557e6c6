"""What a GGUF file is, from its header alone: the facts that the library, the pairing and the memory plan need.

``llama_cpp`` is not used here: it would load a library and, on a damaged file, may abort the process.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from backend.errors import EngineError, ErrorCode
from backend.library.gguf_header import ArraySpan, Header, TensorInfo, damaged, read_header
from backend.library.gguf_limits import check_numbers
from backend.library.gguf_tables import (
    FILE_TYPES,
    PRE_ADDS_BOS,
    PRE_WITHOUT_BOS,
    SCALARS,
    STRING,
    TOKENIZERS,
)
from backend.text import short_line, shown_name

Kind = Literal["model", "mmproj", "adapter", "draft_head", "vocab_only", "other"]

_TOKENS: Final = "tokenizer.ggml.tokens"
_HEAD_ARCHITECTURE: Final = re.compile(r"eagle|dflash|dspark|medusa|[-_]assistant$|(^|[-_])mtp($|[-_])|nextn")
_HEAD_TENSOR: Final = re.compile(r"d2t(\.weight)?$|markov_w1|selector_predecessor|nextn\.pre_projection")
_BLOCK: Final = re.compile(r"blk\.(\d+)\.(.*)")
_SPLIT_NAME: Final = re.compile(r"^(?P<stem>.+)-(?P<no>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """A model's facts. Sizes in bytes; counts are 0 and ids None where the file does not say.

    ``vocab_hash`` is the SHA-256 over every token's length (8 bytes, little-endian) and bytes, in id order: equal
    hashes mean equal vocabularies. ``add_bos`` and the like are what llama.cpp makes of the file, its defaults
    included. Attributes that vary by layer (``n_head_kv``) hold the largest. Names are cut short, and steer nothing.
    """

    files: tuple[Path, ...]
    size: int
    expected_size: int
    kind: Kind
    architecture: str
    name: str
    quant: str
    n_params: int
    context_length: int
    n_layer: int
    n_head: int
    n_head_kv: int
    head_size_k: int
    head_size_v: int
    n_embd: int
    n_vocab: int
    vocab_type: str
    tokenizer_model: str
    tokenizer_pre: str
    bos_id: int | None
    eos_id: int | None
    add_bos: bool
    add_eos: bool
    vocab_hash: str
    sliding_window: int
    n_expert: int
    n_expert_used: int
    split_no: int
    split_count: int
    has_chat_template: bool
    chat_template: str | None
    """None also when it is longer than 1 MiB."""

    def tensors(self) -> tuple[TensorInfo, ...]:
        """The tensor table of all parts, read from the files now; offsets are within each part."""
        return tuple(t for path in self.files for t in read_header(path).tensors)


def read_facts(path: Path) -> GgufFacts:
    """The facts of one file (of one part, if the model is split).

    Raises:
        EngineError: ``FILE_MISSING``, ``FILE_NOT_GGUF``, ``FILE_DAMAGED``, ``FILE_TRUNCATED``, ``MODEL_UNSUPPORTED``.
    """
    return _facts([read_header(path)])


def read_model(paths: Sequence[Path]) -> GgufFacts:
    """The facts of a whole model given all its parts, in order.

    Raises:
        EngineError: as :func:`read_facts`; ``FILE_DAMAGED`` also when the parts do not belong together.
    """
    headers = [read_header(path) for path in paths]
    for number, header in enumerate(headers):
        count = _int(header, "split.count") or 1
        if count != len(headers) or _int(header, "split.no") != number:
            raise damaged(
                header.path,
                f"it says it is part {_int(header, 'split.no') + 1} of {count}, "
                f"but stands as part {number + 1} of {len(headers)}",
            )
    return _facts(headers)


def split_name(name: str) -> tuple[str, int, int] | None:
    """``(stem, number, count)`` of a part's file name (``x-00002-of-00003.gguf`` -> ``("x", 2, 3)``), else None."""
    match = _SPLIT_NAME.match(name)
    return (match["stem"], int(match["no"]), int(match["count"])) if match else None


def split_parts(path: Path) -> list[Path]:
    """Every part of the model that ``path`` belongs to, by name, whether it is there or not."""
    split = split_name(path.name)
    if split is None or not 1 <= split[1] <= split[2]:
        return [path]
    stem, _, count = split
    return [path.with_name(f"{stem}-{n:05d}-of-{count:05d}{path.suffix}") for n in range(1, count + 1)]


def iter_tokens(path: Path) -> Iterator[bytes]:
    """The token texts of the file's vocabulary in id order; nothing when it has none."""
    header = read_header(path)
    span = header.arrays.get(_TOKENS)
    if span is None or span.type != STRING:
        return
    view, position = memoryview(header.raw), span.start
    for _ in range(span.count):
        length = int.from_bytes(view[position : position + 8], "little")
        position += 8
        yield bytes(view[position : position + length])
        position += length


def _facts(headers: list[Header]) -> GgufFacts:
    first = headers[0]
    arch = _str(first, "general.architecture")
    if not arch:
        raise damaged(first.path, "it does not name its architecture")

    def own(key: str) -> int:
        return _int(first, f"{arch}.{key}")

    tensors = [t for h in headers for t in h.tensors]
    n_head, n_embd = own("attention.head_count"), own("embedding_length")
    head_size = n_embd // n_head if n_head else 0
    template = first.values.get("tokenizer.chat_template")
    tokens = first.arrays.get(_TOKENS)
    vocab_type, bos, eos, add_bos, add_eos = _tokenizer(first)
    facts = GgufFacts(
        files=tuple(h.path for h in headers),
        size=sum(h.size for h in headers),
        expected_size=sum(h.expected_size for h in headers),
        kind=_kind(first, arch, tensors),
        architecture=short_line(arch),
        name=short_line(_str(first, "general.name")) or short_line(shown_name(first.path.stem)),
        quant=_quant(first, tensors),
        n_params=sum(t.n_elements for t in tensors),
        context_length=own("context_length"),
        n_layer=own("block_count"),
        n_head=n_head,
        n_head_kv=own("attention.head_count_kv") or n_head,
        head_size_k=own("attention.key_length") or head_size,
        head_size_v=own("attention.value_length") or head_size,
        n_embd=n_embd,
        n_vocab=tokens.count if tokens else own("vocab_size"),
        vocab_type=short_line(vocab_type),
        tokenizer_model=short_line(_str(first, "tokenizer.ggml.model")),
        tokenizer_pre=short_line(_str(first, "tokenizer.ggml.pre")),
        bos_id=bos,
        eos_id=eos,
        add_bos=add_bos,
        add_eos=add_eos,
        vocab_hash=_hash(first, tokens) if tokens else "",
        sliding_window=own("attention.sliding_window"),
        n_expert=own("expert_count"),
        n_expert_used=own("expert_used_count"),
        split_no=_int(first, "split.no"),
        split_count=_int(first, "split.count") or 1,
        has_chat_template=template is not None,
        chat_template=template if isinstance(template, str) and template else None,
    )
    check_numbers(facts, first, tensors)
    return facts


def _int(header: Header, key: str) -> int:
    """A whole number >= 0; of an array, its largest element; 0 when missing or of another kind."""
    value = header.values.get(key)
    if type(value) is int:
        return max(value, 0)
    span = header.arrays.get(key)
    if span is None or span.type == STRING or not 0 < span.count <= 4096:
        return 0
    letter, width = SCALARS[span.type]
    if letter in "fd?":
        return 0
    numbers = range(span.count)
    return max(0, *(int(struct.unpack_from(f"<{letter}", header.raw, span.start + width * n)[0]) for n in numbers))


def _str(header: Header, key: str) -> str:
    value = header.values.get(key)
    return value if isinstance(value, str) else ""


def _hash(header: Header, span: ArraySpan) -> str:
    return hashlib.sha256(memoryview(header.raw)[span.start : span.end]).hexdigest()


def _quant(header: Header, tensors: list[TensorInfo]) -> str:
    """The file type's name; where the file does not say, the tensor type that holds most bytes."""
    named = header.values.get("general.file_type")
    if type(named) is int and named in FILE_TYPES:
        return FILE_TYPES[named]
    weight: Counter[str] = Counter()
    for tensor in tensors:
        weight[tensor.type] += tensor.nbytes
    return weight.most_common(1)[0][0] if weight else ""


def _tokenizer(header: Header) -> tuple[str, int | None, int | None, bool, bool]:
    """Vocabulary type, BOS, EOS, adds BOS, adds EOS as llama.cpp derives them."""
    model, pre = _str(header, "tokenizer.ggml.model"), _str(header, "tokenizer.ggml.pre")
    kind, bos, eos, add_bos, add_eos = TOKENIZERS.get(model, (model or "none", None, None, False, False))
    if kind == "bpe":
        add_bos = add_bos or pre in PRE_ADDS_BOS
        bos = None if pre in PRE_WITHOUT_BOS else bos

    def token(key: str, default: int | None) -> int | None:
        value = header.values.get(f"tokenizer.ggml.{key}_token_id")
        return value if type(value) is int else default

    def flag(key: str, default: bool) -> bool:
        value = header.values.get(f"tokenizer.ggml.add_{key}_token")
        return value if isinstance(value, bool) else default

    gemma4 = model == "gemma4"  # llama.cpp adds BOS there whatever the file says
    return kind, token("bos", bos), token("eos", eos), gemma4 or flag("bos", add_bos), flag("eos", add_eos)


def _kind(header: Header, arch: str, tensors: list[TensorInfo]) -> Kind:
    declared = _str(header, "general.type").lower()
    if declared == "adapter" or "adapter.type" in header.values:
        return "adapter"
    if declared == "mmproj" or arch in ("clip", "mmproj"):
        return "mmproj"
    if declared == "imatrix" or arch in ("imatrix", "controlvector"):
        return "other"
    if _HEAD_ARCHITECTURE.search(arch.lower()) or _is_head(header, arch, tensors):
        return "draft_head"
    if declared == "vocab" or (not tensors and _int(header, "split.count") <= 1):
        return "vocab_only"
    return "model"


def _is_head(header: Header, arch: str, tensors: list[TensorInfo]) -> bool:
    """True for prediction heads shipped alone; a whole model may carry such heads beside all its own blocks."""
    blocks: set[int] = set()
    heads: set[int] = set()
    for tensor in tensors:
        if _HEAD_TENSOR.match(tensor.name):
            return True
        if match := _BLOCK.match(tensor.name):
            blocks.add(int(match[1]))
            if match[2].startswith("nextn."):
                heads.add(int(match[1]))
    if not heads or _int(header, "split.count") > 1:
        return False
    n_heads = _int(header, f"{arch}.nextn_predict_layers") or len(heads)
    own_blocks = max(_int(header, f"{arch}.block_count") - n_heads, 1)
    return len(blocks - heads) < own_blocks


def unfit_kind(facts: GgufFacts) -> EngineError | None:
    """Why a file of this kind cannot be loaded as a model of its own; None when it can."""
    what = {
        "mmproj": "a vision or audio projector (mmproj), which only works beside its own model",
        "adapter": "an adapter (LoRA), which only works on top of its own model",
        "draft_head": "a prediction head (MTP, EAGLE or DFlash), which only works inside its own target",
        "vocab_only": "a vocabulary without weights",
        "other": "an auxiliary file (importance matrix or control vector), not a model",
    }.get(facts.kind)
    if what is None:
        return None
    file = facts.files[0].name
    return EngineError(
        ErrorCode.MODEL_UNSUPPORTED,
        f"{file} is {what}; choose an ordinary model file.",
        {"file": file, "kind": facts.kind, "architecture": facts.architecture},
    )
