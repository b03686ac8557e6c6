"""The words that worker and front ends share: request bodies, settings, and the records a reply carries.

Wire format: the OpenAI chat-completions API plus ``x_`` fields and ``/x/`` routes (docs/protocol.md). Settings and
requests are pydantic models, because they come from outside and their errors are shown to people; what the engine
emits many times a second are plain frozen dataclasses. Counters take llama-server's names where it has one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from backend.equations import between

PROTOCOL = 1
SECRET_VARIABLE = "TANDEM_SECRET"
MODELS_VARIABLE = "TANDEM_MODELS"
"""JSON object {model id: absolute path}: files named on a command line, handed to the worker by its parent."""

Origin = Literal["accepted", "correction", "bonus", "plain"]
Side = Literal["plain", "speculation"]
Outcome = Literal["plain", "correction", "bonus", "cut"]
"""How a round ended; ``cut`` = the reply finished inside the accepted prefix."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


ContextSize = Annotated[int, Field(ge=64, le=4_194_304)]
Layers = Annotated[int, Field(ge=0)]


class LoadOptions(_Strict):
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


class LoadRequest(_Strict):
    """``POST /x/models/load``: ids from the library, never paths."""

    target: str
    draft: str | None = None
    options: LoadOptions = LoadOptions()
    anyway: bool = False
    """Also where it does not fit into the memory that is free: what is missing is read from disk for every token."""
    settle: bool = False
    """Find out before the load ends what is otherwise found out while nobody asks for anything: whether exact texts
    cost little on this target. It takes up to 20 seconds, once for a file, build and setting."""


class DraftRequest(_Strict):
    """``POST /x/draft``: swap the draft, leaving the target loaded. ``draft`` None unloads it."""

    draft: str | None = None


class Speculation(_Strict):
    """Speculation settings; they take effect from the next round, also of a running reply."""

    enabled: bool = True
    source: Literal["auto", "draft", "lookup", "lookup+draft"] = "auto"
    length: Annotated[int, Field(ge=0, le=48)] | Literal["auto"] = "auto"
    rule: Literal["coupled", "rejection"] = "coupled"
    """At temperature 0 both are the greedy rule."""


_LEAST_TEMPERATURE = 1e-6
Temperature = Annotated[float, Field(ge=0, le=100)]
TopK = Annotated[int, Field(ge=0)]
TopP = Annotated[float, Field(gt=0, le=1)]
MinP = Annotated[float, Field(ge=0, le=1)]
RepeatPenalty = Annotated[float, Field(ge=0.01, le=10)]
RepeatLastN = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]


class Sampling(_Strict):
    """The sampler chain, in its order: penalties, top-k, top-p, min-p, temperature. Neutral values switch parts off."""

    temperature: Temperature = 0.7
    top_k: TopK = 40
    top_p: TopP = 0.95
    min_p: MinP = 0.0
    repeat_penalty: RepeatPenalty = 1.0
    repeat_last_n: RepeatLastN = 64
    seed: Seed | None = None
    """None = a fresh one, reported in the reply's record."""

    @field_validator("temperature")
    @classmethod
    def _greedy_when_next_to_nothing(cls, value: float) -> float:
        return 0.0 if value < _LEAST_TEMPERATURE else value  # a score divided by it would overflow


class Message(BaseModel):
    """One chat message. ``x_ids`` are the token ids a reply was made of, spliced in where the text still matches."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    role: Literal["system", "user", "assistant", "developer", "tool"]
    content: str
    reasoning_content: str | None = None
    x_ids: tuple[int, ...] | None = None
    x_tokenizer: str | None = None


class ReplyRequest(_Strict):
    """What the engine needs for one reply; the server builds it from an OpenAI-shaped body."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """None = until the end of generation or of the context."""
    stop: tuple[str, ...] = ()
    template_kwargs: dict[str, Any] = {}
    speculation: Speculation | None = None
    """None = the worker's current settings, read anew each round."""
    reuse_cache: bool = True
    """False clears both contexts first (benchmarks)."""
    probabilities: bool = False
    """Fill ``p`` of each token (costs about 0.1 ms a token with a 152k vocabulary)."""
    ignore_eos: bool = False
    """Benchmarks: never end before max_tokens."""
    learner: Annotated[str, Field(max_length=100)] = ""
    """Benchmarks: who learns from the reply, and from whose experience it is decoded; "" = the person's."""
    continue_final_message: bool = False
    """Go on where the last message, a reply's text, ends; what comes is only what is new."""

    @field_validator("stop")
    @classmethod
    def _no_empty_stop(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(s == "" for s in value):
            raise ValueError("a stop string must not be empty")
        return value

    @model_validator(mode="after")
    def _something_to_go_on_from(self) -> ReplyRequest:
        last = self.messages[-1] if self.messages else None
        if self.continue_final_message and (last is None or last.role != "assistant" or not last.content):
            raise ValueError(
                "continue_final_message needs the assistant's text, at least a letter, as the last message"
            )
        if self.continue_final_message and last is not None and last.reasoning_content:
            raise ValueError("with continue_final_message the last message's reasoning must be a part of its content")
        return self


# ---------------------------------------------------------------------------------------------------------------------
# what the engine emits


@dataclass(slots=True, frozen=True)
class TokenRecord:
    """One emitted token. The n_bytes of a chunk's tokens add up to the UTF-8 length of the chunk's text."""

    id: int
    n_bytes: int
    origin: Origin
    source: str | None
    round: int
    pos: int
    """Absolute position: index in rendered prompt + reply."""
    p: float | None = None
    """The target's probability for it under the whole sampler chain (when asked for)."""
    margin: float | None = None
    """Lead of its score over the second best (perturbed scores when sampling): what a near-tie is judged by."""


@dataclass(slots=True, frozen=True)
class RoundRecord:
    """One round: what was proposed, what the target said, what it cost."""

    round: int
    pos: int
    source: str | None
    proposed: tuple[int, ...]
    targets: tuple[int, ...]
    """The target's token at each walked position (accepted ones, then the correction or bonus)."""
    accepted: int
    outcome: Outcome
    emitted: int
    draft_ms: float
    verify_ms: float
    host_ms: float
    reason: str = ""
    """Why this length: shown when nothing was proposed."""
    p: tuple[float, ...] = ()
    """The target's probability of each of ``targets``, when asked for (of those up to the reply's end)."""


@dataclass(slots=True)
class Timings:
    """Counters and times of one reply. First block: llama-server's names. Milliseconds throughout.

    Identities (asserted by the engine): emitted + discarded = accepted + corrections + bonuses + plain;
    accepted <= verified <= proposed. request_ms is about prompt_ms + draft_prompt_ms + predicted_ms.
    """

    prompt_n: int = 0
    prompt_ms: float = 0.0
    cache_n: int = 0
    predicted_n: int = 0
    predicted_ms: float = 0.0
    """From the prompt's logits to the last token, without draft_prompt_ms; n tokens take n-1 plain passes."""
    draft_n: int = 0
    draft_n_accepted: int = 0
    # ours
    draft_prompt_n: int = 0
    draft_prompt_ms: float = 0.0
    """The draft's own reading of the prompt (after the first token, only when it is used)."""
    request_ms: float = 0.0
    passes: int = 0
    """Target decodes after the prompt's."""
    rounds_mismatch: int = 0
    proposed: int = 0
    verified: int = 0
    beside: int = 0
    """Tokens of trees that were checked too, beside the path that the text took and the likeliest behind it, which are
    counted as a chain is; in none of the other counts."""
    corrections: int = 0
    bonuses: int = 0
    plain: int = 0
    discarded: int = 0
    draft_ms: float = 0.0
    verify_ms: float = 0.0
    host_ms: float = 0.0
    decode_ms: float = 0.0
    """Time inside llama_decode after the prompt, target and draft together, the draft's own prompt included; so
    predicted_ms + draft_prompt_ms - decode_ms is all that the host adds."""
    plain_ms: float | None = None
    """Measured cost of one plain pass lately."""
    baseline_ms: float = 0.0
    """What plain decoding would have taken for predicted_ms: each plain round's own time, and for the others their
    tokens times plain_ms at that time. The speed-up's numerator: a reply without a draft has exactly 1."""
    accepted_per_position: list[int] = field(default_factory=list)
    drafted_per_position: list[int] = field(default_factory=list)
    by_source: dict[str, list[int]] = field(default_factory=dict)
    """source -> [rounds, proposed, accepted]"""

    @property
    def tokens_per_second(self) -> float | None:
        """What the person sees, cumulative: the draft's reading counts, being waited for between two tokens."""
        n, ms = self.predicted_n - 1, self.predicted_ms + self.draft_prompt_ms
        return 1e3 * n / ms if n > 0 and ms > 0 else None

    @property
    def tokens_per_pass(self) -> float | None:
        """E of Eq. (1), measured."""
        return (self.predicted_n - 1) / self.passes if self.passes else None

    @property
    def acceptance(self) -> float | None:
        """draft_n_accepted / draft_n, llama-server's figure (the status bar's "% accepted")."""
        return self.draft_n_accepted / self.draft_n if self.draft_n else None

    @property
    def alpha(self) -> float | None:
        """Acceptance rate of Eq. (1): accepted / (accepted + rounds that ended in a mismatch)."""
        n = self.draft_n_accepted + self.rounds_mismatch
        return self.draft_n_accepted / n if n else None

    @property
    def speedup(self) -> float | None:
        """Generation, the draft's reading included, against plain decoding; an estimate until Compare measures it."""
        if self.predicted_n < 2 or self.baseline_ms <= 0 or self.predicted_ms <= 0:
            return None
        return self.baseline_ms / (self.predicted_ms + self.draft_prompt_ms)


@dataclass(slots=True, frozen=True)
class PromptProgress:
    """Prefill progress of the target: ``done`` of ``total`` tokens, ``cached`` of them not read anew."""

    done: int
    total: int
    cached: int
    thinking: bool = False
    """Whether the prompt ends in an opening ``<think>``: the reply begins within it and brings its end alone."""


@dataclass(slots=True, frozen=True)
class Delta:
    """Text that is final (complete code points, past every possible stop string), with the tokens it is made of."""

    text: str
    tokens: tuple[TokenRecord, ...]
    timings: Timings
    rounds: tuple[RoundRecord, ...] = ()


ONLY_SINGLE = "here only one-token passes give plain decoding's text to the bit"
"""A strict target's ``truncate_note`` where nothing larger is exact."""

FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(slots=True, frozen=True)
class Finished:
    """The end of a reply and what is needed to store, continue and reproduce it."""

    reason: FinishReason
    timings: Timings
    seed: int
    start: int
    """Absolute position of the reply's first token."""
    ids: tuple[int, ...]
    """Token ids whose bytes are exactly the reply's text (an end-of-generation token left out)."""
    tokenizer: str
    """Hash of the vocabulary the ids belong to."""
    note: str = ""
    """Why speculation did not run, when it was asked for."""
    reliability: dict[str, tuple[tuple[int, float, int], ...]] = field(default_factory=dict)
    """Per source, by tenths of predicted acceptance: tokens judged, their predictions' sum, how many stood."""
    prefix: tuple[int, ...] = ()
    """Token ids of the text that the reply went on from (``continue_final_message``); they end before ``start``."""


ReplyEvent = PromptProgress | Delta | Finished


# ---------------------------------------------------------------------------------------------------------------------
# what the worker tells about itself

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


class LoadProgress(BaseModel):
    """One SSE message of a load: ``fraction`` of ``phase`` (0 to 1)."""

    phase: Literal["target", "draft", "probe", "stream", "exact", "measure"]
    fraction: float


@dataclass(slots=True, frozen=True)
class Difference:
    """The first place where two texts differ, and why: the target's own scores there.

    A margin is the lead of each side's token over its second best (scores perturbed by the shared noise when sampling)
    as that side's pass computed it; batched kernels round differently, so a small one is a near-tie, not an error.
    """

    index: int
    """Index in the reply's tokens."""
    plain_id: int
    plain_text: str
    other_id: int
    other_text: str
    margin_plain: float
    margin_other: float
    explanation: str


@dataclass(slots=True, frozen=True)
class Comparison:
    """Both ways from one shared prompt under one seed, run now."""

    plain: Timings
    speculation: Timings
    generation_ratio: float
    request_ratio: float
    identical: bool
    difference: Difference | None
    plain_text: str
    speculation_text: str
    seed: int
    interleaved: bool
