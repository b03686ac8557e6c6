"""A scene of the tour: files that go along with a message."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.long.tour import Tour

AVERAGE = """def average(values, weights):
    total = 0
    for value, weight in zip(values, weights):
        total += value * weight
    return total / sum(weights)
"""
LOG = "19:00 the lamp is lit, oil 41 %, wind north-west 6\n" * 3000
"""Longer than the context."""


def attached(tour: Tour) -> None:
    """Chips, a file that does not fit, and the cards of what was sent."""
    window, composer = tour.window, tour.window.page.composer
    window.new_chat()
    tour.seed()
    with tempfile.TemporaryDirectory() as folder:
        code, log = Path(folder) / "average.py", Path(folder) / "lamp.log"
        code.write_text(AVERAGE)
        log.write_text(LOG)
        window.attachments.take(composer.writing, [code, log])
        composer.set_text("What does this function do when both lists are empty? One sentence.")
        tour.until(lambda: len(composer.draft.attachments) == 2)
    composer.submit()
    tour.until(window.page.notice.isVisible)
    tour.picture("too-long")
    window.page.notice.hide()
    composer.writing.chips.chips[1].removed.emit()
    tour.settle(1)
    tour.picture("attaching")
    composer.submit()
    tour.until(lambda: bool(tour.text) and not tour.desktop.conversation.running)
    window.page.messages.widgets[0].cards[0].open()
    tour.picture("attached")
    tour.dark("attached-dark")
