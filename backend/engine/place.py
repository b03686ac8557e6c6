"""How many layers go to the graphics cards where a person leaves it open: as many as fit, by the plan."""

from __future__ import annotations

from collections.abc import Sequence

from backend.engine.load import DEFAULT_CONTEXT
from backend.library.gguf import GgufFacts
from backend.plan.machine import machine
from backend.plan.needs import of_file
from backend.plan.plan import Request, plans
from backend.protocol import DeviceInfo, LoadOptions

ALL = 999
"""llama.cpp takes as many layers as there are."""


def place_target(
    options: LoadOptions, target: GgufFacts, draft: GgufFacts | None, devices: Sequence[DeviceInfo], memory: int
) -> LoadOptions:
    """The options with the target's layers filled in, where there is a card and they are left open.

    Where the draft is better off on a card, room for it is left there.

    Args:
        options: as asked for.
        target: what its file says.
        draft: the same of the draft that is loaded with it.
        devices: with what is free on them.
        memory: free main memory, in bytes.
    """
    cards = [device.free for device in devices if device.kind in ("gpu", "igpu")]
    if not cards or options.gpu_layers is not None:
        return options
    n_ctx = options.n_ctx or min(target.context_length or DEFAULT_CONTEXT, DEFAULT_CONTEXT)
    request = Request(of_file(target), of_file(draft) if draft else None, n_ctx, options.kv_type, options.batch)
    found = plans(request, machine(memory, cards))
    if not found:  # the engine says what is missing
        return options
    return options.model_copy(update={"gpu_layers": found[0].gpu_layers})


def place_draft(options: LoadOptions, draft: GgufFacts, n_ctx: int, devices: Sequence[DeviceInfo]) -> LoadOptions:
    """The same for the draft, once its target of ``n_ctx`` tokens is loaded: whole on a card, or in main memory."""
    cards = [device.free for device in devices if device.kind in ("gpu", "igpu")]
    if not cards or options.draft_gpu_layers is not None:
        return options
    needs = of_file(draft)
    wanted = needs.read + needs.kv(n_ctx, options.draft_kv_type)
    wanted += needs.compute(n_ctx, options.batch, Request.draft_rows, flash=True)
    return options.model_copy(update={"draft_gpu_layers": ALL if max(cards) >= wanted else 0})
