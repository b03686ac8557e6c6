"""How much of a file is taken, and the error for what is not."""

from __future__ import annotations

MOST_FILES = 20
"""Attachments of one message."""
MOST_CHARACTERS = 4_000_000
"""Of one attachment's text: more than any context holds. What a PDF says beyond that is left out."""
MOST_BYTES = 8_000_000
"""Of a text file. UTF-16 takes two for a letter."""
MOST_PDF_BYTES = 100_000_000
"""Of a PDF: mostly pictures."""


class DocumentError(Exception):
    """A file cannot be attached: what, why, and what to do, in one sentence or two."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
