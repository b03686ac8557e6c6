"""The page of sampling presets: the shipped ones to look at, a person's own to change, and which model uses which."""

from __future__ import annotations

from backend.protocol import Sampling
from desktop.language import marked, tr
from desktop.models.named import Named
from desktop.presets import SAYS, SHIPPED, USUAL, Preset
from desktop.views.settings.named_editor import NamedEditor
from desktop.views.settings.numbers import SAMPLING
from desktop.views.settings.preset_use import PresetUse
from desktop.widgets.field import NumberField
from desktop.widgets.form import Form, quiet
from desktop.widgets.named_row import Called

_CALLED = Called(
    marked("Preset"), new=marked("New preset"), duplicate=marked("Duplicate preset"), delete=marked("Delete preset")
)
_OWN = marked("Yours. Chats that use it have what you change here from their next message on.")
_USUAL = SHIPPED[USUAL].sampling


class PresetsPage(Form):
    """Changes count at once; a number that cannot be used is not taken over."""

    def __init__(self, presets: Named[Preset], use: PresetUse) -> None:
        super().__init__()
        self.use = use
        self.about = quiet("")
        self.fields = {number.field: NumberField(number) for number in SAMPLING}
        fresh = Preset(name=tr("New preset"), sampling=_USUAL)
        self.editor = NamedEditor(self, _CALLED, presets, fresh, self._show, self._read)
        use.add_to(self)
        self.heading(tr("Presets"))
        self.row(tr("Preset"), self.editor.row)
        self.row(tr("Name"), self.editor.name)
        self.wide(self.about)
        for number in SAMPLING:
            field = self.fields[number.field]
            field.changed.connect(self.editor.later.start)
            self.row(tr(number.label), field)
        self.editor.later.timeout.connect(use.refresh)
        self.editor.show(USUAL)

    def finish(self) -> None:
        """Keep what was typed last."""
        self.editor.later.now()

    def _show(self, number: str, preset: Preset | None) -> None:
        assert preset is not None  # the shipped ones are always there
        fixed = number in SHIPPED
        kept = tr("{says} It stays as it is: duplicate it to change it.", says=tr(SAYS[number])) if fixed else tr(_OWN)
        self.about.setText(kept)
        for name, field in self.fields.items():
            field.set_value(getattr(preset.sampling, name), getattr(_USUAL, name))
            field.edit.setReadOnly(fixed)
        self.use.refresh()

    def _read(self, was: Preset) -> Preset:
        typed = {name: field.value for name, field in self.fields.items() if not field.problem}
        typed = {name: getattr(_USUAL, name) if value is None else value for name, value in typed.items()}
        return was.model_copy(update={"sampling": Sampling.model_validate(was.sampling.model_dump() | typed)})
