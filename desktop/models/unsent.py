"""What is written and not sent: kept for each chat, for the new page, and for messages that are being written anew.

It outlives the program. What the disk refuses is written again with the next change, and at the end.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future

from PySide6.QtCore import QObject, Signal

from backend.documents import Attachment
from desktop.models.conversation import Conversation
from desktop.store import Draft, Store, StoreError
from desktop.widgets.composer import Composer
from desktop.widgets.message_view import MessageView

log = logging.getLogger(__name__)

_NEW = 0
"""The page on which a chat begins. Chats have their ids, messages that are being written anew theirs below zero."""


class Unsent(QObject):
    """Binds message box and messages to what is kept: read when a chat is shown, written when the writing pauses."""

    _refused = Signal(int)

    def __init__(self, composer: Composer, messages: MessageView, conversation: Conversation, store: Store) -> None:
        super().__init__(composer)
        self._composer, self._messages = composer, messages
        self._conversation, self._store = conversation, store
        self._place = _NEW
        self._drafts: dict[int, Draft] = {}
        """Newer than what is on disk, where both are."""
        self._attached: dict[int, tuple[Attachment, ...] | None] = {}
        """What is on disk, or on its way there (None: nobody knows): large, and not written again with every word."""
        self._unwritten: set[int] = set()
        composer.counting.connect(self.keep)
        composer.sent.connect(self._sent)
        conversation.went_out.connect(self._went_out)
        messages.rewriting.connect(lambda message, draft: self._write(-message, draft))
        messages.laid_out.connect(self._go_on)
        conversation.opened.connect(lambda _: self._show())
        conversation.rewrote.connect(lambda message: self._write(-message, Draft()))
        self._refused.connect(self._write_later)
        self._read()

    def keep(self) -> None:
        """Write what is in the box now if it has changed, and what the disk has refused before."""
        again, self._unwritten = self._unwritten, set()
        if self._composer.draft != self._drafts.get(self._place, Draft()):
            self._drafts[self._place] = self._composer.draft
            again.add(self._place)
        for place in again:
            self._put(place)

    def finish(self) -> None:
        """The program ends: keep what has not paused yet, too."""
        for widget in self._messages.widgets:
            widget.keep_rewriting()
        self.keep()

    def _went_out(self, place: int, sent: Draft) -> None:
        """It is on disk as a message. Whoever had to wait for that may have gone elsewhere, or have written on."""
        if place == self._place and self._composer.draft == sent:
            self._composer.clear()
        elif place == self._place:
            self._sent()
        elif self._drafts.get(place) == sent:
            self._write(place, Draft())

    def _sent(self) -> None:
        """What was in the box was sent, which may have begun a chat."""
        self._write(self._place, Draft())
        self._place = self._here()
        self._drafts[self._place] = Draft()
        self.keep()

    def _here(self) -> int:
        return self._conversation.chat.id if self._conversation.chat is not None else _NEW

    def _show(self) -> None:
        if self._here() != self._place:
            self.keep()
            self._read()
        self._go_on()

    def _go_on(self) -> None:
        """With messages that are being written anew, as far as they are laid out."""
        for message in self._conversation.messages:
            if draft := self._drafts.get(-message.id):
                self._messages.rewrite(message.id, draft)

    def _read(self) -> None:
        self._place = self._here()
        try:
            stored = self._store.unsent(self._place)
        except StoreError as error:
            log.warning("what was not sent could not be read: %s", error)
            stored = {}
        for place, draft in stored.items():
            self._attached.setdefault(place, draft.attachments)
        self._drafts = stored | self._drafts
        self._composer.writing.replace(self._drafts.get(self._place, Draft()))

    def _write(self, place: int, draft: Draft) -> None:
        if draft or self._drafts.get(place):
            self._drafts[place] = draft
            self._put(place)

    def _put(self, place: int) -> None:
        draft = self._drafts[place]
        known = self._attached.get(place, ()) == draft.attachments
        self._attached[place] = draft.attachments
        kept = self._store.keep_unsent(place, draft.text, None if known else draft.attachments)
        kept.add_done_callback(lambda done: self._written(place, done))

    def _written(self, place: int, done: Future[None]) -> None:
        """On the writing thread. It is on screen still; a disk that refuses is said where something would be lost."""
        if (error := done.exception()) is not None:
            log.warning("what was not sent could not be kept: %s", error)
            self._refused.emit(place)

    def _write_later(self, place: int) -> None:
        self._unwritten.add(place)
        self._attached[place] = None
