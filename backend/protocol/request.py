"""What is asked of the engine: a reply, how its tokens are chosen, and how it is speculated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from backend.protocol.strict import Strict


class Speculation(Strict):
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


class Sampling(Strict):
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


class ReplyRequest(Strict):
    """What the engine needs for one reply; the server builds it from an OpenAI-shaped body."""

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """None = until the end of generation or of the context."""
    stop: tuple[str, ...] = ()
    template_kwargs: dict[str, Any] = Field(default_factory=dict)
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
