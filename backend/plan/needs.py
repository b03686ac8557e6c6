"""What a model takes in memory, by what it is for (design §5).

Weights come from the tensor table of a file that is here, else from the catalogue's size and shape. The KV cache is
exact where all layers are alike; the compute buffer and what a vocabulary takes follow what llama.cpp was seen to
allocate (``make bench ARGS=memory`` compares). Of other files the engine itself is asked (``engine.sizes``). Weights
that are mapped from their file count as far as every token reads them.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from backend.library.catalogue import Shape
from backend.library.gguf import GgufFacts
from backend.library.library import LibraryModel
from backend.text import shown_name

_BLOCK = re.compile(r"blk\.(\d+)\.(.*)")
_KEYS = ("attn_k.", "attn_qkv.", "attn_kv")
"""What only layers with attention have: of a hybrid model a part."""
_EXPERTS = re.compile(r"ffn_(up|down|gate|gate_up)_(ch)?exps\.")
_SURE = ("llama", "qwen2", "qwen3", "gemma3")
"""Architectures for which tests hold the formulas against the engine's own sizes."""
_ARM = {"Q5_K", "Q6_K", "Q8_0"} if platform.machine().lower() in ("arm64", "aarch64") else set[str]()
_REPACKED = {"Q4_0", "Q4_K", "Q2_K", "IQ4_NL", "MXFP4", *_ARM}
"""Types of which llama.cpp keeps matrices in main memory in an order of its own (ggml-cpu/repack.cpp)."""
_KV_BYTES = {"f32": 4.0, "f16": 2.0, "bf16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
_SCORES = 256 << 20
_LEAST = 64
"""Tokens that are computed at once whatever they take: the most of one verification pass."""
_OUTPUT_QUANT = {"Q4_K_M": (4.5, 6.5625), "Q5_K_M": (5.5, 6.5625), "Q6_K": (6.5625, 6.5625), "Q8_0": (8.5, 8.5)}
"""Bits a weight of the embedding and of the output matrix, as llama-quantize makes them (llama-quant.cpp)."""
_FFN = 3.5
"""How much wider than the embedding a feed-forward network is, where that is not known."""
_TABLES = {"bpe": 320}
_OTHER_TABLES = 160
"""Bytes that a token of a vocabulary takes in llama.cpp's tables, with its merges where it has such.

Measured with only the vocabulary loaded: Qwen2.5 313, SmolLM2 340; Gemma 3 161.
"""
_TIED_BELOW = 2560
"""Width up to which published families share embedding and output matrix (Qwen3 up to 4B, Gemma, SmolLM2)."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes, but for counts.

    Attributes:
        layers: weights of each block.
        output: weights after the last block, the output matrix among them.
        embedding: tables that stay in main memory; a token reads one row of each.
        shared: bytes of ``output`` that are the embedding's: held once in main memory, once more on a card.
        again: of these, what is held once more in main memory too, as the output matrix is repacked.
        kv_width: numbers that one token adds to the cache, over all layers.
        n_ff: width of the feed-forward network.
        tables: what llama.cpp makes of the vocabulary, in main memory.
        trained: the longest context that it was trained on; 0 = not known.
        estimated: from the catalogue, the file not being here.
        sliding: whether layers look back through a sliding window.
        quant: of the weights.
        experts: the part of each block that is experts; empty where there are none.
        used: share of them that one token reads.
        state: what is held of a conversation however long it is (recurrent layers).
        fuller: the compute buffer that the engine told, as a multiple of the formula's.
        rough: caches and buffers are a guess: the formulas are not known to hold, and the engine was not asked.
    """

    name: str
    layers: tuple[int, ...]
    output: int
    embedding: int
    shared: int
    kv_width: int
    n_heads: int
    n_embd: int
    n_ff: int
    n_vocab: int
    tables: int = 0
    again: int = 0
    trained: int = 0
    estimated: bool = False
    sliding: bool = False
    quant: str = ""
    experts: tuple[int, ...] = ()
    used: float = 1.0
    state: int = 0
    fuller: float = 1.0
    rough: bool = False

    @property
    def weights(self) -> int:
        """All weights, as the file holds them."""
        return sum(self.layers) + self.embedding + self.output - self.shared

    @property
    def read(self) -> int:
        """What one token reads of them."""
        return sum(self.layers) + self.output - round((1 - self.used) * sum(self.experts))

    def touched(self, n: int) -> float:
        """Share of the experts that a pass over ``n`` tokens reads, each choosing for itself; seldom more than that."""
        return 1 - (1 - self.used) ** n

    def resident(self, *, mapped: bool) -> int:
        """Weights in main memory where all of them lie there: of a mapped embedding a token touches one row."""
        return sum(self.layers) + self.output if mapped else self.weights + self.again

    def kv(self, n_ctx: int, kv_type: str = "f16") -> int:
        """The cache of ``n_ctx`` tokens, and the state."""
        return round(n_ctx * self.kv_width * _KV_BYTES[kv_type]) + self.state

    def as_told(self, sizes: Sizes, n_ctx: int, n_batch: int, rows: int, kv_type: str, *, flash: bool) -> Needs:
        """With what the engine says of one context; it holds for others in proportion."""
        width = round(sizes.cache / (n_ctx * _KV_BYTES[kv_type]))
        guess = replace(self, kv_width=width, fuller=1.0).buffer(n_ctx, n_batch, rows, flash=flash)
        return replace(self, kv_width=width, state=sizes.state, fuller=sizes.compute / max(1, guess), rough=False)

    def compute(self, n_ctx: int, n_batch: int, rows: int, *, flash: bool) -> int:
        """The compute buffer at its fullest, and the logits that are handed out."""
        return self.buffer(n_ctx, n_batch, rows, flash=flash) + 4 * rows * self.n_vocab

    def compute_here(self, n_ctx: int, n_batch: int, rows: int, kv_type: str, *, flash: bool) -> int:
        """The same in main memory, and the processor's own: what goes into a multiplication, as 16-bit numbers.

        That is most for the feed-forward network, or for the scores without flash attention (ggml_graph_plan).
        """
        scores = 0 if flash or kv_type == "f32" else n_ctx * self.n_heads
        own = 2 * self._at_once(n_ctx, n_batch, flash=flash) * max(scores, self.n_ff)
        return self.compute(n_ctx, n_batch, rows, flash=flash) + own

    def buffer(self, n_ctx: int, n_batch: int, rows: int, *, flash: bool) -> int:
        """The compute buffer alone.

        It is fullest in attention (masks, without flash attention the scores of all heads, and what goes in and out),
        in the feed-forward network, or where logits are made.
        """
        at_once = self._at_once(n_ctx, n_batch, flash=flash)
        masks = n_ctx * (2 if self.sliding else 1) * (0.5 if flash else 1.0)
        keys = self.kv_width // max(1, len(self.layers))
        attention = 0 if flash else n_ctx * self.n_heads + 5 * self.n_embd + keys
        widest = max(attention, 3 * self.n_ff + 4 * self.n_embd)
        return round(self.fuller * max(4 * at_once * (masks + widest), 4 * rows * self.n_vocab))

    def _at_once(self, n_ctx: int, n_batch: int, *, flash: bool) -> int:
        return n_batch if flash else tokens_at_once(n_batch, n_ctx, self.n_heads)


class Sizes(NamedTuple):
    """What the engine says that a context takes, in bytes.

    Attributes:
        cache: of attention, for all tokens of the context.
        state: of recurrent layers, once.
        compute: the buffer of its computations.
    """

    cache: int
    state: int
    compute: int


def tokens_at_once(n_batch: int, n_ctx: int, n_heads: int) -> int:
    """Of ``n_batch``: without flash attention the scores of every head over the whole context are held in memory."""
    fits = _SCORES // (4 * n_ctx * max(1, n_heads)) // _LEAST * _LEAST
    return min(n_batch, max(_LEAST, fits))


def of_file(facts: GgufFacts, name: str = "") -> Needs:
    """What a file that is here needs; ``name`` for people, where it is known by another than the file's own."""
    layers, experts = [0] * facts.n_layer, [0] * facts.n_layer
    output = embedding = rows = n_ff = 0
    tied, attending, kind = True, set(), ""
    for tensor in facts.tensors():
        block = _BLOCK.match(tensor.name)
        if block and (at := int(block[1])) < len(layers):
            layers[at] += tensor.nbytes
            if block[2].startswith(_KEYS):
                attending.add(at)
            if _EXPERTS.match(block[2]):
                experts[at] += tensor.nbytes
                n_ff = max(n_ff, facts.n_expert_used * tensor.shape[:2][-1])
            if block[2] == "ffn_up.weight":
                n_ff = max(n_ff, tensor.shape[-1])
        elif tensor.name == "token_embd.weight":
            embedding += tensor.nbytes
            kind = tensor.type
        elif tensor.name.startswith("per_layer_token_embd"):
            rows += tensor.nbytes
        else:
            output += tensor.nbytes
            tied = tied and tensor.name != "output.weight"
    shared = embedding if tied else 0
    return Needs(
        f"{name or shown_name(facts.files[0].stem)}, {facts.quant}",
        tuple(layers),
        output + shared,
        embedding + rows,
        shared,
        (len(attending) or facts.n_layer) * facts.n_head_kv * (facts.head_size_k + facts.head_size_v),
        facts.n_head,
        facts.n_embd,
        n_ff or round(_FFN * facts.n_embd),
        facts.n_vocab,
        _TABLES.get(facts.vocab_type, _OTHER_TABLES) * facts.n_vocab,
        again=shared if kind in _REPACKED else 0,
        trained=facts.context_length,
        sliding=facts.sliding_window > 0,
        quant=facts.quant,
        experts=tuple(experts) if any(experts) else (),
        used=_used(facts) if any(experts) else 1.0,
        rough=facts.architecture not in _SURE or any(experts),
    )


def _used(facts: GgufFacts) -> float:
    """Share of its experts that a token reads; all, where the file does not say."""
    return facts.n_expert_used / facts.n_expert if 0 < facts.n_expert_used <= facts.n_expert else 1.0


def of_published(model: LibraryModel) -> Needs | None:
    """Of what the catalogue says; None where that is too little."""
    if model.entry is None or model.variant is None or model.variant.size is None:
        return None
    return of_catalogue(model.name, model.entry.shape, model.variant.size, model.variant.quant)


def of_model(model: LibraryModel) -> Needs | None:
    """Of its file where that is here, else of what is published; None where that is too little."""
    if model.installed and model.facts is not None:
        return of_file(model.facts, model.name)
    return of_published(model)


def of_catalogue(name: str, shape: Shape, size: int, quant: str) -> Needs | None:
    """What a published model would need; None where too little about it is known."""
    if None in (shape.layers, shape.heads, shape.kv_heads, shape.head_size, shape.embedding, shape.vocabulary):
        return None
    assert shape.layers and shape.heads and shape.kv_heads and shape.head_size and shape.embedding  # noqa: PT018
    assert shape.vocabulary
    tied = shape.embedding <= _TIED_BELOW
    bits = _OUTPUT_QUANT.get(quant.upper(), (16.0, 16.0))
    embedding, output = (round(shape.vocabulary * shape.embedding * b / 8) for b in bits)
    if tied:  # then it is quantised as an output matrix
        embedding = output
    blocks = max(0, size - embedding - (0 if tied else output))
    return Needs(
        f"{name}, {quant}",
        (blocks // shape.layers,) * shape.layers,
        output,
        embedding,
        embedding if tied else 0,
        2 * shape.layers * shape.kv_heads * shape.head_size,
        shape.heads,
        shape.embedding,
        round(_FFN * shape.embedding),
        shape.vocabulary,
        _TABLES["bpe"] * shape.vocabulary,
        estimated=True,
        sliding=bool(shape.sliding_window),
        trained=shape.context_length or 0,
        quant=quant,
    )
