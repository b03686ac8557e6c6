"""A message sent while no model is loaded waits for one to be chosen; nobody has to send it twice."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop.bridge import EngineBridge
from desktop.language import marked
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.widgets.notice_bar import NoticeBar
from desktop.words import Notice

WAITING = Notice(
    marked("No model is loaded"),
    marked("Choose one; your message is kept, and answered when it is loaded. Esc gives it up."),
    ("models",),
    mild=True,
)


class Modelless(QObject):
    """Holds a reply back while there is no target and none is on its way."""

    def __init__(self, bar: NoticeBar, bridge: EngineBridge, engine: Engine, conversation: Conversation) -> None:
        super().__init__(bar)
        self._bar, self._bridge, self._engine = bar, bridge, engine
        self._waits = False
        conversation.running_changed.connect(self._running)
        engine.changed.connect(self._changed)

    def _running(self, running: bool) -> None:
        """Before a reply's request goes out, and after its end."""
        if running and self._engine.target is None and self._engine.mode != "lost":
            self._waits = True
            self._bridge.hold_replies()
            self._bar.show_notice(WAITING)
        elif not running and self._waits:
            self._over()
            if self._engine.target is None:  # given up: nothing may wait behind it
                self._bridge.release_replies()

    def _changed(self) -> None:
        if self._waits and self._engine.target is not None:
            self._over()
            if not self._engine.busy:  # it was there before anybody chose it here
                self._bridge.release_replies()

    def _over(self) -> None:
        self._waits = False
        self._bar.withdraw(WAITING)
