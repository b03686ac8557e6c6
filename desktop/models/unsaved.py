"""What of a message is not on disk yet: kept here, laid over what is read, and tried again until it is written.

A full disk or another program's lock may last for minutes while a reply goes on. Its latest fields wait here; at most
one write of a message is under way, so that a slow disk never has a queue of old versions before the new one.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from desktop.language import tr
from desktop.store import Message, Store, StoreError
from desktop.words import Notice, notice

log = logging.getLogger(__name__)
RETRY_MS = 2000
PATIENCE_S = 0.2


@dataclass
class _Waiting:
    """One message's fields. ``version`` counts their changes, ``sent`` is the one being written (0 = none)."""

    fields: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    sent: int = 0
    failed: bool = False


class Unsaved(QObject):
    """Writes messages' fields, and holds them until they are on disk."""

    noticed = Signal(object)
    """Notice: a write failed. Told once, until everything is saved again."""
    saved = Signal(object)
    """Notice: what it said is over."""
    _written = Signal(int, int, object)

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._waiting: dict[int, _Waiting] = {}
        self._said: Notice | None = None
        self._timer = QTimer(self, interval=RETRY_MS)
        self._timer.timeout.connect(self.retry)
        self._written.connect(self._on_written)

    @property
    def problem(self) -> str:
        """Why something is not on disk although it was tried; empty when nothing failed."""
        return self._said.detail if self._said is not None else ""

    @property
    def writing(self) -> bool:
        """Whether a write is under way."""
        return any(waiting.sent for waiting in self._waiting.values())

    def update(self, message: int, **fields: Any) -> None:
        """Write these fields as soon as it can be done."""
        waiting = self._add(message, fields)
        if not waiting.sent and not waiting.failed:
            self._send(message)

    def finish(self, message: int, **fields: Any) -> None:
        """A message's last fields: on disk when this returns, unless the disk is slow; that is not waited for."""
        self._add(message, fields)
        wait([self._send(message)], timeout=PATIENCE_S)

    def over(self, message: Message) -> Message:
        """``message`` as it will be on disk."""
        waiting = self._waiting.get(message.id)
        return replace(message, **waiting.fields) if waiting is not None else message

    def retry(self) -> None:
        """Try again what failed."""
        for message, waiting in list(self._waiting.items()):
            if waiting.failed and not waiting.sent:
                self._send(message)

    def settle(self) -> None:
        """Wait until all is written, or has failed once more: the last chance before the store closes."""
        for message, waiting in list(self._waiting.items()):
            try:
                self._store.update_message(message, **waiting.fields).result()
                del self._waiting[message]
            except StoreError as error:
                log.error("message %d was not saved to its end: %s", message, error)

    def _add(self, message: int, fields: dict[str, Any]) -> _Waiting:
        waiting = self._waiting.setdefault(message, _Waiting())
        waiting.fields |= fields
        waiting.version += 1
        return waiting

    def _send(self, message: int) -> Future[None]:
        waiting = self._waiting[message]
        waiting.sent = waiting.version
        future = self._store.update_message(message, **waiting.fields)
        future.add_done_callback(partial(self._tell, message, waiting.sent))
        return future

    def _tell(self, message: int, version: int, future: Future[None]) -> None:
        """On the store's thread."""
        self._written.emit(message, version, future.exception())

    def _on_written(self, message: int, version: int, error: BaseException | None) -> None:
        waiting = self._waiting.get(message)
        if waiting is None or waiting.sent != version:
            return
        waiting.sent, waiting.failed = 0, error is not None
        if error is not None:
            self._failed(error)
        elif waiting.version != version:
            self._send(message)
        else:
            del self._waiting[message]
        if not any(w.failed for w in self._waiting.values()):
            self._all_well()

    def _failed(self, error: BaseException) -> None:
        log.warning("a message was not saved: %s", error)
        self._timer.start()
        if self._said is None:
            unknown = StoreError("failed", tr("It was not saved: {error!r}.", error=error))
            self._said = notice(error if isinstance(error, StoreError) else unknown, retry=self.retry)
            self.noticed.emit(self._said)

    def _all_well(self) -> None:
        self._timer.stop()
        if self._said is not None:
            said, self._said = self._said, None
            self.saved.emit(said)
