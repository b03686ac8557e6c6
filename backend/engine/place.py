"""Where a pair goes when it is loaded, by the plan: layers on cards, what is too large, and what streams from disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backend.engine.load import DEFAULT_CONTEXT
from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts
from backend.plan.machine import Machine, machine
from backend.plan.needs import of_file
from backend.plan.plan import Plan, Request, plans
from backend.protocol import DeviceInfo, LoadOptions
from backend.text import shown_size

ALL = 999
"""llama.cpp takes as many layers as there are."""
_SHORTER = (65_536, 32_768, 16_384, 8192, 4096, 2048, 1024)
"""Contexts that are offered instead."""


def place_target(
    options: LoadOptions, target: GgufFacts, draft: GgufFacts | None, devices: Sequence[DeviceInfo], memory: int
) -> LoadOptions:
    """The options with the target's layers filled in, where they are left open, and whether it is read from disk.

    Where the draft is better off on a card, room for it is left there.

    Args:
        options: as asked for.
        target: what its file says.
        draft: the same of the draft that is loaded with it.
        devices: with what is free on them.
        memory: free main memory, in bytes.
    """
    cards = _cards(devices)
    if cards and options.gpu_layers is not None:
        return options
    request, here = _request(options, target, draft), machine(memory, cards)
    found = _plans(request, here) or _plans(replace(request, draft=None), here)
    if not found:  # the engine says what is missing
        return options
    layers = found[0].gpu_layers if cards else options.gpu_layers
    return options.model_copy(update={"gpu_layers": layers, "streamed": options.streamed or found[0].streamed})


def check_memory(
    options: LoadOptions, target: GgufFacts, draft: GgufFacts | None, devices: Sequence[DeviceInfo], memory: int
) -> None:
    """Refuse what would not fit, before anything is loaded or freed.

    Args:
        options: as asked for.
        target: what its file says.
        draft: the same of its draft.
        devices: with what is free on them.
        memory: main memory that is free, or will be once the present pair is.

    Raises:
        EngineError: TOO_LARGE, with what is missing and the nearest that fits.
    """
    here = machine(memory, _cards(devices))
    wanted = _request(options, target, draft)
    if _fits(wanted, here):
        return
    smaller = next((n for n in _SHORTER if n < wanted.n_ctx and _fits(replace(wanted, n_ctx=n), here)), None)
    if draft is not None and _fits(replace(wanted, draft=None), here):
        hint = "It fits without a draft model."
    elif smaller is not None:
        hint = f"It fits with a context of {smaller:,} tokens."
    else:
        hint = "Choose a smaller model."
    needed = sum(needs.weights + needs.kv(wanted.n_ctx) for needs in (wanted.target, wanted.draft) if needs is not None)
    free = sum(place.free for place in (*here.gpus, here.memory))
    raise EngineError(
        ErrorCode.TOO_LARGE,
        f"{target.name} with {wanted.n_ctx:,} tokens of context takes {shown_size(needed)} and more, and "
        f"{shown_size(free)} are free. {hint} Loaded anyway, what is missing is read from disk for every token.",
        {"needed": needed, "free": free, "n_ctx": wanted.n_ctx},
    )


def place_draft(options: LoadOptions, draft: GgufFacts, n_ctx: int, devices: Sequence[DeviceInfo]) -> LoadOptions:
    """The same for the draft, once its target of ``n_ctx`` tokens is loaded: whole on a card, or in main memory."""
    cards = _cards(devices)
    if not cards or options.draft_gpu_layers is not None:
        return options
    needs = of_file(draft)
    wanted = needs.read + needs.kv(n_ctx, options.draft_kv_type)
    wanted += needs.compute(n_ctx, options.batch, Request.draft_rows, flash=True)
    return options.model_copy(update={"draft_gpu_layers": ALL if max(cards) >= wanted else 0})


def _cards(devices: Sequence[DeviceInfo]) -> list[int]:
    return [device.free for device in devices if device.kind in ("gpu", "igpu")]


def _request(options: LoadOptions, target: GgufFacts, draft: GgufFacts | None) -> Request:
    n_ctx = options.n_ctx or min(target.context_length or DEFAULT_CONTEXT, DEFAULT_CONTEXT)
    return Request(of_file(target), of_file(draft) if draft else None, n_ctx, options.kv_type, options.batch)


def _fits(request: Request, here: Machine) -> bool:
    """Whether all of it lies in memory, the draft too where there is one."""
    return any(not plan.streamed for plan in _plans(request, here))


def _plans(request: Request, here: Machine) -> list[Plan]:
    """Those with the draft, where there is one: it is loaded whether or not it pays."""
    return [plan for plan in plans(request, here) if (plan.where == "none") == (request.draft is None)]
