"""The page of the library of system prompts."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent

from desktop.language import marked, tr
from desktop.models.named import Named
from desktop.presets import Prompt
from desktop.views.settings.named_editor import NamedEditor
from desktop.widgets.form import Form
from desktop.widgets.named_row import Called
from desktop.widgets.prompt_edit import PromptEdit

_CALLED = Called(
    marked("Prompt"), new=marked("New prompt"), duplicate=marked("Duplicate prompt"), delete=marked("Delete prompt")
)
_ABOUT = marked(
    "System prompts under a name, to be taken into a chat from its settings. What a chat has taken is its own: "
    "changes here reach no chat that exists."
)


class PromptsPage(Form):
    """Changes count at once."""

    def __init__(self, prompts: Named[Prompt]) -> None:
        super().__init__()
        self.text = PromptEdit(tr("Text of the prompt"))
        fresh = Prompt(name=tr("New prompt"))
        self.editor = NamedEditor(self, _CALLED, prompts, fresh, self._show, self._read)
        self.text.edited.connect(self.editor.later.start)
        self.note(tr(_ABOUT))
        self.row(tr("Prompt"), self.editor.row)
        self.row(tr("Name"), self.editor.name)
        self.row(tr("Text"), self.text)
        self.editor.show("")

    def finish(self) -> None:
        """Keep what was typed last."""
        self.editor.later.now()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.editor.refresh()  # one may have been kept on another page

    def _show(self, _number: str, prompt: Prompt | None) -> None:
        self.text.set_text(prompt.text if prompt is not None else "")
        self.text.setEnabled(prompt is not None)

    def _read(self, was: Prompt) -> Prompt:
        return was.model_copy(update={"text": self.text.text})
