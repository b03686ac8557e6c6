"""Editing named things one at a time: which one is shown, and what becomes of it, kept as soon as the typing pauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from PySide6.QtWidgets import QWidget

from desktop.language import tr
from desktop.models.named import Named, T
from desktop.widgets.later import Later
from desktop.widgets.name_edit import NameEdit
from desktop.widgets.named_row import Called, NamedRow


class NamedEditor(Generic[T]):
    """The list with its buttons, and the name; what else an entry has is its page's affair.

    Args:
        page: where it stands.
        called: what one of them is called, and what is done with it.
        named: all of them.
        fresh: what a new one begins as.
        show: shows an entry by its id, or that there is none.
        read: an entry with what is typed.
    """

    def __init__(
        self,
        page: QWidget,
        called: Called,
        named: Named[T],
        fresh: T,
        show: Callable[[str, T | None], None],
        read: Callable[[T], T],
    ) -> None:
        self._named, self._show_entry, self._read = named, show, read
        self._shown = ""
        self.row = row = NamedRow(called)
        self.name = NameEdit(tr("Name"), lambda name: named.name_problem(self._shown, name))
        self.later = Later(page, self._save)
        self.name.changed.connect(self.later.start)
        row.chosen.connect(self.show)
        row.made.connect(lambda: self._add(fresh))
        row.duplicated.connect(self._duplicate)
        row.deleted.connect(self._delete)
        row.undone.connect(self._undo)

    def show(self, number: str) -> None:
        """Show the entry with that id, the first if there is none; what was typed into another one is kept before."""
        self.later.now()
        entries = self._named.all
        self._shown = number if number in entries else next(iter(entries), "")
        entry, fixed = entries.get(self._shown), self._shown not in self._named.own
        self.row.show_entries({key: other.name for key, other in entries.items()}, self._shown, fixed=fixed)
        self.name.show_name(entry.name if entry is not None else "", fixed=fixed)
        self._show_entry(self._shown, entry)

    def refresh(self) -> None:
        """Show what is there now: some may have been made elsewhere."""
        self.show(self._shown)

    def _save(self) -> None:
        """What can be used of it; a name that cannot stays as it was."""
        was = self._named.own.get(self._shown)
        if was is not None:
            name = was.name if self.name.problem else self.name.name
            self._named.replace(self._shown, self._read(was).model_copy(update={"name": name}))
            self.row.rename(self._shown, name)

    def _duplicate(self, number: str) -> None:
        self.later.now()
        entry = self._named.all[number]
        self._add(entry.model_copy(update={"name": tr("{name} copy", name=entry.name)}))

    def _add(self, entry: T) -> None:
        self.show(self._named.add(entry))
        self.name.edit.setFocus()
        self.name.edit.selectAll()

    def _delete(self, number: str) -> None:
        self.later.now()
        self._named.delete(number)
        self.show("")
        self.row.show_deleted(self._named.deleted)
        self.row.undo.setFocus()

    def _undo(self) -> None:
        self.show(self._named.undo())
        self.row.show_deleted("")
        self.row.box.setFocus()
