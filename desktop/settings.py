"""What a person has chosen: one readable JSON file, written whole or not at all, and read with tolerance."""

from __future__ import annotations

import copy
import json
import logging
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError
from backend.library.jsonfile import write_json
from backend.protocol import LoadOptions, Sampling, Speculation
from desktop.words import Notice

log = logging.getLogger(__name__)

AUTOMATIC, LOOKUP, NONE = "auto", "lookup", "none"
"""Draft choices beside a model's id."""


class ChatSettings(BaseModel):
    """Settings of one chat, stored with it."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    system_prompt: str = ""
    sampling: Sampling = Sampling()
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    thinking: bool | None = None
    """None = as the model's template decides."""

    def template_kwargs(self) -> dict[str, Any]:
        """Switches for a template; which of them it knows is asked when it is known which model answers."""
        return {} if self.thinking is None else {"enable_thinking": self.thinking}


class Settings(BaseModel):
    """Settings of the app."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    theme: Literal["system", "light", "dark"] = "system"
    target: str | None = None
    draft: str = AUTOMATIC
    speculation: Speculation = Speculation()
    load: LoadOptions = LoadOptions()
    new_chat: ChatSettings = ChatSettings()
    origins: bool = False
    """Replies token by token: where each token came from."""
    panel: bool = False
    """Whether the speculation panel is open."""
    place: str = ""
    """Where the window stands and how large it is, as Qt writes it."""
    clean_exit: bool = True
    """False after a start that never came to its end: then no model is loaded by itself."""


class SettingsFile(QObject):
    """The current settings and their file. ``problem`` says what of the file could not be read, if anything."""

    noticed = Signal(object)
    """Notice: they are not saved. Told once, until they are saved again."""

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
                why = f"What you choose holds until Tandem ends. {error.message}"
                self.noticed.emit(Notice("The settings are not saved", why, ("retry", "log"), retry=self._again))

    def _again(self) -> None:
        self._told = False
        self._save()

    def _read(self) -> Settings:
        try:
            raw = json.loads(self.path.read_text(encoding="utf-8-sig"))  # some editors put a mark first
        except FileNotFoundError:
            return Settings()
        except (OSError, ValueError, RecursionError) as error:
            self._set_aside(f"The settings in {self.path} could not be read ({error}), so defaults are used.")
            return Settings()
        if not isinstance(raw, dict):
            self._set_aside(f"{self.path} holds no settings, so defaults are used.")
            return Settings()
        settings, dropped = _tolerant(raw)
        if dropped:
            names = ", ".join(f"“{name}”" for name in dropped)
            self._set_aside(f"In the settings in {self.path} {names} could not be used, so defaults are used instead.")
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
            self.problem = f"{problem} The old file is kept as {aside.name}."
        except OSError as error:
            self._writable = False
            self.problem = f"{problem} The file could not be put aside ({error}), so changes are not saved."


def _tolerant(raw: dict[str, Any]) -> tuple[Settings, list[str]]:
    """The settings without those fields that do not fit, and the names of these."""
    raw = copy.deepcopy(raw)
    dropped: list[str] = []
    while True:
        try:
            return Settings.model_validate(raw), dropped
        except ValidationError as error:
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
