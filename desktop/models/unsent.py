"""What is written and not sent: kept for each chat and for the new page, also over the end of the program."""

from __future__ import annotations

import logging
from concurrent.futures import Future

from PySide6.QtCore import QObject

from desktop.models.conversation import Conversation
from desktop.store import Store, StoreError
from desktop.widgets.composer import Composer

log = logging.getLogger(__name__)


class Unsent(QObject):
    """Binds the message box to what is kept: read when another chat is shown, written when the writing pauses."""

    def __init__(self, composer: Composer, conversation: Conversation, store: Store) -> None:
        super().__init__(composer)
        self._composer, self._conversation, self._store = composer, conversation, store
        self._chat: int | None = None
        self._texts: dict[int | None, str] = {}
        """By chat; what the disk refused, or has not written yet, is here all the same."""
        composer.counting.connect(lambda _: self.keep())
        conversation.opened.connect(lambda _: self._show())
        self._read()

    def keep(self) -> None:
        """Write what is in the box now, if it has changed."""
        text = self._composer.text
        if text != self._texts[self._chat]:
            self._write(self._chat, text)

    def sent(self) -> None:
        """The box was emptied by sending, which may have begun a chat."""
        if self._texts[self._chat]:
            self._write(self._chat, "")
        self._chat = self._here()
        self._texts[self._chat] = ""

    def _here(self) -> int | None:
        return self._conversation.chat.id if self._conversation.chat is not None else None

    def _show(self) -> None:
        if self._here() != self._chat:
            self.keep()
            self._read()

    def _read(self) -> None:
        self._chat = self._here()
        if self._chat not in self._texts:
            self._texts[self._chat] = self._stored(self._chat)
        self._composer.set_text(self._texts[self._chat])

    def _stored(self, chat: int | None) -> str:
        try:
            return self._store.unsent(chat)
        except StoreError as error:
            log.warning("what was not sent could not be read: %s", error)
            return ""

    def _write(self, chat: int | None, text: str) -> None:
        self._texts[chat] = text
        self._store.keep_unsent(chat, text).add_done_callback(_noted)


def _noted(done: Future[None]) -> None:
    """It is in the box still; a disk that refuses is said where something would be lost."""
    if (error := done.exception()) is not None:
        log.warning("what was not sent could not be kept: %s", error)
