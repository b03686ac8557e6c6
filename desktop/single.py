"""One window for each data folder: a second start only brings the first to the front, or takes over when it ends."""

from __future__ import annotations

import hashlib
import logging
import time
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from backend.library.lock import FolderLock

log = logging.getLogger(__name__)
_RAISE, _RAISED = b"tandem 1 raise\n", b"tandem 1 raised\n"
_WAIT_MS = 1000
_AGAIN_SECONDS = 0.1
PATIENCE = 20.0
"""Seconds that a start waits for one that ends, or that does not answer."""


class SingleInstance(QObject):
    """Who owns the folder is decided by a lock, which ends with its process; the socket only carries the request.

    ``first`` says whether this process owns the folder, ``raised`` fires when another one was started. Neither being
    first nor having been ``answered`` means that the owner neither ended nor answered in time.
    """

    raised = Signal()

    def __init__(self, folder: Path, patience: float = PATIENCE) -> None:
        super().__init__()
        self._name = "tandem-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
        self._lock = FolderLock(folder / "tandem.lock")
        self._server: QLocalServer | None = None
        self.first = self.answered = False
        until = time.monotonic() + patience
        while not self._decided() and time.monotonic() < until:
            time.sleep(_AGAIN_SECONDS)
        if self.first:
            self._listen()

    def stop_listening(self) -> None:
        """This window closes: who starts now waits for :meth:`close` instead of raising what is going away."""
        if self._server is not None:
            self._server.close()

    def close(self) -> None:
        """Let another process take over."""
        self.stop_listening()
        self._lock.release()

    def _decided(self) -> bool:
        self.first = self._lock.take()
        self.answered = not self.first and _raise_other(self._name)
        return self.first or self.answered

    def _listen(self) -> None:
        QLocalServer.removeServer(self._name)  # what a crashed process left: the lock says that nobody is there
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        if not self._server.listen(self._name):
            log.warning("other starts will not find this window: %s", self._server.errorString())

    def _connected(self) -> None:
        assert self._server is not None
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            socket.write(_RAISED)
            socket.flush()
            self.raised.emit()


def _raise_other(name: str) -> bool:
    """Ask the owner to show its window; a connection alone says nothing, for one that closes still takes it."""
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_WAIT_MS):
        return False
    socket.write(_RAISE)
    socket.flush()
    answered = socket.waitForReadyRead(_WAIT_MS) and bytes(socket.readAll().data()).startswith(_RAISED)
    socket.disconnectFromServer()
    return answered
