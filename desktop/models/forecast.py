"""How fast a model that is not here yet would be on this machine, said before it is downloaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from backend.plan.free import free_main_memory
from backend.plan.machine import Machine, cards, machine
from backend.plan.needs import Needs, of_published
from backend.plan.plan import plans
from backend.plan.request import request_for
from backend.protocol import LoadOptions, State
from desktop.language import tr

_READ = 0.9
"""Of a model's weights, in one pass: all but the embedding."""


def forecasts(models: Iterable[Any], state: State, rate: float | None = None) -> dict[str, str]:
    """A few words for each published target that is not here, by its id.

    Args:
        models: the library's, drafts among them.
        state: the engine's; what a pass of its model costs tells how fast this machine reads weights.
        rate: bytes a millisecond that were measured without one.
    """
    known = {m.id: m for m in models}
    machine_here = here(state, rate)
    out = {}
    for model in known.values():
        if model.state == "available" and model.entry is not None and (needs := of_published(model)) is not None:
            draft = next((known[d] for d in model.entry.drafts if d in known), None)
            out[model.id] = _said(needs, of_published(draft) if draft is not None else None, machine_here)
    return out


def _said(target: Needs, draft: Needs | None, machine_here: Machine) -> str:
    found = plans(request_for(LoadOptions(), target, draft), machine_here)
    alone = next((p for p in found if p.where == "none"), None)
    if alone is None:
        return tr("too large for this machine")
    if alone.streamed:
        return tr("larger than the free memory, ≈ {rate} here", rate=rate_text(alone.plain_ms))
    rate, best = rate_text(alone.ms), rate_text(found[0].ms)
    if best == rate or found[0].streamed:
        return tr("≈ {rate} here", rate=rate)
    return tr("≈ {rate}, {best} with its draft here", rate=rate, best=best)


def rate_text(ms: float) -> str:
    """Of a token's time: ``5 tok/s``, ``0.4 tok/s``."""
    rate = 1e3 / ms
    return tr("{rate:.0f} tok/s", rate=rate) if rate >= 3 else tr("{rate:.1f} tok/s", rate=rate)


def here(state: State, rate: float | None = None) -> Machine:
    """This machine, as far as the engine's state tells, else at ``rate``; what the engine holds counts as free."""
    free = cards(state.devices)
    passes = None
    loaded, costs = state.target, state.cost.target if state.cost is not None else {}
    # on a card, from disk, or of a mixture of experts, a pass does not tell what main memory can do
    if loaded is not None and 1 in costs and not (free or loaded.streamed or "moe" in loaded.architecture):
        rate, passes = _READ * loaded.size / costs[1], {n: ms / costs[1] for n, ms in costs.items()}
    return machine(free_main_memory() + state.memory, free, memory_rate=rate, passes=passes)
