"""The page of how messages are written, and what new chats begin with."""

from __future__ import annotations

from desktop.language import marked, tr
from desktop.models.conversation import Conversation
from desktop.models.named import Named
from desktop.presets import Prompt
from desktop.settings import SettingsFile
from desktop.views.settings.marked_choice import marked_choice
from desktop.widgets.form import Form
from desktop.widgets.later import Later
from desktop.widgets.prompt_edit import PromptEdit

_KEYS = (
    (marked("Enter sends, Shift+Enter makes a line"), "enter"),
    (marked("Ctrl+Enter sends, Enter makes a line"), "ctrl_enter"),
)


class WritingPage(Form):
    """Everything here counts at once."""

    def __init__(self, settings: SettingsFile, conversation: Conversation, prompts: Named[Prompt]) -> None:
        super().__init__()
        self._settings, self._conversation = settings, conversation
        self.send_with = marked_choice(_KEYS, settings.now.send_with)
        self.send_with.activated.connect(lambda _: settings.change(send_with=self.send_with.currentData()))
        says = tr("While an input method composes, Enter only ends its word. Default: Enter sends.")
        self.row(tr("Send key"), self.send_with, says)
        self.system = PromptEdit(tr("System prompt of new chats"), prompts)
        self.system.set_text(settings.now.new_chat.system_prompt)
        self._later = Later(self, self._save)
        self.system.edited.connect(self._later.start)
        says = tr("What the model always keeps in mind. Each chat can change its own; those that exist keep theirs.")
        self.row(tr("System prompt of new chats"), self.system, says)

    def finish(self) -> None:
        """Keep what was typed last."""
        self._later.now()

    def _save(self) -> None:
        new_chat = self._settings.now.new_chat.model_copy(update={"system_prompt": self.system.text})
        self._conversation.set_new_chat(new_chat)
