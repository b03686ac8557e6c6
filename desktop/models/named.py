"""Presets and prompts in the settings: made, renamed, changed and deleted one by one, and the last deletion undone."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Generic, Literal, TypeVar

from desktop.language import tr
from desktop.presets import Entry, named
from desktop.settings import SettingsFile

T = TypeVar("T", bound=Entry)
_LONGEST = 60


class Named(Generic[T]):
    """A person's own entries of one kind, beside those that are shipped and stay as they are.

    Args:
        settings: where they are kept.
        field: the name there.
        shipped: what is there from the start.
    """

    def __init__(
        self, settings: SettingsFile, field: Literal["presets", "prompts"], shipped: Mapping[str, T] | None = None
    ) -> None:
        self._settings, self._field = settings, field
        self.shipped = named(shipped or {})
        self._deleted: tuple[str, T, int] | None = None

    @property
    def own(self) -> dict[str, T]:
        """By their ids."""
        return dict(getattr(self._settings.now, self._field))

    @property
    def all(self) -> dict[str, T]:
        """The shipped ones first."""
        return self.shipped | {number: entry for number, entry in self.own.items() if number not in self.shipped}

    @property
    def deleted(self) -> str:
        """The name of what was deleted last and can come back; empty = nothing."""
        return self._deleted[1].name if self._deleted is not None else ""

    def add(self, entry: T) -> str:
        """A further one, under a name that is still free; its id, which no other ever had."""
        number = uuid.uuid4().hex[:12]
        self._keep(self.own | {number: entry.model_copy(update={"name": self.free_name(entry.name)})})
        return number

    def replace(self, number: str, entry: T) -> None:
        """Another state of one's own; what is shipped, or gone, stays so."""
        if number in self.own and self.own[number] != entry:
            self._keep(self.own | {number: entry})

    def delete(self, number: str) -> None:
        """Take one's own away."""
        own = self.own
        if number in own:
            place = list(own).index(number)
            self._deleted = (number, own.pop(number), place)
            self._keep(own)

    def undo(self) -> str:
        """Bring back what was deleted last, where it was; its id, empty if there is none."""
        if self._deleted is None:
            return ""
        number, entry, place = self._deleted
        self._deleted = None
        entries = list(self.own.items())
        entries.insert(place, (number, entry))
        self._keep(dict(entries))
        return number

    def name_problem(self, number: str, name: str) -> str:
        """Why an entry cannot be called that, as words that follow a colon; empty = it can."""
        if not name.strip():
            return tr("a name is needed.")
        if len(name.strip()) > _LONGEST:
            return tr("the name is too long: at most {most} letters.", most=_LONGEST)
        others = (entry.name for other, entry in self.all.items() if other != number)
        if name.strip().casefold() in (other.casefold() for other in others):
            return tr("another one is called that.")
        return ""

    def free_name(self, name: str) -> str:
        """``name``, with a number if it is taken."""
        taken = {entry.name.casefold() for entry in self.all.values()}
        tried, count = name, 1
        while tried.casefold() in taken:
            count += 1
            tried = f"{name} {count}"
        return tried

    def _keep(self, entries: dict[str, T]) -> None:
        self._settings.change(**{self._field: entries})
