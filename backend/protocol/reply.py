"""What the engine emits for a reply, many times a second: progress, text, counters, rounds; and two compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Origin = Literal["accepted", "correction", "bonus", "plain"]
Side = Literal["plain", "speculation"]
Outcome = Literal["plain", "correction", "bonus", "cut"]
"""How a round ended; ``cut`` = the reply finished inside the accepted prefix."""


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
