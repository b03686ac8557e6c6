"""What comes from outside and may hold nothing that is not known."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A request, or a part of one."""

    model_config = ConfigDict(extra="forbid", frozen=True)
