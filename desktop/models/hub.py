"""Looking for models on the hub, beside the window: only the last question is answered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError, ErrorCode
from desktop.errands import Errands
from desktop.language import tr

log = logging.getLogger(__name__)
_LAST_SECONDS = 1.0
"""A keyring that waits to be unlocked, or a hub that does not answer, is not waited for at the end."""


class HubSearch(QObject):
    """Signals arrive on the window's thread."""

    found = Signal(str, object)
    """the words, list[Hit]"""
    offered = Signal(str, object)
    """a repository, list[CatalogueModel]"""
    failed = Signal(str, object)
    """what was asked for, EngineError"""
    kept = Signal(object)
    """CatalogueModel: its download can begin"""
    token_known = Signal(str)
    """Where the token comes from: keyring, surroundings, run; empty = there is none."""
    token_tried = Signal(str)
    """What the hub says of it, in words."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.token: str | None = None
        """For this run, where the system has no keyring."""
        self._errands = Errands("hub", self)
        self._ticket = 0

    def close(self) -> None:
        """What is still asked is not answered."""
        self._ticket += 1
        self._errands.close(_LAST_SECONDS)

    def search(self, words: str) -> None:
        """Repositories whose names hold the words. No token is sent: who looks is nobody's business."""
        from backend.library.hub_search import search

        self._ask(words, lambda: search(words), self.found)

    def ask_offers(self, repo: str) -> None:
        """What a repository holds; with a token only where the hub asks for one."""
        run = self.token

        def offers() -> object:
            from backend.library import hub_search
            from backend.library.token import find_token

            try:
                return hub_search.offers(repo)
            except EngineError as error:
                if error.code is not ErrorCode.GATED or not (token := run or find_token()[0]):
                    raise
                return hub_search.offers(repo, token)

        self._ask(repo, offers, self.offered)

    def keep(self, entry: Any) -> None:
        """Remember an offer, so that it can be downloaded, and gone on with in another run."""
        from backend.library.found import Found

        self._beside(entry.id, lambda: Found().add(entry), lambda _: self.kept.emit(entry))

    def ask_token(self) -> None:
        """Where the token comes from."""
        self._beside("", self._token_place, self.token_known.emit)

    def set_token(self, token: str) -> None:
        """Keep a token, in the keyring or for this run; empty = forget it."""
        from backend.library.token import forget_token, keep_token

        self.token = token or None

        def keep() -> str:
            if not token:
                forget_token()
            elif keep_token(token):
                return "keyring"
            return self._token_place()

        self._beside("", keep, self.token_known.emit)

    def try_token(self, token: str) -> None:
        """Ask the hub whose a token is; empty = of the one that is kept."""
        run = self.token

        def asked() -> str:
            from backend.library.token import find_token
            from backend.library.whose import owner

            if not (tried := token or run or find_token()[0]):
                return tr("There is no token to test.")
            try:
                return tr("The token works: it is of the account {account}.", account=owner(tried))
            except EngineError as error:
                return error.message

        self._beside("", asked, self.token_tried.emit)

    def _token_place(self) -> str:
        from backend.library.token import find_token

        place = find_token()[1]
        return "run" if self.token and place != "keyring" else place

    def _ask(self, what: str, question: Callable[[], object], answer: Any) -> None:
        """A question that is forgotten when another is asked."""
        self._ticket += 1
        ticket = self._ticket

        def last() -> bool:
            return ticket == self._ticket

        self._errands.run(
            lambda: question() if last() else None,
            lambda found: answer.emit(what, found) if last() else None,
            lambda error: self._fail(what, error) if last() else None,
        )

    def _beside(self, what: str, work: Callable[[], object], tell: Callable[[Any], object]) -> None:
        self._errands.run(work, tell, lambda error: self._fail(what, error))

    def _fail(self, what: str, error: Exception) -> None:
        if not isinstance(error, EngineError):
            log.error("hub", exc_info=error)
            error = EngineError(ErrorCode.BUG, tr("The search failed: {error!r}.", error=error))
        self.failed.emit(what, error)
