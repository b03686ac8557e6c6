"""One window for each data folder: a second start only brings the first to the front."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

log = logging.getLogger(__name__)
_RAISE = b"tandem 1 raise\n"
_WAIT_MS = 1000


class SingleInstance(QObject):
    """``first`` says whether this process owns the folder; ``raised`` fires when another one was started."""

    raised = Signal()

    def __init__(self, folder: Path) -> None:
        super().__init__()
        name = "tandem-" + hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
        self.first = not self._tell_other(name)
        self._server: QLocalServer | None = None
        if self.first:
            QLocalServer.removeServer(name)  # what a crashed process left; nobody answered on it
            self._server = QLocalServer(self)
            self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
            self._server.newConnection.connect(self._connected)
            if not self._server.listen(name):
                log.warning("other starts will not find this window: %s", self._server.errorString())

    def close(self) -> None:
        """Let another process take over."""
        if self._server is not None:
            self._server.close()

    @staticmethod
    def _tell_other(name: str) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(name)
        if not socket.waitForConnected(_WAIT_MS):
            return False
        socket.write(_RAISE)
        socket.waitForBytesWritten(_WAIT_MS)
        socket.disconnectFromServer()
        return True

    def _connected(self) -> None:
        assert self._server is not None
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.disconnected.connect(socket.deleteLater)
            self.raised.emit()
