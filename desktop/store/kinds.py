"""Values of the kind that their place has, whatever a damaged file says: SQLite keeps any value in any column."""

from __future__ import annotations

from typing import Any, get_args

from desktop.store.records import MessageState, Role

LATEST = 3e10
"""Seconds; no calendar needs a later time than the year 2920."""
_ROLES, _STATES = get_args(Role), get_args(MessageState)


def text(value: Any) -> str:
    """Letters; those that are none become question marks."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def some_text(value: Any) -> str | None:
    """The same where there may be none."""
    return None if value is None else text(value)


def number(value: Any) -> int | None:
    """A whole number, or none."""
    return value if isinstance(value, int) else None


def moment(value: Any) -> float:
    """A time that the calendar has; any other becomes its beginning."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= LATEST else 0.0


def role(value: Any, *, made: bool) -> Role:
    """Who said it; where that cannot be read, a model if the text was ``made`` of tokens."""
    known: Role = "assistant" if made else "user"
    return next((name for name in _ROLES if name == text(value)), known)


def state(value: Any) -> MessageState:
    """How it stands with a message; where that cannot be read, it may lack its end."""
    return next((name for name in _STATES if name == text(value)), "stopped")
