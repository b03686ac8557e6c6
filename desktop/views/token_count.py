"""Counts the tokens of the conversation with the message that is being written."""

from __future__ import annotations

from PySide6.QtCore import QObject

from desktop.bridge import EngineBridge
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.widgets.composer import Composer


class TokenCount(QObject):
    """Binds the composer's count. Only the answer to the latest question is shown."""

    def __init__(self, composer: Composer, bridge: EngineBridge, engine: Engine, conversation: Conversation) -> None:
        super().__init__(composer)
        self._composer, self._bridge, self._engine = composer, bridge, engine
        self._conversation = conversation
        self._ticket = 0
        composer.counting.connect(self._ask)
        conversation.opened.connect(lambda _: self._begin())
        bridge.counted.connect(self._counted)

    def _begin(self) -> None:
        self._composer.set_count(None, None)
        self._ask(self._composer.text)

    def _ask(self, text: str) -> None:
        self._ticket += 1
        conversation = self._conversation
        if self._engine.state.target is None or (not text.strip() and not conversation.messages):
            self._composer.set_count(None, None)
            return
        prompt = conversation.prompt(text)
        if prompt:
            self._bridge.count(self._ticket, prompt, conversation.chat_settings.template_kwargs())

    def _counted(self, ticket: int, counted: tuple[int, int | None]) -> None:
        if ticket == self._ticket:
            self._composer.set_count(*counted)
