"""What a person has chosen: one readable JSON file, written whole or not at all, and read with tolerance."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from backend.errors import EngineError
from backend.library.jsonfile import read_json, write_json
from backend.protocol import LoadOptions, Sampling, Speculation

log = logging.getLogger(__name__)

AUTOMATIC, LOOKUP, NONE = "auto", "lookup", "none"
"""Draft choices beside a model's id."""


class ChatSettings(BaseModel):
    """Settings of one chat, stored with it."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    system_prompt: str = ""
    sampling: Sampling = Sampling()
    max_tokens: int | None = None
    thinking: bool | None = None
    """None = as the model's template decides."""

    def template_kwargs(self, variables: list[str]) -> dict[str, Any]:
        """What of this the loaded template knows."""
        return {} if self.thinking is None or "enable_thinking" not in variables else {"enable_thinking": self.thinking}


class Settings(BaseModel):
    """Settings of the app."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    theme: Literal["system", "light", "dark"] = "system"
    target: str | None = None
    draft: str = AUTOMATIC
    speculation: Speculation = Speculation()
    load: LoadOptions = LoadOptions()
    new_chat: ChatSettings = ChatSettings()
    clean_exit: bool = True
    """False after a start that never came to its end: then no model is loaded by itself."""


class SettingsFile:
    """The current settings and their file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.now = self._read()

    def change(self, **fields: Any) -> Settings:
        """Replace some fields and write the file; a fault is logged, since the choice holds for this run anyway."""
        self.now = self.now.model_copy(update=fields)
        try:
            write_json(self.path, self.now.model_dump(mode="json"))
        except EngineError as error:
            log.warning("settings were not saved: %s", error)
        return self.now

    def _read(self) -> Settings:
        raw = read_json(self.path)
        try:
            return Settings.model_validate(raw if isinstance(raw, dict) else {})
        except ValidationError as error:
            log.warning("settings in %s: %s", self.path, error)
            self.problem = f"The settings in {self.path} could not be read, so defaults are used. The old file is kept."
            self.path.replace(self.path.with_suffix(".unreadable.json"))
            return Settings()
