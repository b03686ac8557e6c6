"""What a person types for a number, against the limits that the protocol's own models set: the value, or why not."""

from __future__ import annotations

import math
from typing import Any

from pydantic import BaseModel, ValidationError
from PySide6.QtCore import QLocale

from desktop.language import marked, tr

_BOUNDS = {
    "greater_than_equal": ("ge", marked("{number} is too small: at least {bound}.")),
    "greater_than": ("gt", marked("{number} is too small: more than {bound}.")),
    "less_than_equal": ("le", marked("{number} is too large: at most {bound}.")),
    "less_than": ("lt", marked("{number} is too large: less than {bound}.")),
}


class Unfit(ValueError):  # noqa: N818 - it is no error of the program's
    """A typed number cannot be used; the text is one sentence for the person."""


def read_number(model: type[BaseModel], field: str, text: str, *, whole: bool) -> int | float:
    """The number that ``text`` means for a model's field, written as here or as in programs.

    Args:
        model: a model whose other fields have defaults.
        field: its name there.
        text: what was typed.
        whole: whether it counts something.

    Raises:
        Unfit: it is no number, or the field takes no such.
    """
    number = _number(text.strip())
    if number is None:
        raise Unfit(tr("“{text}” is not a number.", text=text.strip()))
    if whole and number != int(number):
        raise Unfit(tr("{text} is not a whole number.", text=text.strip()))
    return _fitting(model, field, int(number) if whole else number, text.strip())


def shown_number(value: float | None) -> str:
    """A number as it is typed: without groups, which would be mistaken for decimals; empty for none."""
    if value is None:
        return ""
    locale = QLocale()
    locale.setNumberOptions(QLocale.NumberOption.OmitGroupSeparator)
    return locale.toString(value) if isinstance(value, int) else locale.toString(float(value), "g", 6)


def _number(text: str) -> float | int | None:
    integer, good = QLocale().toLongLong(text)
    if good:
        return int(integer)
    for locale in (QLocale(), QLocale.c()):
        value, good = locale.toDouble(text)
        if good and math.isfinite(value):
            return float(value)
    return None


def _fitting(model: type[BaseModel], field: str, value: float, text: str) -> int | float:
    try:
        found: Any = getattr(model.model_validate({field: value}), field)
    except ValidationError as error:
        raise Unfit(_why(error, text)) from None
    return found  # type: ignore[no-any-return]


def _why(error: ValidationError, text: str) -> str:
    for fault in error.errors():
        if fault["type"] in _BOUNDS:
            name, words = _BOUNDS[fault["type"]]
            bound = fault["ctx"][name]
            return tr(words, number=text, bound=f"{bound:,g}" if isinstance(bound, float) else f"{bound:,}")
    return tr("{text} cannot be used here.", text=text)
