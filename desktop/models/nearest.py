"""What does not fit into the memory, and the nearest that does: offered at one click, and kept in the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from backend.errors import EngineError
from desktop.settings import LOOKUP, Settings
from desktop.words import Action, Notice, notice


def too_large(error: EngineError, anyway: Callable[[], object], nearest: Callable[[], object]) -> Notice:
    """The notice for a pair that was refused.

    Args:
        error: TOO_LARGE; its details name what fits, if anything does (``backend/engine/place.py``).
        anyway: loads it all the same; offered only where that is possible: caches cannot be read from disk.
        nearest: loads what fits.
    """
    made = notice(error, retry=anyway if error.details.get("anyway") else None)
    plan = _plan(error)
    if not plan:
        return made
    offer: Action = "less_context" if "n_ctx" in plan else "without_draft"
    others = (action for action in made.actions if action != "settings")  # there one would look for this
    return replace(made, actions=(offer, *others), does={offer: nearest})


def as_it_fits(settings: Settings, target: str, error: EngineError) -> dict[str, Any]:
    """The settings to change so that ``target`` is loaded as the refusal said that it fits.

    Without a draft model text seen before may still propose: that takes no memory.
    """
    if (n_ctx := _plan(error).get("n_ctx")) is None:
        return {"draft": LOOKUP}
    return {"models": settings.choosing(target, n_ctx=n_ctx)}


def _plan(error: EngineError) -> dict[str, Any]:
    plan = error.details.get("nearest")
    return plan if isinstance(plan, dict) else {}
