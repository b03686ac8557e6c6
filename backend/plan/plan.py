"""The plans for a pair on a machine, priced by Eq. (2): no draft, draft on a card, draft in main memory.

A draft is placed first and whole, as it is read several times a round. Then each card takes as many of the target's
layers as fit beside their caches, and main memory the rest; what does not fit there is read from disk in every pass.
Of a mixture of experts a pass reads those that its tokens choose, and all of them take room.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from backend.equations import LONGEST, SLICE, expected_tokens, ms_per_token
from backend.plan.from_disk import read_and_left_out
from backend.plan.machine import Machine, Place
from backend.plan.needs import Needs

Where = Literal["none", "gpu", "memory"]
_BESIDE_STREAM = 64 << 20
"""Bytes of main memory left to everything else where weights do not fit: programs' code is read from files too."""
WORKER = 16 << 20
"""Bytes by which the worker's own memory, Python's most of all, grows with a load and the first long reply."""
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
    """Whether flash attention is used where all lies in main memory."""
    draft_flash: bool = False
    card_flash: bool = True
    """Whether it is where layers lie on a card."""
    card_draft_flash: bool = True
    n_batch: int = 512
    draft_batch: int = SLICE
    rows: int = 64
    draft_rows: int = 32
    mapped: bool = True
    """Whether weights in main memory are mapped from their files; the draft of a streamed target never is."""
    acceptance: float = TYPICAL_ACCEPTANCE


@dataclass(slots=True)
class Plan:
    """One way to place the pair.

    Attributes:
        where: the draft lies.
        gpu_layers: of the target, the output counting as one more (llama.cpp's ``n_gpu_layers``).
        split: the same by card.
        experts_in_memory: of so many layers, the first ones, the experts lie in main memory though a card has the rest.
        taken: bytes by place.
        streamed: bytes of the target that do not fit into memory.
        from_disk: bytes that every pass reads from disk: those, and what takes turns with them in memory.
        plain_ms: milliseconds a token without the draft.
        k: best draft length; 0 where the draft does not pay.
        ms: milliseconds a token at ``k``.
    """

    where: Where
    gpu_layers: int = 0
    split: tuple[int, ...] = ()
    experts_in_memory: int = 0
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


def target_buffers(request: Request, *, flash: bool) -> int:
    """What the target computes in where layers of it lie in main memory."""
    target, kind = request.target, request.kv_type
    return target.compute_here(request.n_ctx, request.n_batch, request.rows, kind, flash=flash)


def draft_beside(draft: Needs, request: Request) -> int:
    """What a draft in main memory needs beside its weights: tables, cache and buffers."""
    kind, flash = request.draft_kv_type, request.draft_flash
    buffers = draft.compute_here(request.n_ctx, request.draft_batch, request.draft_rows, kind, flash=flash)
    return draft.tables + draft.kv(request.n_ctx, kind) + buffers


def _place_draft(request: Request, machine: Machine, where: Where, free: dict[str, int]) -> Place | None:
    """The place that takes the whole draft; None where none does."""
    draft = request.draft
    assert draft is not None
    ram = machine.memory.name
    if where == "gpu":  # the embedding stays in main memory
        left = free[ram] - draft.tables - (0 if request.mapped else draft.embedding)
        card = card_for_draft(draft, request, free, machine.gpus)
        if card is None or left < 0:
            return None
        free[ram] = left
        free[card.name] -= _on_card(draft, request)
        return card
    need = draft.resident(mapped=request.mapped) + draft_beside(draft, request)
    if free[ram] < need:
        return None
    free[ram] -= need
    return machine.memory


def card_for_draft(draft: Needs, request: Request, free: Mapping[str, int], places: Sequence[Place]) -> Place | None:
    """The first card that takes the whole draft; None where none does.

    The first, not the emptiest: so it is the same one before the target lies on the cards and after.

    Args:
        draft: what it needs.
        request: how its context is made.
        free: bytes that a plan may take, by card.
        places: the cards.
    """
    need = _on_card(draft, request)
    return next((place for place in places if free[place.name] >= need), None)


def _on_card(draft: Needs, request: Request) -> int:
    cache = draft.kv(request.n_ctx, request.draft_kv_type)
    buffers = draft.compute(request.n_ctx, request.draft_batch, request.draft_rows, flash=request.card_draft_flash)
    return draft.resident(mapped=True) + cache + buffers


class _Read(NamedTuple):
    """Bytes of weights that lie somewhere and are read in passes: of experts, a share."""

    dense: int = 0
    experts: int = 0


class _Share(NamedTuple):
    """What one card takes of the target: layers (the output counting as one), bytes, and what is read of them."""

    layers: int
    taken: int
    read: _Read


def _fill_cards(request: Request, machine: Machine, free: dict[str, int], plan: Plan) -> dict[str, _Read]:
    """The target's layers from the last one down, as llama.cpp offloads them; what is read on each card.

    On one card, the one with most room, where it takes all. Of a mixture of experts, experts of the first layers stay
    in main memory before any layer does: they are most of the bytes, and a token reads few of them.
    """
    n, by_room = len(request.target.layers), sorted(machine.gpus, key=lambda card: -free[card.name])
    choices = [*((card,) for card in by_room[:1]), machine.gpus]
    most = n if request.target.experts else 0  # the fewest are sought by halves: sparing more makes more room
    plan.experts_in_memory = bisect_left(
        range(most), True, key=lambda spared: _best_shares(request, choices, free, spared)[1]
    )
    shares, _ = _best_shares(request, choices, free, plan.experts_in_memory)
    plan.split = tuple(shares[card.name].layers if card.name in shares else 0 for card in machine.gpus)
    plan.gpu_layers = sum(plan.split)
    if not plan.gpu_layers:
        plan.experts_in_memory = 0
    for name, share in shares.items():
        free[name] -= share.taken
    return {name: share.read for name, share in shares.items()}


def _best_shares(
    request: Request, choices: Sequence[Sequence[Place]], free: Mapping[str, int], spared: int
) -> tuple[dict[str, _Share], bool]:
    """The shares on the first choice of cards that takes all, else on the last; and whether all is taken."""
    shares: dict[str, _Share] = {}
    for cards in choices:
        shares = _shares(request, cards, free, spared)
        if sum(share.layers for share in shares.values()) > len(request.target.layers):
            return shares, True
    return shares, False


def _shares(request: Request, cards: Sequence[Place], free: Mapping[str, int], spared: int) -> dict[str, _Share]:
    """What each card takes: the last one the output and the last layers. The first ``spared`` go without experts."""
    target = request.target
    buffers = target.compute(request.n_ctx, request.n_batch, request.rows, flash=request.card_flash)
    cache = _cache(request)
    parts = [(target.output, 0, 0)]
    for i in reversed(range(len(target.layers))):
        experts = target.experts[i] if target.experts else 0
        parts.append((target.layers[i] - experts, experts if i >= spared else 0, cache))
    found, at = {}, 0
    for card in reversed(cards):
        first, room, dense, experts = at, free[card.name] - buffers, 0, 0
        while at < len(parts) and room >= sum(parts[at]):
            room -= sum(parts[at])
            dense, experts = dense + parts[at][0], experts + parts[at][1]
            at += 1
        if at > first:
            found[card.name] = _Share(at - first, free[card.name] - room, _Read(dense, experts))
    return found


def _cache(request: Request) -> int:
    """Of one layer of the target."""
    return request.target.kv(request.n_ctx, request.kv_type) // max(1, len(request.target.layers))


def _fill_memory(
    request: Request, machine: Machine, free: dict[str, int], plan: Plan, beside_draft: bool
) -> _Read | None:
    """What the cards did not take; what is read of it, from disk too. None where more than weights would lie there."""
    target, ram = request.target, machine.memory.name
    n_layers = min(len(target.layers), len(target.layers) + 1 - plan.gpu_layers)  # the output goes to a card first
    experts = sum(target.experts[: max(n_layers, plan.experts_in_memory)])
    dense = sum(target.layers[:n_layers]) - sum(target.experts[:n_layers]) + (0 if plan.gpu_layers else target.output)
    weights = dense + experts
    caches = target.kv(request.n_ctx, request.kv_type) * n_layers // max(1, len(target.layers))
    logits = 4 * request.rows * target.n_vocab
    flash = request.card_flash if plan.gpu_layers else request.flash
    computes = n_layers or plan.experts_in_memory
    buffers = target_buffers(request, flash=flash) if computes else logits
    held = caches + buffers + target.tables + WORKER
    if not request.mapped:
        held += target.embedding - (0 if plan.gpu_layers else target.shared - target.again)
    if weights + held > free[ram] and beside_draft and request.draft is not None:  # it is read into memory then
        held += request.draft.resident(mapped=False) - request.draft.resident(mapped=request.mapped)
    if weights + held > free[ram]:
        plan.streamed = weights + held - max(0, free[ram] - _BESIDE_STREAM)
    if plan.streamed > weights:
        return None
    plan.from_disk, left_out = read_and_left_out(target, n_layers, plan.streamed, weights)
    free[ram] -= weights + held - left_out
    return _Read(dense, experts)


def _price(
    request: Request,
    machine: Machine,
    plan: Plan,
    on_cards: Mapping[str, _Read],
    in_memory: _Read,
    draft_at: Place | None,
) -> None:
    """Eq. (2) with what each place reads for a pass, and what each further token of it adds there.

    Layers that come from disk are read whole, with all their experts.
    """
    target, from_disk = request.target, plan.from_disk / machine.disk.rate
    held = 1 - plan.from_disk / max(1, sum(in_memory))
    parts = [(card, on_cards.get(card.name, _Read())) for card in machine.gpus]
    parts.append((machine.memory, _Read(round(held * in_memory.dense), round(held * in_memory.experts))))

    def t_pass(n: int) -> float:
        ms = from_disk
        for place, read in parts:
            single = read.dense + target.used * read.experts
            reading = read.dense + target.touched(n) * read.experts
            ms += (reading + (place.times(n) - 1) * single) / place.rate
        return ms

    plan.plain_ms = plan.ms = t_pass(1)
    if draft_at is None or request.draft is None:
        return
    step = request.draft.read / draft_at.rate
    for k in range(1, LONGEST + 1):
        ms = ms_per_token(t_pass(k + 1), k, step, expected_tokens(request.acceptance, k))
        if ms < plan.ms:
            plan.k, plan.ms = k, ms
