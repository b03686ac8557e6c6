"""What a chat's settings come to: its own values over the preset that it, its model or every model has."""

from __future__ import annotations

from collections.abc import Mapping

from backend.protocol import Sampling
from desktop.models.engine import Engine
from desktop.models.shelf import Shelf
from desktop.presets import RECOMMENDED, SHIPPED, USUAL, Preset, named
from desktop.settings import ChatSettings, Settings, SettingsFile


def presets_of(settings: Settings) -> dict[str, Preset]:
    """All presets by their ids: the shipped ones, which no file can take away, then a person's own."""
    return named(SHIPPED) | {number: preset for number, preset in settings.presets.items() if number not in SHIPPED}


def preset_for(settings: Settings, model: str | None) -> str:
    """The id of what chats without a choice of their own use with this model. What was deleted counts as no choice."""
    own = settings.models.get(model or "")
    known = {RECOMMENDED, *presets_of(settings)}
    wanted = (own.preset if own is not None else None, settings.preset)
    return next((preset for preset in wanted if preset is not None and preset in known), RECOMMENDED)


def values_of(presets: Mapping[str, Preset], preset: str, recommended: Sampling | None) -> Sampling:
    """A preset's values; ``recommended`` is what the model's publisher says, if anything."""
    if preset == RECOMMENDED:
        return recommended or presets[USUAL].sampling
    return presets[preset].sampling


class SamplingOf:
    """Of chats, for the model that answers: the one that is on its way, else the one that is loaded."""

    def __init__(self, settings: SettingsFile, engine: Engine, shelf: Shelf) -> None:
        self._settings, self._engine, self._shelf = settings, engine, shelf

    @property
    def model(self) -> str | None:
        """Which one that is."""
        return self._engine.target or self._settings.now.target

    def __call__(self, chat: ChatSettings) -> Sampling:
        """What the next reply is asked for with."""
        return chat.sampling.over(self.preset(chat.preset, chat.thinking))

    def preset(self, chosen: str | None, thinking: bool | None = None) -> Sampling:
        """The values of a chat's preset before its own; None, or one that is no more = the model's."""
        now = self._settings.now
        presets = presets_of(now)
        if chosen != RECOMMENDED and chosen not in presets:
            chosen = preset_for(now, self.model)
        return values_of(presets, chosen, self.recommended(thinking))

    def recommended(self, thinking: bool | None = None) -> Sampling | None:
        """What the publisher of the model recommends, where the catalogue knows it."""
        model = self._shelf.named(self.model)
        entry = model.entry if model is not None else None
        found: Sampling | None = entry.recommended(thinking) if entry is not None else None
        return found
