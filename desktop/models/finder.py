"""Looks for words in the chats beside the window: however many there are, writing and scrolling go on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from PySide6.QtCore import QObject, Signal

from desktop.store import Store, StoreError
from desktop.words import notice


class Finder(QObject):
    """Only the latest question is answered."""

    found = Signal(str, object)
    """The words, and list[Hit]."""
    noticed = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._latest = ""
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="finder")

    def ask(self, words: str) -> None:
        """Answered by ``found``."""
        self._latest = words
        self._pool.submit(self._search, words)

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _search(self, words: str) -> None:
        if words != self._latest:
            return
        try:
            reader = self._store.another_reader()
            try:
                hits = reader.search(words)
            finally:
                reader.close()
        except StoreError as error:
            self.noticed.emit(notice(error))
        else:
            self.found.emit(words, hits)
