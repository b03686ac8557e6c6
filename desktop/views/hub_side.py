"""The hub's part of the models window: what was looked for, what was found, and what becomes a download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError
from backend.protocol import State
from desktop.language import tr
from desktop.models.hub import HubSearch
from desktop.models.model_rows import HUB, SEARCH, hub_rows
from desktop.models.outlooks import Outlooks
from desktop.models.shelf import Shelf
from desktop.views.models_window import ModelsWindow
from desktop.widgets.picker import Row


class HubSide(QObject):
    """Asks the hub only when a person does."""

    changed = Signal()
    """``rows`` are others now."""
    said = Signal(str)

    def __init__(self, shelf: Shelf, outlooks: Outlooks, state: Callable[[], State], parent: QObject) -> None:
        super().__init__(parent)
        self._shelf, self._outlooks, self._state = shelf, outlooks, state
        self.search = HubSearch(self)
        self._window: ModelsWindow | None = None
        self._asked = self._note = ""
        self._hits: list[Any] | None = None
        self.search.found.connect(self._on_found)
        self.search.offered.connect(self._on_offered)
        self.search.failed.connect(self._on_failed)
        self.search.kept.connect(self._on_kept)

    def bind(self, window: ModelsWindow) -> None:
        """Serve this window."""
        self._window = window
        window.hub_asked.connect(self.ask)
        window.hub.chosen.connect(self.search.keep)
        window.token.connect(self._ask_token)

    def rows(self, words: str) -> list[Row]:
        """What stands below the models, for these words."""
        if words.strip() != self._asked:
            self._hits, self._note = None, ""
        return hub_rows(words, self._hits, self._note)

    def ask(self, words: str) -> None:
        """Look for words."""
        self._asked, self._hits = words, None
        self._note = tr("Looking for “{words}” on the hub…", words=words)
        self.search.search(words)
        self.changed.emit()

    def show(self, value: str) -> None:
        """A repository was picked."""
        if self._window is not None:
            repo = value.removeprefix(HUB)
            self._window.hub.show_asking(repo)
            self.search.ask_offers(repo)

    def _on_found(self, words: str, hits: list[Any]) -> None:
        if words == self._asked:
            self._hits, self._note = hits, ""
            self.changed.emit()
            if self._window is not None and hits and self._window.value in ("", SEARCH):
                self._window.select(HUB + hits[0].repo)

    def _on_offered(self, repo: str, offers: list[Any]) -> None:
        if self._window is not None and self._window.hub.repo == repo:
            known = {model.id for model in self._shelf.models}
            self._window.hub.show_offers(offers, self._outlooks.of_entries(offers, self._state()), known)

    def _on_failed(self, asked: str, error: EngineError) -> None:
        if self._window is not None and asked and asked == self._window.hub.repo:
            self._window.hub.show_error(error)
            return
        if asked == self._asked:
            self._note = tr("Look for “{words}” again", words=asked)
            self.changed.emit()
        self.said.emit(error.message)

    def _on_kept(self, entry: Any) -> None:
        self._shelf.fetching.start([(entry.id, entry.name)])
        self._shelf.refresh()
        if self._window is not None:
            self._window.select_later(entry.id)

    def _ask_token(self) -> None:
        from desktop.views.token_dialog import TokenDialog

        dialog = TokenDialog(self._window)
        dialog.kept.connect(self._set_token)
        dialog.tried.connect(self.search.try_token)
        self.search.token_known.connect(dialog.show_place)
        self.search.token_tried.connect(dialog.show_answer)
        dialog.finished.connect(dialog.deleteLater)
        self.search.ask_token()
        dialog.open()

    def _set_token(self, token: str) -> None:
        """For downloads too, also one that is tried again."""
        self.search.set_token(token)
        self._shelf.fetching.token = self.search.token
