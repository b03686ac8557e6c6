"""Whether a model, or a pair, finds room on a machine: by its plan, else by the size of its file."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from backend.errors import EngineError
from backend.plan.machine import Machine
from backend.plan.needs import Needs, of_model, of_published
from backend.plan.plan import Plan, Request, plans
from backend.plan.request import request_for
from backend.protocol import LoadOptions

log = logging.getLogger(__name__)
_BESIDE = 1.15
"""What caches and buffers add to the weights, about."""


@dataclass(slots=True, frozen=True)
class Fit:
    """``plan`` is the best one there is, from disk if need be; None = not even its caches find room."""

    request: Request
    plan: Plan | None

    @property
    def fits(self) -> bool:
        """Whether nothing has to be read from disk for each pass."""
        return self.plan is not None and not self.plan.streamed


def fit(target: Needs, draft: Needs | None, machine: Machine) -> Fit:
    """Of a target, alone or with a draft, loaded as it is loaded where nobody asks for anything else."""
    request = request_for(LoadOptions(), target, draft)
    wanted = (plan for plan in plans(request, machine) if (plan.where != "none") == (draft is not None))
    return Fit(request, next(wanted, None))


def fits(model: Any, machine: Machine) -> bool | None:
    """Whether a model of the library does, alone; None where too little is known. Files may be read for it."""
    needs = needs_of(model)
    return has_room(model.size, machine) if needs is None else fit(needs, None, machine).fits


def has_room(size: int | None, machine: Machine) -> bool | None:
    """Where nothing but the size of the file is known: weights and a little more must find room."""
    if not size:
        return None
    return size * _BESIDE <= machine.memory.usable + sum(card.usable for card in machine.gpus)


def needs_of(model: Any) -> Needs | None:
    """From the catalogue where it says enough, else from the file; None where neither does."""
    try:
        return of_published(model) or of_model(model)
    except (EngineError, OSError) as error:  # the file went, or changed, since it was listed
        log.info("%s cannot be planned: %s", model.id, error)
        return None
