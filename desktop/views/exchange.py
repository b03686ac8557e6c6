"""Chats to files and back: asks for the place, does the work beside the window, and says what came of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from backend.outputs import whole
from desktop.errands import Errands
from desktop.language import counted, marked, tr
from desktop.models.thinking import whole_text
from desktop.store import Chat, Message, Store, StoreError
from desktop.store.damage import UnwantedError
from desktop.store.exchange import read, to_json, to_markdown
from desktop.widgets.thoughts import as_markdown
from desktop.words import Notice

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow

log = logging.getLogger(__name__)

_READABLE = marked("Markdown, to be read ({files})")
_OWN = marked("Tandem's chats, with everything ({files})")


class Exchange(QObject):
    """Export of one chat or of all, and import."""

    def __init__(self, window: MainWindow, author: Callable[[Message], str]) -> None:
        super().__init__(window)
        self._window, self._author = window, author
        self._closing = threading.Event()
        self._errands = Errands("exchange", self)
        window.sidebar.exported.connect(self.export)

    def close(self) -> None:
        """An export that runs is waited for; an import is given up: its chats are not shown before all are there."""
        self._closing.set()
        self._errands.close()

    def export(self, chat: Chat) -> None:
        """One chat, as Markdown or with everything."""
        proposed = f"{_file_name(chat.title)}.md"
        own = _own()
        kinds = f"{tr(_READABLE, files='*.md')};;{own}"
        name, kind = QFileDialog.getSaveFileName(self._window, tr("Export chat"), proposed, kinds)
        if name:
            path = Path(name)
            if path.suffix.lower() not in (".md", ".json"):
                path = path.with_name(f"{path.name}{'.json' if kind == own else '.md'}")
            self.export_to(path, [chat], readable=path.suffix.lower() == ".md")

    def export_all(self) -> None:
        """All chats, with everything."""
        name, _ = QFileDialog.getSaveFileName(self._window, tr("Export all chats"), "tandem-chats.json", _own())
        if name:
            self.export_to(Path(name), None)

    def import_(self) -> None:
        """Chats from a file of ours."""
        kinds = f"{_own()};;{tr('All files (*)')}"
        name, _ = QFileDialog.getOpenFileName(self._window, tr("Import chats"), "", kinds)
        if name:
            self.import_from(Path(name))

    def export_to(self, path: Path, chats: list[Chat] | None, *, readable: bool = False) -> None:
        """Write the file, whole or not at all: chats (None = all) with everything, or the first one to be read."""
        store, author = self._window.store, self._author if readable else None
        said = tr("Exported to {path}.", path=path)
        self._beside(path, lambda: _write(store, path, chats, author), said, marked("The export failed"))

    def import_from(self, path: Path) -> None:
        """Bring the file's chats in beside those that are here."""
        store, unwanted = self._window.store, self._closing.is_set
        self._beside(path, lambda: _import(store, path, unwanted), "", marked("Nothing was imported"))

    def _beside(self, path: Path, work: Callable[[], int], good: str, bad: str) -> None:
        def failed(error: Exception) -> None:
            if not isinstance(error, UnwantedError):  # which the program's end gave up
                log.warning("%s", bad, exc_info=error)
                self._window.page.notice.show_notice(Notice(tr(bad), _why(error, path), ("log",)))

        def done(n: int) -> None:
            self._say(good or counted("%n chat was imported.", "%n chats were imported.", n))

        self._errands.run(work, done, failed)

    def _say(self, text: str) -> None:
        self._window.toast.say(text)
        self._window.sidebar.refresh()


def _write(store: Store, path: Path, chats: list[Chat] | None, author: Callable[[Message], str] | None) -> int:
    """Markdown where an author is given."""
    reader = store.another_reader()
    try:
        # a list of them leaves their settings out
        chosen = reader.chats() if chats is None else [reader.chat(chat.id) or chat for chat in chats]
        if author is not None:
            _write_whole(path, [to_markdown(chosen[0], reader.branch(chosen[0].id), author, _readable)])
        else:
            _write_whole(path, to_json((chat, reader.messages(chat.id)) for chat in chosen))
    finally:
        reader.close()
    return len(chosen)


def _write_whole(path: Path, texts: Iterable[str]) -> None:
    with whole(path) as part, part.open("w", encoding="utf-8", errors="replace") as file:
        file.writelines(texts)  # half a letter may stand in settings


def _readable(message: Message) -> str:
    return as_markdown(whole_text(message)) if message.role == "assistant" else message.content


def _import(store: Store, path: Path, unwanted: Callable[[], bool]) -> int:
    """Chat by chat, so that other writing goes between; they show when all are there, else they go again.

    What is given up because the program ends goes at its next start.
    """
    made: list[int] = []
    try:
        for chat in read(path, unwanted):
            made.append(store.add_whole(chat, hidden=True).result())
        store.undelete_chat(*made).result()
    except UnwantedError:
        raise
    except BaseException:  # a full disk most of all: it has no room for what is never shown
        store.discard_hidden(*made)
        raise
    return len(made)


def _why(error: Exception, path: Path) -> str:
    if isinstance(error, StoreError):
        return error.message
    if isinstance(error, OSError):  # it may know no name, or that of the half file
        return f"{error.strerror or error}: {path}."
    return tr("Tandem hit a fault of its own: {fault}. The log has the details.", fault=repr(error))


def _own() -> str:
    return tr(_OWN, files="*.json")


def _file_name(title: str) -> str:
    """Letters that every file system takes."""
    kept = "".join(letter if letter.isalnum() or letter in " -_" else " " for letter in title)
    return " ".join(kept.split())[:80] or "chat"
