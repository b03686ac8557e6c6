"""The plans for a pair on a machine, priced by Eq. (2): no draft, draft on a card, draft in main memory.

A draft is placed first and whole, as it is read several times a round. Then each card takes as many of the target's
layers as fit beside their caches, and main memory the rest; what does not fit there is read from disk in every pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from backend.equations import LONGEST, expected_tokens, ms_per_token
from backend.plan.machine import Machine, Place
from backend.plan.needs import Needs

Where = Literal["none", "gpu", "memory"]
_BESIDE_STREAM = 64 << 20
"""Bytes of main memory left to everything else where weights do not fit: programs' code is read from files too."""
TURNS = 3
"""Layers from disk that are in memory at once."""
TYPICAL_ACCEPTANCE = 0.75
"""Of a draft of the same family, where nothing was measured."""


@dataclass(frozen=True)
class Request:
    """What is to be placed, and how its contexts are made (see ``protocol.LoadOptions``)."""

    target: Needs
    draft: Needs | None
    n_ctx: int
    kv_type: str = "f16"
    draft_kv_type: str = "f16"
    flash: bool = False
    """Whether flash attention is used in main memory too (on a card it is)."""
    draft_flash: bool = False
    n_batch: int = 512
    rows: int = 64
    draft_rows: int = 16
    mapped: bool = True
    """Whether weights in main memory are mapped from their files; the draft of a streamed target never is."""
    acceptance: float = TYPICAL_ACCEPTANCE


@dataclass(slots=True)
class Plan:
    """One way to place the pair.

    Attributes:
        where: the draft lies.
        gpu_layers: of the target, the output counting as one more (llama.cpp's ``n_gpu_layers``).
        taken: bytes by place.
        streamed: bytes of the target that do not fit into memory.
        from_disk: bytes that every pass reads from disk: those, and what takes turns with them in memory.
        plain_ms: milliseconds a token without the draft.
        k: best draft length; 0 where the draft does not pay.
        ms: milliseconds a token at ``k``.
    """

    where: Where
    gpu_layers: int = 0
    taken: dict[str, int] = field(default_factory=dict)
    streamed: int = 0
    from_disk: int = 0
    plain_ms: float = 0.0
    k: int = 0
    ms: float = 0.0


def plans(request: Request, machine: Machine) -> list[Plan]:
    """All that are possible, the quickest first; of equals the one without a draft."""
    wheres: tuple[Where, ...] = ("none", "gpu", "memory") if request.draft is not None else ("none",)
    found = [_placed(request, machine, where) for where in wheres]
    return sorted((plan for plan in found if plan is not None), key=lambda plan: plan.ms)


def _placed(request: Request, machine: Machine, where: Where) -> Plan | None:
    """The plan with the draft there; None where it does not fit, or the target's caches and buffers do not."""
    free = {place.name: place.usable for place in (*machine.gpus, machine.memory)}
    plan = Plan(where)
    draft_at: Place | None = None
    if request.draft is not None and where != "none":
        draft_at = _place_draft(request, machine, where, free)
        if draft_at is None:
            return None
    on_cards = _fill_cards(request, machine, free, plan)
    read = _fill_memory(request, machine, free, plan, draft_at is machine.memory)
    if read is None:
        return None
    plan.taken = {place.name: place.usable - free[place.name] for place in (*machine.gpus, machine.memory)}
    _price(request, machine, plan, on_cards, read, draft_at)
    return plan


def draft_beside(draft: Needs, request: Request, *, flash: bool) -> int:
    """What a draft needs beside its weights: cache and buffer."""
    cache = draft.kv(request.n_ctx, request.draft_kv_type)
    return cache + draft.compute(request.n_ctx, request.n_batch, request.draft_rows, flash=flash)


def _place_draft(request: Request, machine: Machine, where: Where, free: dict[str, int]) -> Place | None:
    """The place that takes the whole draft; None where none does."""
    draft = request.draft
    assert draft is not None
    flash = where == "gpu"
    need = draft_beside(draft, request, flash=flash or request.draft_flash)
    left = free[machine.memory.name] - draft.tables
    if flash:  # the embedding stays in main memory
        need += draft.read
        if (left := left - (0 if request.mapped else draft.embedding)) < 0:
            return None
    else:
        need += draft.resident(mapped=request.mapped) + draft.tables
    for place in machine.gpus if flash else (machine.memory,):
        if free[place.name] >= need:
            free[place.name] -= need
            if flash:
                free[machine.memory.name] = left
            return place
    return None


def _fill_cards(request: Request, machine: Machine, free: dict[str, int], plan: Plan) -> dict[str, int]:
    """The target's layers from the last one down, as llama.cpp offloads them; bytes read a token on each card."""
    target = request.target
    cache = target.kv(request.n_ctx, request.kv_type) // max(1, len(target.layers))
    buffers = target.compute(request.n_ctx, request.n_batch, request.rows, flash=True)
    parts = [target.output, *(weights + cache for weights in reversed(target.layers))]
    read = {card.name: 0 for card in machine.gpus}
    for card in machine.gpus:
        if plan.gpu_layers == len(parts) or free[card.name] < buffers + parts[plan.gpu_layers]:
            continue
        free[card.name] -= buffers
        while plan.gpu_layers < len(parts) and free[card.name] >= parts[plan.gpu_layers]:
            free[card.name] -= parts[plan.gpu_layers]
            read[card.name] += parts[plan.gpu_layers] - (cache if plan.gpu_layers else 0)
            plan.gpu_layers += 1
    return read


def _fill_memory(
    request: Request, machine: Machine, free: dict[str, int], plan: Plan, beside_draft: bool
) -> int | None:
    """What the cards did not take; bytes read a token, from disk too. None where more than weights would lie there."""
    target, ram = request.target, machine.memory.name
    n_layers = min(len(target.layers), len(target.layers) + 1 - plan.gpu_layers)  # the output goes to a card first
    weights = sum(target.layers[:n_layers]) + (0 if plan.gpu_layers else target.output)
    caches = target.kv(request.n_ctx, request.kv_type) * n_layers // max(1, len(target.layers))
    logits = 4 * request.rows * target.n_vocab
    flash = request.flash or plan.gpu_layers > 0
    buffers = target.compute(request.n_ctx, request.n_batch, request.rows, flash=flash) if n_layers else logits
    held = caches + buffers + target.tables
    if not request.mapped:
        held += target.embedding - (0 if plan.gpu_layers else target.shared)
    if weights + held > free[ram] and beside_draft and request.draft is not None:  # it is read into memory then
        held += request.draft.weights - request.draft.resident(mapped=request.mapped)
    if weights + held > free[ram]:
        plan.streamed = weights + held - max(0, free[ram] - _BESIDE_STREAM)
        plan.from_disk = min(weights, plan.streamed + TURNS * max(target.layers))
    if plan.streamed > weights:
        return None
    free[ram] -= weights + held - plan.streamed
    return weights


def _price(
    request: Request, machine: Machine, plan: Plan, on_cards: dict[str, int], read: int, draft_at: Place | None
) -> None:
    """Eq. (2) with what each place reads of one token, and what each further token of a pass adds there."""
    parts = [(card, on_cards[card.name] / card.rate) for card in machine.gpus]
    parts.append((machine.memory, (read - plan.from_disk) / machine.memory.rate))
    parts.append((machine.disk, plan.from_disk / machine.disk.rate))
    plan.plain_ms = plan.ms = sum(ms for _, ms in parts)
    if draft_at is None or request.draft is None:
        return
    step = request.draft.read / draft_at.rate
    for k in range(1, LONGEST + 1):
        t_pass = sum(ms * place.times(k + 1) for place, ms in parts)
        ms = ms_per_token(t_pass, k, step, expected_tokens(request.acceptance, k))
        if ms < plan.ms:
            plan.k, plan.ms = k, ms
