"""A chat's first title: the first words of its first message. No model is ever run for it."""

from __future__ import annotations

import re

from desktop.language import tr

LONGEST = 48


def title_from(text: str) -> str:
    """One line, cut at a word."""
    words = re.sub(r"[`*_#>|]+", "", text).split()
    title = ""
    for word in words:
        if len(title) + len(word) + 1 > LONGEST:
            return (title or word[:LONGEST]) + "…"
        title = f"{title} {word}".strip()
    return title or tr("New chat")
