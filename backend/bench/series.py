"""A benchmark of the pair that is loaded: what is to be measured, and the measuring from the warm-up on."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.bench.modes import parse_modes
from backend.bench.runner import OwnMode, Run, measure, schedule, warm_up
from backend.bench.workloads import Prompt
from backend.client import EngineClient
from backend.protocol import Sampling


class Turn(NamedTuple):
    """One reply that is to be measured."""

    repeat: int
    """From 0 on."""
    prompt: Prompt
    mode: str


@dataclass(frozen=True, slots=True)
class Series:
    """Every mode answers every prompt, greedily, so many times.

    Args:
        prompts: at least one.
        modes: names as ``tandem bench --modes`` takes them.
        max_tokens: of a reply, at least 2.
        repeats: rounds over all prompts.
        source: what the prompts are called in the report.
    """

    prompts: tuple[Prompt, ...]
    modes: tuple[str, ...]
    max_tokens: int
    repeats: int = 1
    source: str = ""

    def turns(self) -> list[Turn]:
        """All replies in the order of measuring."""
        return [
            Turn(n, prompt, mode)
            for n, _, prompt, modes in schedule(self.prompts, self.modes, self.repeats)
            for mode in modes
        ]

    def options(self) -> dict[str, Any]:
        """For the record, under the names that ``tandem bench`` gives them."""
        return {
            "prompts": self.source,
            "max_tokens": self.max_tokens,
            "modes": ",".join(self.modes),
            "repeats": self.repeats,
            "temperature": 0.0,
            "seed": 0,
        }


async def measured(client: EngineClient, series: Series) -> AsyncIterator[Run | None]:
    """Warm up, which ends with None, then every run.

    To stop, cancel the task: the engine stops when the connection closes. What an earlier series of the same engine
    taught is not used.

    Raises:
        EngineError: BAD_REQUEST for a mode that is wrong; what a reply raises, with mode and prompt named.
    """
    has_draft = (await client.state()).draft is not None
    modes = parse_modes(",".join(series.modes), has_draft=has_draft)
    name = f"{uuid.uuid4().hex[:12]} "
    own = [OwnMode(client, mode, series.max_tokens, series=name) for mode in modes]
    sampling = Sampling(temperature=0.0, seed=0)
    for one in own:
        await warm_up(client, series.prompts[0], sampling, one.mode.speculation)
    yield None
    async for run in measure(series.prompts, own, series.repeats, sampling):
        yield run
