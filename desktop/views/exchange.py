"""Chats to files and back: asks for the place, does the work beside the window, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog

from desktop.store import Chat, Message, Store, StoreError
from desktop.store.exchange import read, to_json, to_markdown
from desktop.words import Notice

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow

_KINDS = "Markdown, to read (*.md);;Tandem's own, with everything (*.json)"
_OWN = "Tandem's chats (*.json)"


class Exchange(QObject):
    """Export of one chat or of all, and import."""

    _done = Signal(object)
    """What to do on the window's thread."""

    def __init__(self, window: MainWindow, author: Callable[[Message], str]) -> None:
        super().__init__(window)
        self._window, self._author = window, author
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="exchange")
        self._done.connect(lambda act: act())
        window.sidebar.exported.connect(self.export)

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def export(self, chat: Chat) -> None:
        """One chat, as Markdown or with everything."""
        name, _ = QFileDialog.getSaveFileName(self._window, "Export chat", f"{_file_name(chat.title)}.md", _KINDS)
        if name:
            self.export_to(Path(name), [chat])

    def export_all(self) -> None:
        """All chats, with everything."""
        name, _ = QFileDialog.getSaveFileName(self._window, "Export all chats", "tandem-chats.json", _OWN)
        if name:
            self.export_to(Path(name), None)

    def import_(self) -> None:
        """Chats from a file of ours."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Import chats", "", f"{_OWN};;All files (*)")
        if name:
            self.import_from(Path(name))

    def export_to(self, path: Path, chats: list[Chat] | None) -> None:
        """Write the file, whole or not at all. None = all chats; Markdown (by the name's end) takes the first only."""
        store = self._window.store
        self._beside(lambda: _write(store, path, chats, self._author), f"Exported to {path}.", "The export failed")

    def import_from(self, path: Path) -> None:
        """Bring the file's chats in beside those that are here."""
        store = self._window.store

        def work() -> int:
            return len(store.add_whole(read(path)).result())

        self._beside(work, "", "Nothing was imported")

    def _beside(self, work: Callable[[], int], good: str, bad: str) -> None:
        def run() -> None:
            try:
                n = work()
            except (StoreError, OSError) as error:
                text = error.message if isinstance(error, StoreError) else f"{error.strerror}: {error.filename}."
                notice = Notice(bad, text, ("log",))
                self._done.emit(lambda: self._window.page.notice.show_notice(notice))
            else:
                self._done.emit(lambda: self._say(good or f"{n} {'chat was' if n == 1 else 'chats were'} imported."))

        self._pool.submit(run)

    def _say(self, text: str) -> None:
        self._window.toast.say(text)
        self._window.conversation.chats_changed.emit()


def _write(store: Store, path: Path, chats: list[Chat] | None, author: Callable[[Message], str]) -> int:
    reader = store.another_reader()
    try:
        chosen = reader.chats() if chats is None else chats
        if path.suffix.lower() == ".md":
            text = to_markdown(chosen[0], reader.branch(chosen[0].id), author)
        else:
            text = to_json((chat, reader.messages(chat.id)) for chat in chosen)
    finally:
        reader.close()
    half = path.with_name(f".{path.name}.part")
    try:
        half.write_text(text, "utf-8")
        half.replace(path)
    except OSError:
        half.unlink(missing_ok=True)
        raise
    return len(chosen)


def _file_name(title: str) -> str:
    """Letters that every file system takes."""
    kept = "".join(letter if letter.isalnum() or letter in " -_" else " " for letter in title)
    return " ".join(kept.split())[:80] or "chat"
