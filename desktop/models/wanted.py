"""What was asked of the engine and is not there yet, and what a person's choices come to."""

from __future__ import annotations

from dataclasses import dataclass

from backend.protocol import LoadProgress, Speculation
from desktop.settings import AUTOMATIC, LOOKUP, NONE, Settings


@dataclass(slots=True)
class Wanted:
    """A pair, or with ``swap`` only its draft.

    Without a ``job`` nothing has gone out yet: the drafts that fit the target are being looked up.
    """

    target: str
    draft: str | None = None
    swap: bool = False
    job: str = ""
    anyway: bool = False
    """Also where it does not fit into the memory that is free."""
    progress: LoadProgress | None = None

    @property
    def held_back(self) -> bool:
        """Whether it goes out once the drafts are known."""
        return not self.swap and not self.job


def draft_of(choice: str, best: str | None) -> str | None:
    """The draft model that a choice means, where ``best`` is what "Automatic" comes to; None = without one."""
    if choice in (LOOKUP, NONE):
        return None
    return best if choice == AUTOMATIC else choice


def speculation_of(settings: Settings) -> Speculation:
    """The settings with the source that the draft choice implies."""
    beside = "lookup+draft" if settings.speculation.source == "lookup+draft" else "draft"
    source = {AUTOMATIC: "auto", LOOKUP: "lookup", NONE: "auto"}.get(settings.draft, beside)
    enabled = settings.speculation.enabled and settings.draft != NONE
    return settings.speculation.model_copy(update={"source": source, "enabled": enabled})
