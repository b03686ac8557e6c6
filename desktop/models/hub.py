"""Looking for models on the hub, on a thread of its own: only the last question is answered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError, ErrorCode
from desktop.language import tr

log = logging.getLogger(__name__)


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
    _answered = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.token: str | None = None
        """For this run, where the system has no keyring."""
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="hub")
        self._ticket = 0
        self._closed = False
        self._answered.connect(self._on_answer)

    def close(self) -> None:
        """What is still asked is not answered; wait for the thread."""
        self._closed = True
        self._ticket += 1
        self._pool.shutdown(wait=True, cancel_futures=True)

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
        self._ticket += 1
        ticket = self._ticket
        self._beside(what, question, lambda found: answer.emit(what, found), ticket)

    def _beside(
        self, what: str, work: Callable[[], object], tell: Callable[[Any], object], ticket: int | None = None
    ) -> None:
        """Do it on the thread, and tell on the window's; with a ticket only if nothing was asked since."""

        def run() -> None:
            if ticket is not None and ticket != self._ticket:
                return
            try:
                result = work()
            except EngineError as error:
                failure = error
            except Exception as error:  # a thread's top
                log.exception("hub")
                failure = EngineError(ErrorCode.BUG, tr("The search failed: {error!r}.", error=error))
            else:
                self._answered.emit(ticket or 0, lambda: tell(result))
                return
            self._answered.emit(ticket or 0, lambda: self.failed.emit(what, failure))

        if not self._closed:
            self._pool.submit(run)

    def _on_answer(self, ticket: int, act: Callable[[], object]) -> None:
        if ticket in (0, self._ticket) and not self._closed:
            act()
