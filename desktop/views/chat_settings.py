"""The chat-settings dialog: what this chat asks for, over what its preset has."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from backend.protocol import State
from desktop.language import marked, tr
from desktop.models.limits import shown_number
from desktop.models.named import Named
from desktop.models.sampling import SamplingOf, preset_for, presets_of
from desktop.presets import RECOMMENDED, USUAL, OwnSampling, Prompt
from desktop.settings import ChatSettings, Settings
from desktop.theme.units import lines
from desktop.views.settings.numbers import LONGEST, SAMPLING, SEED
from desktop.widgets.field import NumberField
from desktop.widgets.form import Form
from desktop.widgets.picker import ChoiceBox, choice
from desktop.widgets.prompt_edit import PromptEdit

_THINKING = (
    (marked("As the model prefers"), None),
    (marked("On"), True),
    (marked("Off"), False),
)
_OWN = marked(
    "These count from the next message. What is left empty follows the preset, also when that is changed later; what "
    "you enter is this chat's own."
)


class ChatSettingsDialog(QDialog):
    """Edits a copy; read ``chat`` after it was accepted.

    Args:
        chat: the chat's settings.
        now: the program's.
        sampling: what presets come to.
        prompts: the library.
        state: of the engine.
    """

    def __init__(
        self,
        chat: ChatSettings,
        now: Settings,
        sampling: SamplingOf,
        prompts: Named[Prompt],
        state: State,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Chat settings"))
        self._chat, self._sampling = chat, sampling
        self.form = form = Form()
        self.system = PromptEdit(tr("System prompt"), prompts)
        self.system.set_text(chat.system_prompt)
        form.row(tr("System prompt"), self.system, tr("What the model should always keep in mind in this chat."))
        if state.target is not None and state.target.template_note:
            form.note(state.target.template_note)
        self.preset = choice(_preset_items(now, sampling, chat.preset), chat.preset)
        if self.preset.currentIndex() < 0:  # it was deleted
            self.preset.setCurrentIndex(0)
        form.row(tr("Preset"), self.preset)
        form.note(tr(_OWN))
        self.fields = {number.field: NumberField(number) for number in SAMPLING}
        for number in SAMPLING:
            form.row(tr(number.label), self.fields[number.field])
        self.seed, self.longest = NumberField(SEED), NumberField(LONGEST)
        says = tr("Default: a fresh one for every reply.")
        self.seed.set_value(chat.sampling.seed, None, empty=tr("A fresh one"), tail=says)
        says = tr("Default: no limit but the context's.")
        self.longest.set_value(chat.max_tokens, None, empty=tr("No limit"), tail=says)
        form.row(tr(SEED.label), self.seed)
        form.row(tr("Longest reply (tokens)"), self.longest)
        self.thinking: ChoiceBox | None = None
        if state.target is not None and "enable_thinking" in state.target.template_variables:
            self.thinking = choice([(tr(text), value) for text, value in _THINKING], chat.thinking)
            form.row(tr("Thinking"), self.thinking, tr("Whether the model thinks before it answers."))
            self.thinking.activated.connect(lambda _: self._show_preset())
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 12)
        layout.addWidget(form, 1)
        layout.addWidget(self.buttons)
        self.buttons.setContentsMargins(12, 0, 12, 0)
        self._show_numbers(chat.sampling)
        self.preset.activated.connect(lambda _: self._show_preset())
        for field in (*self.fields.values(), self.seed, self.longest):
            field.changed.connect(self._show_problem)
        self.resize(lines(self, 34), lines(self, 36))
        self.system.setFocus()

    @property
    def chat(self) -> ChatSettings:
        """This chat's settings as edited."""
        return self._chat.model_copy(
            update={
                "system_prompt": self.system.text,
                "preset": self.preset.currentData(),
                "sampling": self._own(),
                "max_tokens": self.longest.value,
                "thinking": self._thinking,
            }
        )

    @property
    def _thinking(self) -> bool | None:
        return self._chat.thinking if self.thinking is None else self.thinking.currentData()

    def _own(self) -> OwnSampling:
        values = {name: field.value for name, field in self.fields.items()}
        return self._chat.sampling.model_copy(update=values | {"seed": self.seed.value})

    def _show_preset(self) -> None:
        """Another one: what is the chat's own stays so."""
        self._show_numbers(self._own())
        self._show_problem()

    def _show_numbers(self, own: OwnSampling) -> None:
        preset = self._sampling.preset(self.preset.currentData(), self._thinking)
        for name, field in self.fields.items():
            there = getattr(preset, name)
            says = tr("The preset has {value}.", value=shown_number(there))
            field.set_value(getattr(own, name), there, tail=says)

    def _show_problem(self) -> None:
        fields = (*self.fields.values(), self.seed, self.longest)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not any(field.problem for field in fields))


def _preset_items(now: Settings, sampling: SamplingOf, chosen: str | None) -> list[tuple[str, str | None]]:
    """The model's first, and what its publisher recommends where that is known, or chosen all the same."""
    names = {number: preset.name for number, preset in presets_of(now).items()}
    known = sampling.recommended() is not None
    recommended = tr("The publisher's values") if known else names[USUAL]
    usual = preset_for(now, sampling.model)
    first = (tr("As the model: {preset}", preset=recommended if usual == RECOMMENDED else names[usual]), None)
    if known or chosen == RECOMMENDED:
        names[RECOMMENDED] = tr("The publisher's values") if known else tr("The publisher's values (not known)")
    return [first, *((name, number) for number, name in names.items())]
