"""The library for the window: what is installed, what fits, downloads. Disk and network work runs off the UI thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError, ErrorCode

log = logging.getLogger(__name__)


class Shelf(QObject):
    """Signals carry ``LibraryModel``, ``DraftChoice`` and errors; all of them arrive on the UI thread."""

    changed = Signal(object)
    """list[LibraryModel]"""
    drafts = Signal(str, object)
    """target id, list[DraftChoice]"""
    drafts_failed = Signal(str, object)
    added = Signal(object)
    progress = Signal(str, object)
    """name of the model, (bytes done, bytes in all, bytes per second)"""
    downloaded = Signal(object)
    """list of ids, all installed now"""
    download_failed = Signal(object)
    failed = Signal(object)
    """What else went wrong: a model file that was added, the catalogue."""
    said = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.models: list[Any] = []
        self.starter: Any = None
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="library")
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="download")
        self._flag = threading.Event()
        self._pairing: Any = None
        self.changed.connect(self._keep)

    def close(self) -> None:
        """Stop downloads and wait for the threads."""
        self._flag.set()
        for pool in (self._reader, self._loader):
            pool.shutdown(wait=True, cancel_futures=True)

    def refresh(self) -> None:
        """Look at the disk anew."""
        self._run(self._reader, self._list)

    def ask_drafts(self, target: str) -> None:
        """Which models fit ``target``; answered by ``drafts``."""
        self._run(self._reader, lambda: self._find_drafts(target), lambda e: self.drafts_failed.emit(target, e))

    def add(self, path: Path) -> None:
        """Add a model file from disk."""
        self._run(self._reader, lambda: self._add(path))

    def download(self, ids: list[str]) -> None:
        """Get models, one after the other."""
        self._flag = flag = threading.Event()
        self._run(self._loader, lambda: self._download(ids, flag), self.download_failed.emit)

    def cancel_download(self) -> None:
        """Stop; nothing half-written is kept."""
        self._flag.set()

    def named(self, model_id: str | None) -> Any:
        """The model of that id, if it is known."""
        return next((m for m in self.models if m.id == model_id), None)

    def _keep(self, models: list[Any]) -> None:
        self.models = models

    def _publish(self, library: Any) -> None:
        models = library.models()
        self.starter = library.catalogue.starter
        self.changed.emit(models)

    # -- worker threads -------------------------------------------------------------------------------------------

    def _run(
        self,
        pool: ThreadPoolExecutor,
        task: Callable[[], None],
        fail: Callable[[EngineError], None] | None = None,
    ) -> None:
        tell = fail or self.failed.emit

        def guarded() -> None:
            try:
                task()
            except EngineError as error:
                tell(error)
            except Exception as error:  # a thread's top
                log.exception("library")
                tell(EngineError(ErrorCode.BUG, f"The library failed: {error!r}."))

        pool.submit(guarded)

    def _list(self) -> None:
        from backend.library.library import Library

        library = Library()
        if library.problem is not None:
            self.failed.emit(library.problem)
        self._publish(library)

    def _find_drafts(self, target: str) -> None:
        from backend.library.library import Library
        from backend.library.pairing import Pairing

        if self._pairing is None:
            self._pairing = Pairing()
        library = Library()
        models = library.models()
        chosen = next((m for m in models if m.id == target), None) or library.find(target)
        self.drafts.emit(target, self._pairing.drafts_for(chosen, models))

    def _add(self, path: Path) -> None:
        from backend.library.library import Library

        library = Library()
        model = library.add(path)
        self._publish(library)
        self.added.emit(model)

    def _download(self, ids: list[str], flag: threading.Event) -> None:
        from backend.library.hub import download
        from backend.library.library import Library

        library = Library()
        try:
            for model_id in ids:
                self._get(library, download, model_id, flag)
        finally:  # the first of a pair may be here although the second is not
            self._publish(library)
        self.downloaded.emit(ids)

    def _get(self, library: Any, download: Callable[..., Any], model_id: str, flag: threading.Event) -> None:
        found = library.catalogue.find(model_id)
        if found is None:
            library.resolve(model_id)
            return
        entry, variant = found

        def tell(done: int, total: int, speed: float) -> None:
            self.progress.emit(entry.name, (done, total, speed))

        download(entry, variant, tell, flag, self.said.emit)
