"""The library for the window: what there is, what fits, what is added and removed. The disk is read off its thread."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError, ErrorCode
from backend.protocol import State
from desktop.errands import Errands
from desktop.language import tr
from desktop.models.fetching import Fetching
from desktop.models.forecast import here
from desktop.models.outlook import Outlook, pair_outlooks

log = logging.getLogger(__name__)
_LAST_SECONDS = 1.0


class Shelf(QObject):
    """Signals carry ``LibraryModel``, ``DraftChoice`` and errors; all of them arrive on the UI thread."""

    changed = Signal(object)
    """list[LibraryModel]"""
    planned = Signal(str, object)
    """target id, {draft id: Outlook of the pair}; before ``drafts`` of that target"""
    drafts = Signal(str, object)
    """target id, list[DraftChoice]"""
    drafts_failed = Signal(str, object)
    added = Signal(object)
    removed = Signal(str, int)
    """name of the model, bytes that are free now"""
    failed = Signal(object)
    """What went wrong: a model file that was added, one that was to be removed, the catalogue."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.models: list[Any] = []
        self.starter: Any = None
        self.pairs: dict[str, dict[str, Outlook]] = {}
        """What targets come to with each draft that fits: by the target's id, then the draft's."""
        self.engine_state: Callable[[], State] = State
        """Says what this machine has, and how fast it was found to be."""
        self.folders: list[Path] = []
        """Those that a person has added."""
        self.ours: set[str] = set()
        """Models of which Tandem has downloaded the files."""
        self.gone: list[Path] = []
        """Of these, those that are not there."""
        self.fetching = Fetching(self)
        self.fetching.ended.connect(self.refresh)
        self._reader = Errands("library", self)
        self._pairing: Any = None
        self._closed = False
        self.changed.connect(self._keep)
        self.planned.connect(self._keep_pairs)

    def close(self) -> None:
        """Pause downloads and wait for that; a disk that does not answer is not waited for."""
        self._closed = True
        self.fetching.close()
        self._reader.close(_LAST_SECONDS)

    def refresh(self) -> None:
        """Look at the disk anew."""
        self._run(self._list)

    def ask_drafts(self, target: str) -> None:
        """Which models fit ``target``; answered by ``planned`` and ``drafts``."""
        state = self.engine_state()
        self._run(lambda: self._find_drafts(target, state), lambda e: self.drafts_failed.emit(target, e))

    def add(self, path: Path) -> None:
        """Add a model file from disk."""
        self._run(lambda: self._add(path))

    def add_folder(self, folder: Path) -> None:
        """Look for models in a folder too."""
        self._run(lambda: self._change_folders(lambda own: own.add_folder(folder)))

    def remove_folder(self, folder: Path) -> None:
        """Forget a folder; what lies in it stays."""
        self._run(lambda: self._change_folders(lambda own: own.remove_folder(folder)))

    def forget(self, model: Any) -> None:
        """Forget an added file, or the folder that it was found in; what is on the disk stays."""
        if model.source == "folder":
            for folder in self.folders:
                if model.files[0].is_relative_to(folder):
                    self.remove_folder(folder)
        else:
            self._run(lambda: self._change_folders(lambda own: own.remove(model.id)))

    def delete(self, model: Any) -> None:
        """Delete what Tandem has downloaded of a model; told by ``removed``."""
        self._run(lambda: self._delete(model))

    def named(self, model_id: str | None) -> Any:
        """The model of that id, if it is known."""
        return next((m for m in self.models if m.id == model_id), None)

    def _keep(self, models: list[Any]) -> None:
        self.models = models

    def _keep_pairs(self, target: str, pairs: dict[str, Outlook]) -> None:
        self.pairs[target] = pairs

    def _publish(self, library: Any, *, unread: bool = False) -> None:
        from backend.library.local import OwnFiles
        from backend.library.removing import own_download

        models = library.models(unread=unread)
        self.ours = {model.id for model in models if own_download(model)}
        self.starter, self.folders = library.catalogue.starter, OwnFiles().folders()
        self.gone = [folder for folder in self.folders if not folder.is_dir()]
        self.changed.emit(models)

    # -- the reader's thread --------------------------------------------------------------------------------------

    def _run(self, task: Callable[[], None], fail: Callable[[EngineError], None] | None = None) -> None:
        def failed(error: Exception) -> None:
            if not isinstance(error, EngineError):
                log.error("library", exc_info=error)
                error = EngineError(ErrorCode.BUG, tr("The library failed: {error!r}.", error=error))
            (fail or self.failed.emit)(error)

        self._reader.run(task, lambda _: None, failed)

    def _list(self) -> None:
        """At once what is known; then also files of other programs that were never read."""
        from backend.library.library import Library

        library = Library()
        if library.problem is not None:
            self.failed.emit(library.problem)
        self._publish(library)
        if library.unread() and not self._closed:
            self._publish(library, unread=True)

    def _find_drafts(self, target: str, state: State) -> None:
        from backend.library.library import Library
        from backend.library.pairing import Pairing

        if self._pairing is None:
            self._pairing = Pairing()
        library = Library()
        models = library.models(unread=False)
        chosen = next((m for m in models if m.id == target), None) or library.find(target)
        choices = self._pairing.drafts_for(chosen, models)
        fitting = [choice.model for choice in choices if choice.fits and choice.model.id != target]
        self.planned.emit(target, pair_outlooks(chosen, fitting, here(state)))
        self.drafts.emit(target, choices)

    def _add(self, path: Path) -> None:
        from backend.library.library import Library

        library = Library()
        model = library.add(path)
        self._publish(library)
        self.added.emit(model)

    def _change_folders(self, change: Callable[[Any], object]) -> None:
        from backend.library.local import OwnFiles

        change(OwnFiles())
        self._list()

    def _delete(self, model: Any) -> None:
        from backend.library.library import Library
        from backend.library.removing import delete

        try:
            freed = delete(model)
        finally:
            self._publish(Library())
        self.removed.emit(model.name, freed)
