"""What a person has chosen: one readable JSON file, written whole or not at all, and read with tolerance."""

from __future__ import annotations

import copy
import json
import logging
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError
from backend.library.jsonfile import write_json
from backend.protocol import ContextSize, Layers, LoadOptions, Speculation
from desktop.language import marked, tr
from desktop.presets import RECOMMENDED, OwnSampling, Preset, Prompt, without_defaults
from desktop.words import Notice

log = logging.getLogger(__name__)
M = TypeVar("M", bound=BaseModel)

AUTOMATIC, LOOKUP, NONE = "auto", "lookup", "none"
"""Draft choices beside a model's id."""


class ChatSettings(BaseModel):
    """Settings of one chat, stored with it. Fields of a newer version are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")
    system_prompt: str = ""
    preset: str | None = None
    """Its id; None = the one of the model that answers."""
    sampling: OwnSampling = OwnSampling()
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    thinking: bool | None = None
    """None = as the model's template decides."""

    @model_validator(mode="before")
    @classmethod
    def _before_presets(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "preset" not in raw and "sampling" in raw:
            return raw | {"sampling": without_defaults(raw["sampling"])}
        return raw

    def template_kwargs(self) -> dict[str, Any]:
        """Switches for a template; which of them it knows is asked when it is known which model answers."""
        return {} if self.thinking is None else {"enable_thinking": self.thinking}


class ModelChoices(BaseModel):
    """What is chosen for one target; None = as for all."""

    model_config = ConfigDict(frozen=True, extra="allow")
    preset: str | None = None
    n_ctx: ContextSize | None = None
    gpu_layers: Layers | None = None
    draft_gpu_layers: Layers | None = None


SendWith = Literal["enter", "ctrl_enter"]


class Settings(BaseModel):
    """Settings of the app. Fields of a newer version are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")
    theme: Literal["system", "light", "dark"] = "system"
    text_size: Annotated[int, Field(ge=80, le=200)] = 100
    """Percent of the system's, everywhere."""
    zoom: Annotated[int, Field(ge=50, le=300)] = 100
    """Percent on top of that, for messages and the message box."""
    send_with: SendWith = "enter"
    target: str | None = None
    draft: str = AUTOMATIC
    speculation: Speculation = Speculation()
    load: LoadOptions = LoadOptions()
    preset: str = RECOMMENDED
    """Of chats and models that have none of their own."""
    presets: dict[str, Preset] = {}
    """A person's own, beside those that are shipped."""
    prompts: dict[str, Prompt] = {}
    models: dict[str, ModelChoices] = {}
    """By a target's id."""
    new_chat: ChatSettings = ChatSettings()
    origins: bool = False
    """Replies token by token: where each token came from."""
    panel: bool = False
    """Whether the speculation panel is open."""
    place: str = ""
    """Where the window stands and how large it is, as Qt writes it."""
    sidebar: bool = True
    """Whether the chats are shown where there is room for them."""
    widths: dict[str, list[Annotated[int, Field(ge=0)]]] = {}
    """How the parts of a window share its width, by the name of what they are parts of."""
    clean_exit: bool = True
    """False after a start that never came to its end: then no model is loaded by itself."""

    def choosing(self, model: str, **fields: Any) -> dict[str, ModelChoices]:
        """``models`` with other choices for one of them; where nothing is chosen there is no entry."""
        chosen = self.models | {model: self.models.get(model, ModelChoices()).model_copy(update=fields)}
        return {other: choices for other, choices in chosen.items() if choices != ModelChoices()}

    def load_for(self, target: str | None) -> LoadOptions:
        """How this target is loaded."""
        own = self.models.get(target or "", ModelChoices())
        chosen = {"n_ctx": own.n_ctx, "gpu_layers": own.gpu_layers, "draft_gpu_layers": own.draft_gpu_layers}
        return self.load.model_copy(update={name: value for name, value in chosen.items() if value is not None})


class SettingsFile(QObject):
    """The current settings and their file. ``problem`` says what of the file could not be read, if anything."""

    noticed = Signal(object)
    """Notice: they are not saved. Told once, until they are saved again."""
    changed = Signal()

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._told = False
        self.problem = ""
        self._writable = True
        self.now = self._read()
        if self.problem:
            self.change()
            self._told = False  # nobody listens yet

    def change(self, **fields: Any) -> Settings:
        """Replace some fields and write the file; the choice holds for this run also when that fails."""
        self.now = self.now.model_copy(update=fields)
        if self._writable:
            self._save()
        self.changed.emit()
        return self.now

    def _save(self) -> None:
        """Write the file; a fault is said."""
        try:
            write_json(self.path, self.now.model_dump(mode="json"))
            self._told = False
        except EngineError as error:
            log.warning("settings were not saved: %s", error)
            if not self._told:
                self._told = True
                why = f"{tr('What you choose holds until Tandem ends.')} {error.message}"
                self.noticed.emit(Notice(tr("The settings are not saved"), why, ("retry", "log"), retry=self._again))

    def _again(self) -> None:
        self._told = False
        self._save()

    def _read(self) -> Settings:
        path = self.path
        try:
            text = path.read_text(encoding="utf-8-sig")  # some editors put a mark first
            raw = json.loads(text, parse_float=_finite, parse_constant=_finite)
        except FileNotFoundError:
            return Settings()
        except (OSError, ValueError, RecursionError) as error:
            said = marked("The settings in {path} could not be read ({error}), so defaults are used.")
            self._set_aside(tr(said, path=path, error=error))
            return Settings()
        if not isinstance(raw, dict):
            self._set_aside(tr("{path} holds no settings, so defaults are used.", path=path))
            return Settings()
        settings, dropped = tolerant(Settings, raw)
        if dropped:
            names = ", ".join(tr("“{name}”", name=name) for name in dropped)
            said = marked("In the settings in {path} {names} could not be used, so defaults are used instead.")
            self._set_aside(tr(said, path=path, names=names))
        return settings

    def _set_aside(self, problem: str) -> None:
        """Keep the file as it was, whatever is written in its place: it may hold an hour's work and one slip."""
        log.warning("%s", problem)
        number, aside = 1, self.path.with_suffix(".unreadable.json")
        while aside.exists():
            number += 1
            aside = self.path.with_suffix(f".unreadable-{number}.json")
        try:
            self.path.replace(aside)
            self.problem = f"{problem} {tr('The old file is kept as {name}.', name=aside.name)}"
        except OSError as error:
            self._writable = False
            kept = tr("The file could not be put aside ({error}), so changes are not saved.", error=error)
            self.problem = f"{problem} {kept}"


def tolerant(kind: type[M], raw: dict[str, Any]) -> tuple[M, list[str]]:
    """Settings without those fields that do not fit, and the names of these."""
    dropped: list[str] = []
    while True:
        try:
            return kind.model_validate(raw), dropped
        except ValidationError as error:
            raw = raw if dropped else copy.deepcopy(raw)
            dropped.append(_drop(raw, error.errors()[0]["loc"]))


def _drop(raw: dict[str, Any], where: tuple[int | str, ...]) -> str:
    """Take out the innermost named field on the way to the fault."""
    inside: Any = raw
    for depth, name in enumerate(where):
        further = inside[name]
        beyond = where[depth + 1] if depth + 1 < len(where) else None
        if not (isinstance(further, dict) and beyond in further):
            del inside[name]
            return ".".join(map(str, where[: depth + 1]))
        inside = further
    raise AssertionError(where)  # every fault lies in a field


def _finite(text: str) -> float | None:
    """JSON has no number that is not finite, but Python reads some, and they could not be written again."""
    value = float(text)
    return value if isfinite(value) else None
