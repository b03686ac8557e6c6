"""Drop-downs of texts that stand in tables of constants."""

from __future__ import annotations

from collections.abc import Iterable

from desktop.language import tr
from desktop.widgets.picker import ChoiceBox, choice


def marked_choice(items: Iterable[tuple[str, object]], value: object) -> ChoiceBox:
    """Like :func:`choice`, of texts that are marked for translation."""
    return choice(((tr(text), data) for text, data in items), value)
