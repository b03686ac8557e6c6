"""Counts the tokens of the prompt that the message in the box would make."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop.bridge import EngineBridge
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.widgets.composer import Composer


class TokenCount(QObject):
    """Binds the composer's count: shown while something is written that could be sent.

    Under an empty box, or beside a running reply, it would count nothing that is there. Only the answer to the latest
    question is shown.
    """

    def __init__(self, composer: Composer, bridge: EngineBridge, engine: Engine, conversation: Conversation) -> None:
        super().__init__(composer)
        self._composer, self._bridge, self._engine = composer, bridge, engine
        self._conversation = conversation
        self._ticket = 0
        composer.counting.connect(self._ask)
        composer.edit.textChanged.connect(self._written)
        conversation.opened.connect(lambda _: self._begin())
        conversation.running_changed.connect(lambda _: self._begin())
        bridge.counted.connect(self._counted)

    def _begin(self) -> None:
        self._clear()
        self._ask(self._composer.text)

    def _written(self) -> None:
        if not self._composer.text.strip():
            self._clear()

    def _clear(self) -> None:
        self._ticket += 1
        self._composer.set_count(None, None)

    def _ask(self, text: str) -> None:
        conversation = self._conversation
        if self._engine.state.target is None or not text.strip() or conversation.running:
            self._clear()
            return
        self._ticket += 1
        self._bridge.count(self._ticket, conversation.prompt(text), conversation.chat_settings.template_kwargs())

    def _counted(self, ticket: int, counted: tuple[int, int | None]) -> None:
        if ticket == self._ticket:
            self._composer.set_count(*counted)
