"""Sampling presets and system prompts: named, referred to by an id, so that a change shows wherever they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from backend.protocol import MinP, RepeatLastN, RepeatPenalty, Sampling, Seed, Temperature, TopK, TopP
from desktop.language import marked, tr

RECOMMENDED = "recommended"
"""In place of a preset's id: what the answering model's publisher recommends, else :data:`USUAL`."""
USUAL = "balanced"
T = TypeVar("T", bound="Entry")


class Entry(BaseModel):
    """Something under a name. Fields of a newer version are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")
    name: str


def named(shipped: Mapping[str, T]) -> dict[str, T]:
    """What is shipped, under its names in the reader's language."""
    return {number: entry.model_copy(update={"name": tr(entry.name)}) for number, entry in shipped.items()}


class Preset(Entry):
    """Values of the sampler chain; a seed is a chat's own affair."""

    sampling: Sampling = Sampling()


class Prompt(Entry):
    """A system prompt."""

    text: str = ""


class OwnSampling(BaseModel):
    """What a chat has of its own; None = as its preset (a seed: a fresh one for every reply).

    Fields of a newer version are kept as they are.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    temperature: Temperature | None = None
    top_k: TopK | None = None
    top_p: TopP | None = None
    min_p: MinP | None = None
    repeat_penalty: RepeatPenalty | None = None
    repeat_last_n: RepeatLastN | None = None
    seed: Seed | None = None

    def over(self, preset: Sampling) -> Sampling:
        """The preset's values, but for these."""
        own = self.model_dump(include=set(Sampling.model_fields), exclude_none=True)
        return Sampling.model_validate(preset.model_dump() | {"seed": None} | own)


SHIPPED = {
    "greedy": Preset(
        name=marked("Greedy"),
        sampling=Sampling(temperature=0, top_k=0, top_p=1, min_p=0, repeat_penalty=1, repeat_last_n=64),
    ),
    "balanced": Preset(name=marked("Balanced"), sampling=Sampling(temperature=0.7, top_k=20, top_p=0.8)),
    "creative": Preset(name=marked("Creative"), sampling=Sampling(temperature=1.0, top_k=64, top_p=0.95)),
}
SAYS = {
    "greedy": marked("Always the likeliest token, and no other part of the chain is on: the same text every time."),
    "balanced": marked(
        "From the Qwen3 model card, for answers without thinking; Qwen2.5's configuration has the same three."
    ),
    "creative": marked("From Gemma 3's published generation configuration: the model's own odds, rare words left out."),
}
"""What each of the shipped ones is, and where its values are from."""

_WRITTEN_OUT = {"temperature": 0.7, "top_k": 40, "top_p": 0.95, "min_p": 0.0, "repeat_penalty": 1.0}
"""What every chat had in full before there were presets."""


def without_defaults(sampling: Any) -> Any:
    """A chat's values from before there were presets: those that nobody chose are left to the preset."""
    if not isinstance(sampling, dict) or not _WRITTEN_OUT.keys() <= sampling.keys():
        return sampling
    usual = _WRITTEN_OUT | {"repeat_last_n": 64}
    return {name: value for name, value in sampling.items() if name not in usual or value != usual[name]}
