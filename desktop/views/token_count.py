"""Counts the tokens of the prompt that the message in the box would make."""

from __future__ import annotations

from PySide6.QtCore import QObject

from backend.documents import estimated_tokens
from desktop.bridge import EngineBridge
from desktop.models.conversation import Conversation
from desktop.models.engine import Engine
from desktop.widgets.composer import Composer


class TokenCount(QObject):
    """Binds the composer's count: shown while something is written that could be sent; an estimate without a model.

    Under an empty box, or beside a running reply, it would count nothing that is there. One question is asked at a
    time, as counting a book takes a while, and only the answer to the latest is shown.
    """

    def __init__(self, composer: Composer, bridge: EngineBridge, engine: Engine, conversation: Conversation) -> None:
        super().__init__(composer)
        self._composer, self._bridge, self._engine = composer, bridge, engine
        self._conversation = conversation
        self._ticket = 0
        self._vocabulary = ""
        self._waiting = self._again = False
        composer.counting.connect(self._ask)
        composer.writing.edited.connect(self._written)
        conversation.opened.connect(lambda _: self._begin())
        conversation.running_changed.connect(lambda _: self._begin())
        engine.changed.connect(self._reconsider)
        bridge.counted.connect(self._counted)

    def _begin(self) -> None:
        self._clear()
        self._ask()

    def _reconsider(self) -> None:
        """Another tokenizer counts otherwise."""
        target = self._engine.state.target
        vocabulary = target.tokenizer if target is not None else ""
        if vocabulary != self._vocabulary:
            self._vocabulary = vocabulary
            self._ask()

    def _written(self) -> None:
        if self._composer.writing.empty:
            self._clear()

    def _clear(self) -> None:
        self._ticket += 1
        self._composer.set_count(None, None)

    def _ask(self) -> None:
        conversation, draft = self._conversation, self._composer.draft
        self._ticket += 1
        if not (draft.text.strip() or draft.attachments) or conversation.running:
            self._composer.set_count(None, None)
            return
        prompt = conversation.prompt(draft.text, draft.attachments)
        if self._engine.state.target is None:
            about = sum(estimated_tokens(message.content) for message in prompt)
            self._composer.set_count(about, None, estimated=True)
        elif self._waiting:
            self._again = True
        else:
            self._waiting = True
            self._bridge.count(self._ticket, prompt, conversation.chat_settings.template_kwargs())

    def _counted(self, ticket: int, counted: tuple[int, int | None] | None) -> None:
        self._waiting = False
        if ticket == self._ticket and counted is not None:
            self._composer.set_count(*counted)
        if self._again:
            self._again = False
            self._ask()
