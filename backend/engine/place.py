"""Where a pair goes when it is loaded, by the plan: layers on cards, what is too large, and what streams from disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend.engine.cancel import CancelFlag
from backend.engine.sizes import needs_of
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts
from backend.plan.machine import Machine, cards, machine
from backend.plan.plan import WORKER, Plan, Request, card_for_draft, draft_beside, plans, target_buffers
from backend.plan.request import context_for, request_for
from backend.protocol import DeviceInfo, LoadOptions
from backend.text import shown_sizes

ALL = 999
"""llama.cpp takes as many layers as there are."""
_SHORTER = (65_536, 32_768, 16_384, 8192, 4096, 2048, 1024)
"""Contexts that are offered instead."""


def place_target(
    options: LoadOptions,
    target: GgufFacts,
    draft: GgufFacts | None,
    devices: Sequence[DeviceInfo],
    memory: int,
    *,
    anyway: bool = False,
    flag: CancelFlag | None = None,
) -> LoadOptions:
    """The options with the target's layers filled in, where they are left open, and what of it is read from disk.

    Where the draft is better off on a card, room for it is left there.

    Args:
        options: as asked for.
        target: what its file says.
        draft: the same of the draft that is loaded with it.
        devices: with what is free on them.
        memory: free main memory, in bytes.
        anyway: also what has to be read from disk in every pass.
        flag: stops it while the engine is asked.

    Raises:
        EngineError: as :func:`needs_of`; TOO_LARGE, where less is free than :func:`check_memory` counted on.
    """
    here = _machine(options, devices, memory)
    if here is None:
        return options
    request = _request(options, target, draft, flag)
    found = _plans(request, here) or _plans(replace(request, draft=None), here)
    if not found or (found[0].streamed and not (anyway or options.streamed)):
        raise _too_large(request, here)
    best = found[0]
    update: dict[str, object] = {"streamed": options.streamed or best.streamed}
    if here.gpus:
        update |= {"gpu_layers": best.gpu_layers, "experts_in_memory": best.experts_in_memory}
        update["gpu_split"] = best.split if len(here.gpus) > 1 else None
    return options.model_copy(update=update)


def check_memory(
    options: LoadOptions,
    target: GgufFacts,
    draft: GgufFacts | None,
    devices: Sequence[DeviceInfo],
    memory: int,
    *,
    anyway: bool = False,
    flag: CancelFlag | None = None,
) -> None:
    """Refuse what would not fit, before anything is loaded or freed.

    Args:
        options: as asked for.
        target: what its file says.
        draft: the same of its draft.
        devices: with what is free on them while nothing is loaded.
        memory: main memory that is free, or will be once the present pair is.
        anyway: only what is impossible: weights can be read from disk, caches and buffers cannot.
        flag: stops it while the engine is asked.

    Raises:
        EngineError: as :func:`needs_of`; TOO_LARGE, with what is missing and the nearest that fits.
    """
    here = _machine(options, devices, memory)
    wanted = _request(options, target, draft, flag)
    if here is None or _fits(wanted, here) or (anyway and _possible(wanted, here)):
        return
    raise _too_large(wanted, here)


def _too_large(wanted: Request, here: Machine) -> EngineError:
    target, draft, possible = wanted.target, wanted.draft, _possible(wanted, here)
    most = min(wanted.n_ctx - 1, target.trained or wanted.n_ctx)
    smaller = next((n for n in _SHORTER if n <= most and _fits(replace(wanted, n_ctx=n), here)), None)
    nearest: dict[str, int | None] = {}
    if draft is not None and _fits(replace(wanted, draft=None), here):
        hint, nearest = "It fits without a draft model.", {"draft": None}
    elif smaller is not None:
        hint, nearest = f"It fits with a context of {smaller:,} tokens.", {"n_ctx": smaller}
    else:
        hint = "Choose a smaller model."
    needed = _needed(wanted)
    free = sum(place.usable for place in (*here.gpus, here.memory))
    takes, left = shown_sizes(needed, free)
    anyway = " Loaded anyway, what is missing is read from disk for every token." if possible else ""
    return EngineError(
        ErrorCode.TOO_LARGE,
        f"This {'pair' if draft else 'model'} takes about {takes} at {wanted.n_ctx:,} tokens of context, and {left} "
        f"are free. {hint}{anyway}",
        {"needed": needed, "free": free, "n_ctx": wanted.n_ctx, "anyway": possible, "nearest": nearest},
    )


def place_draft(
    options: LoadOptions,
    draft: GgufFacts,
    n_ctx: int,
    devices: Sequence[DeviceInfo],
    flag: CancelFlag | None = None,
) -> LoadOptions:
    """The same for the draft, once its target of ``n_ctx`` tokens is loaded: whole on a card, or in main memory.

    Cards are gone through as the plan did, so it is the card on which the plan left room.
    """
    free = cards(devices)
    if not free or options.draft_gpu_layers is not None:
        return options
    needs = needs_of(draft, options, "draft", n_ctx, flag)
    places = machine(0, free).gpus
    card = card_for_draft(needs, request_for(options, needs, needs, n_ctx), {p.name: p.usable for p in places}, places)
    if card is None:
        return options.model_copy(update={"draft_gpu_layers": 0})
    at = places.index(card) if len(places) > 1 else None
    return options.model_copy(update={"draft_gpu_layers": ALL, "draft_gpu": at})


def check_draft(
    options: LoadOptions, draft: GgufFacts, n_ctx: int, memory: int, flag: CancelFlag | None = None
) -> None:
    """Refuse a draft for which ``memory`` bytes of main memory are too few.

    Raises:
        EngineError: as :func:`needs_of`; OUT_OF_MEMORY.
    """
    if options.draft_gpu_layers:
        return
    needs = needs_of(draft, options, "draft", n_ctx, flag)
    request = request_for(options, needs, needs, n_ctx)
    mapped = request.mapped and not options.streamed
    wanted = needs.resident(mapped=mapped) + draft_beside(needs, request)
    if wanted > memory:
        needed, free = shown_sizes(wanted, memory)
        raise EngineError(
            ErrorCode.OUT_OF_MEMORY,
            f"The draft takes about {needed}, and {free} of memory are free. Choose a smaller one, or none.",
            {"needed": wanted, "free": memory},
        )


def _machine(options: LoadOptions, devices: Sequence[DeviceInfo], memory: int) -> Machine | None:
    """What there is to plan for; None where a person has shared the layers out."""
    free = cards(devices)
    if options.gpu_layers == 0:
        return machine(memory)
    return None if free and options.gpu_layers is not None else machine(memory, free)


def _request(
    options: LoadOptions, target: GgufFacts, draft: GgufFacts | None, flag: CancelFlag | None = None
) -> Request:
    wanted = needs_of(target, options, "target", flag=flag)
    n_ctx = context_for(options, wanted)
    beside = None
    if draft is not None:
        try:
            beside = needs_of(draft, options, "draft", n_ctx, flag)
        except EngineError as error:  # what is wrong with a draft is said when it is loaded
            if error.code is ErrorCode.CANCELLED:
                raise
    return request_for(options, wanted, beside, n_ctx)


def _fits(request: Request, here: Machine) -> bool:
    """Whether all of it lies in memory, the draft too where there is one."""
    return any(not plan.streamed for plan in _plans(request, here))


def _possible(request: Request, here: Machine) -> bool:
    """Whether it can be loaded at all, weights read from disk and the draft left out where there is no room for it."""
    return bool(plans(replace(request, draft=None), here))


def _plans(request: Request, here: Machine) -> list[Plan]:
    """Those with the draft, where there is one: it is loaded whether or not it pays."""
    return [plan for plan in plans(request, here) if (plan.where == "none") == (request.draft is None)]


def _needed(request: Request) -> int:
    target, draft = request.target, request.draft
    out = target.resident(mapped=request.mapped) + target.tables + target.kv(request.n_ctx, request.kv_type)
    out += target_buffers(request, flash=request.flash) + WORKER
    if draft is None:
        return out
    return out + draft.resident(mapped=request.mapped) + draft_beside(draft, request)
