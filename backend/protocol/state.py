"""What the worker tells about itself: models, devices, costs; and what its draft would have guessed."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from backend.equations import between
from backend.protocol.request import Speculation

ONLY_SINGLE = "here only one-token passes give plain decoding's text to the bit"
"""A strict target's ``truncate_note`` where nothing larger is exact."""
Phase = Literal["idle", "loading", "ready", "reading", "generating", "failed"]


class DeviceInfo(BaseModel):
    """One compute device as the engine's own library sees it. Bytes."""

    name: str
    description: str
    kind: Literal["cpu", "gpu", "igpu", "accel"]
    free: int
    total: int


class ModelInfo(BaseModel):
    """A loaded model: what the window shows and what the engine may do with it."""

    id: str
    name: str
    file: str
    """File name, without folders."""
    architecture: str
    quant: str
    n_params: int
    size: int
    n_vocab: int
    n_ctx_train: int
    n_ctx: int
    n_layer: int
    gpu_layers: int
    streamed: int = 0
    """Bytes of its weights that every pass reads from disk."""
    tokenizer: str
    can_truncate: bool
    truncate_note: str = ""
    """Why drafts are limited in length or impossible on this target; empty when they are not."""
    snapshot_memory: int = 0
    """Bytes set aside for rolling a recurrent state back, where the context lies."""
    template_variables: list[str] = []
    """Variables that the chat template reads, beside the standard ones (``enable_thinking``, …)."""
    has_template: bool = True
    template_note: str = ""
    """What a person should know about how the prompt is made; empty when there is nothing."""


class CostTable(BaseModel):
    """Measured pass costs in ms; ``measured`` lists the batch sizes that were measured, not interpolated."""

    target: dict[int, float] = {}
    prompt: dict[int, float] = {}
    """The prompt that the target read last, of those that tell: its tokens, and what they took."""
    draft_step: float | None = None
    draft_prompt_per_token: float | None = None
    measured: list[int] = []

    def at(self, n: int) -> float:
        """A pass of the target over ``n`` tokens, interpolated where it was not measured."""
        return between(self.target, sorted(self.target), n)


class Judged(BaseModel):
    """``POST /x/judge``: what the loaded draft would have guessed of a reply. ``ms`` is the time it took to read it."""

    draft: str
    hits: str
    """A character a token of the reply: 1 where it is the draft's first choice."""
    copies: list[int] = []
    """For each token of the reply, how many from it on a copy from the text before it would have got right."""
    ms: float


class State(BaseModel):
    """``GET /x/state``: everything the window shows about the worker."""

    phase: Phase = "idle"
    detail: str = ""
    target: ModelInfo | None = None
    draft: ModelInfo | None = None
    draft_note: str = ""
    """Why no draft model is in use although one was asked for."""
    draft_copy: str = ""
    """With ``cheaper_draft``, one line: whether a cheaper copy of the draft is made, tried or used, and why."""
    draft_copy_busy: bool = False
    """Whether that is yet to be settled."""
    speculation: Speculation = Speculation()
    why: str = ""
    """One line from counters: what speculation is doing and why."""
    cost: CostTable | None = None
    context_used: int = 0
    memory: int = 0
    """Bytes of main memory that the worker holds and the system cannot drop: anonymous and locked."""
    memory_total: int = 0
    devices: list[DeviceInfo] = []
    engine: str = ""
    """llama.cpp build, back end and CPU features, one line."""
    threads: int = 0
    exact_rows: int | None = None
    """In strict mode, the largest pass that gives the bits of one-token passes; None = not strict."""
    version: str = ""
    queue: int = 0
