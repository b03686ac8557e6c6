"""What a round costs beside the models: wall time of generation minus the time inside llama_decode.

The wall is the client's, from the first text to the end of the reply: so it counts everything that happens between two
rounds too (sampling, verifying, the policy, text, counters, events), and the way over the socket once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from backend.bench.runner import new_job, reply_request
from backend.bench.workloads import Prompt
from backend.client import EngineClient
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, Sampling, Speculation

BAR_MS = 1.0
"""A round may cost the host this much: greedy, four draft tokens, a vocabulary of 152 thousand."""
SAMPLED_MS = 2.0
"""The same at a temperature."""
UNFILTERED_MS = 3.0
"""The same where no filter leaves tokens out, so that each is weighed."""


@dataclass(frozen=True, slots=True)
class HostCost:
    """The host's part of one reply. Milliseconds."""

    prompt_id: str
    rounds: int
    tokens: int
    wall_ms: float
    decode_ms: float
    engine_ms: float
    """The part of the wall that the engine's own clock saw: its rounds, without what lies between them."""

    @property
    def per_round(self) -> float:
        """Wall minus decoding, per round."""
        return (self.wall_ms - self.decode_ms) / max(1, self.rounds)

    @property
    def in_rounds(self) -> float:
        """The same inside the rounds alone."""
        return (self.engine_ms - self.decode_ms) / max(1, self.rounds)


async def measure(
    client: EngineClient, prompts: Sequence[Prompt], *, max_tokens: int, length: int, sampling: Sampling
) -> list[HostCost]:
    """One reply a prompt with drafts of fixed length, measured one after another from empty contexts."""
    speculation = Speculation(source="draft", length=length)
    return [await _one(client, prompt, max_tokens, speculation, sampling) for prompt in prompts]


def bar_ms(sampling: Sampling) -> float:
    """How much a round may cost then."""
    if sampling.temperature == 0:
        return BAR_MS
    return SAMPLED_MS if sampling.top_k or sampling.top_p < 1 or sampling.min_p else UNFILTERED_MS


def mean(costs: Sequence[HostCost]) -> float:
    """Milliseconds a round, over all replies: by the client's wall or by the engine's clock, whichever is more.

    The client learns of the first text and of the end a little late, so its wall is uncertain by a few milliseconds a
    reply; the engine's clock is exact but does not see what lies between two rounds.
    """
    rounds = max(1, sum(cost.rounds for cost in costs))
    wall = sum(cost.wall_ms - cost.decode_ms for cost in costs)
    engine = sum(cost.engine_ms - cost.decode_ms for cost in costs)
    return max(wall, engine) / rounds


async def _one(
    client: EngineClient, prompt: Prompt, max_tokens: int, speculation: Speculation, sampling: Sampling
) -> HostCost:
    request = reply_request(prompt, sampling, max_tokens, True, speculation)
    began = None
    async for event in client.reply(request, new_job()):
        if isinstance(event, Delta) and began is None:
            began = time.perf_counter()
            skipped = event.timings  # rounds that were merged into the first message
        elif isinstance(event, Finished) and began is not None:
            if event.reason == "cancelled":
                raise EngineError(ErrorCode.CANCELLED, "Stopped.")
            t = event.timings
            return HostCost(
                prompt_id=prompt.id,
                rounds=t.passes - skipped.passes,
                tokens=t.predicted_n,
                wall_ms=1e3 * (time.perf_counter() - began),
                decode_ms=t.decode_ms - skipped.decode_ms,
                engine_ms=t.predicted_ms + t.draft_prompt_ms - skipped.predicted_ms - skipped.draft_prompt_ms,
            )
    raise EngineError(ErrorCode.WORKER_GONE, f"The reply to {prompt.id} ended too early.")
