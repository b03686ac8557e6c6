"""Which preset chats use that have none of their own: for every model, and for single ones."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox

from desktop.language import tr
from desktop.models.choices import label
from desktop.models.named import Named
from desktop.models.sampling import SamplingOf, preset_for
from desktop.models.shelf import Shelf
from desktop.presets import RECOMMENDED, USUAL, Preset
from desktop.settings import SettingsFile
from desktop.widgets.form import Form
from desktop.widgets.picker import ChoiceBox

_EVERY = ""


class PresetUse:
    """Three drop-downs: the preset of every model, a model, and the preset of that."""

    def __init__(self, settings: SettingsFile, presets: Named[Preset], shelf: Shelf, sampling: SamplingOf) -> None:
        self._settings, self._presets, self._sampling = settings, presets, sampling
        self.every, self.model, self.single = ChoiceBox(), ChoiceBox(), ChoiceBox()
        for number, name in models(shelf, settings, sampling.model):
            self.model.addItem(name, number)
        self.model.setCurrentIndex(max(self.model.findData(sampling.model), 0))
        self.every.activated.connect(lambda _: settings.change(preset=self.every.currentData()))
        self.model.activated.connect(lambda _: self.refresh())
        self.single.activated.connect(lambda _: self._keep())
        self.refresh()

    def add_to(self, page: Form) -> None:
        """The rows."""
        page.heading(tr("Which preset is used"))
        says = tr("By chats that have no preset of their own. A chat's own values always stay its own.")
        page.row(tr("Every model"), self.every, says)
        if self.model.count():
            page.row(tr("One model"), self.model)
            page.row(tr("Its preset"), self.single)
        else:
            for unused in (self.model, self.single):  # it goes with the page all the same
                unused.setParent(page)
                unused.hide()

    def refresh(self) -> None:
        """Show what holds; presets may have come, gone, or have other names."""
        now = self._settings.now
        _fill(self.every, self._items(), preset_for(now, None))
        own = now.models.get(self.model.currentData() or "")
        chosen = own.preset if own is not None and own.preset in {*self._presets.all, RECOMMENDED} else _EVERY
        _fill(self.single, [(tr("As every model"), _EVERY), *self._items()], chosen)

    def _items(self) -> list[tuple[str, str]]:
        usual = self._presets.all[USUAL].name
        own = [(preset.name, number) for number, preset in self._presets.all.items()]
        return [(tr("What its publisher recommends, else {preset}", preset=usual), RECOMMENDED), *own]

    def _keep(self) -> None:
        model, preset = str(self.model.currentData()), self.single.currentData() or None
        self._settings.change(models=self._settings.now.choosing(model, preset=preset))


def models(shelf: Shelf, settings: SettingsFile, answering: str | None) -> list[tuple[str, str]]:
    """Ids and names of the targets that something can be chosen for: those that are here, and those that have it."""
    found = {m.id: label(m) for m in shelf.models if m.state == "installed"}
    for other in (*settings.now.models, *([answering] if answering else [])):
        found.setdefault(other, other)
    return list(found.items())


def _fill(box: QComboBox, items: list[tuple[str, str]], chosen: str) -> None:
    with QSignalBlocker(box):
        box.clear()
        for text, data in items:
            box.addItem(text, data)
        box.setCurrentIndex(max(box.findData(chosen), 0))
