"""Looks for words in the chats beside the window: however many there are, writing and scrolling go on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from PySide6.QtCore import QObject, Signal

from desktop.store import Store, StoreError
from desktop.words import notice


class Finder(QObject):
    """Only the latest question is answered, and what is looked for when it comes is given up: ask at every letter."""

    found = Signal(str, object)
    """The words, and list[Hit]."""
    noticed = Signal(object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._latest = 0
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="finder")

    def ask(self, words: str) -> None:
        """Answered by ``found``."""
        self._latest += 1
        self._pool.submit(self._search, words, self._latest)

    def close(self) -> None:
        """Give up what runs."""
        self._latest += 1
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _search(self, words: str, question: int) -> None:
        if question != self._latest:
            return
        try:
            reader = self._store.another_reader()
            reader.give_up_when(lambda: question != self._latest)
            try:
                hits = reader.search(words)
            finally:
                reader.close()
        except StoreError as error:
            if question == self._latest:
                self.noticed.emit(notice(error))
        else:
            self.found.emit(words, hits)
