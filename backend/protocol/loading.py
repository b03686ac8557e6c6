"""What is loaded and how: bodies of ``/x/models/load`` and ``/x/draft``, and a load's progress."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from backend.protocol.strict import Strict

ContextSize = Annotated[int, Field(ge=64, le=4_194_304)]
Layers = Annotated[int, Field(ge=0)]


class LoadOptions(Strict):
    """How to put a pair into memory. None = decided from the machine and the model."""

    n_ctx: ContextSize | None = None
    gpu_layers: Layers | None = None
    draft_gpu_layers: Layers | None = None
    threads: Annotated[int, Field(ge=1, le=1024)] | None = None
    kv_type: Literal["f16", "q8_0", "q4_0", "bf16", "f32"] = "f16"
    draft_kv_type: Literal["f16", "q8_0", "q4_0", "bf16", "f32"] = "f16"
    flash_attention: Literal["auto", "on", "off"] = "auto"
    use_mmap: bool = True
    use_mlock: bool = False
    batch: Annotated[int, Field(ge=32, le=4096)] = 512
    """Prompt tokens per prefill slice."""
    snapshots: Annotated[int, Field(ge=0, le=48)] | None = None
    """Tokens by which a recurrent state can be rolled back, where the engine can at all; each takes as much as it."""
    strict: bool | None = None
    """Texts are plain decoding's by construction: only passes whose every bit is that of one-token passes are used."""
    streamed: Annotated[int, Field(ge=0)] = 0
    """Bytes of the target's weights that do not fit into memory and are read from its file in every pass; its draft is
    then held in memory. Set by the plan where that is so and a person insists."""
    gpu_split: tuple[Layers, ...] | None = None
    """How many of ``gpu_layers`` each graphics card takes, in the engine's order. Set by the plan where there are
    several."""
    draft_gpu: Annotated[int, Field(ge=0, le=255)] | None = None
    """The graphics card that holds the draft. Set by the plan likewise."""
    experts_in_memory: Annotated[int, Field(ge=0, le=4096)] = 0
    """Of so many layers, the first ones, the experts stay in main memory though a card has the rest. Set by the plan
    likewise."""
    cheaper_draft: bool = False
    """Make a cheaper copy of the draft while nothing else is to do, and use it where it is measured to pay."""


class LoadRequest(Strict):
    """``POST /x/models/load``: ids from the library, never paths."""

    target: str
    draft: str | None = None
    options: LoadOptions = LoadOptions()
    anyway: bool = False
    """Also where it does not fit into the memory that is free: what is missing is read from disk for every token."""
    settle: bool = False
    """Find out before the load ends what is otherwise found out while nobody asks for anything: whether exact texts
    cost little on this target. It takes up to 20 seconds, once for a file, build and setting."""


class DraftRequest(Strict):
    """``POST /x/draft``: swap the draft, leaving the target loaded. ``draft`` None unloads it."""

    draft: str | None = None


class LoadProgress(BaseModel):
    """One SSE message of a load: ``fraction`` of ``phase`` (0 to 1)."""

    phase: Literal["target", "draft", "probe", "stream", "exact", "measure"]
    fraction: float
