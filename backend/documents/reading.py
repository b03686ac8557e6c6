"""A file on disk as an attachment. Slow, and to be called where nobody waits: disks sleep, networks hang."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path

from backend.documents.attachment import Attachment
from backend.documents.decoding import decoded
from backend.documents.languages import language_of
from backend.documents.limits import MOST_BYTES, MOST_CHARACTERS, MOST_PDF_BYTES, DocumentError
from backend.documents.pdf import read_pdf
from backend.text import short_line, shown_name, shown_size

Tell = Callable[[int, int], None]
"""Pages read, of so many."""

_PICTURES = ("png", "jpg", "jpeg", "gif", "webp", "bmp", "heic", "heif", "tif", "tiff", "ico", "avif")
_OFFICE = ("doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "ppt", "pptx", "odp", "epub", "pages", "numbers", "key")
_PDF_MARK = b"%PDF-"
_MARK_WITHIN = 1024


def read(path: Path, cancelled: threading.Event, tell: Tell = lambda _done, _of: None) -> Attachment:
    """The file's text.

    Args:
        path: what a person chose, or what came by drag or paste: it may be anything.
        cancelled: set = give it up.
        tell: how far a PDF has come.

    Raises:
        DocumentError: in the words of a person.
    """
    name = f"“{short_line(shown_name(path.name), 80) or path}”"
    ending = path.suffix.lower().removeprefix(".")
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise DocumentError(f"{name} is a folder. Attach the files in it that matter.")
        if not stat.S_ISREG(facts.st_mode):  # to read from a pipe or a device may never end
            raise DocumentError(f"{name} is no ordinary file, so it has no text to attach.")
        if facts.st_size == 0:
            raise DocumentError(f"{name} is empty.")
        if ending in _PICTURES:
            raise DocumentError(f"{name} is a picture, and Tandem cannot read pictures yet. Describe it in words.")
        with path.open("rb") as file:
            if _PDF_MARK in file.read(_MARK_WITHIN):
                _check_size(name, facts.st_size, MOST_PDF_BYTES, "a PDF")
                text, part, note = read_pdf(file, name, cancelled, tell)
                return Attachment(path.name, "", text, facts.st_size, part, note)
            _check_kind(name, ending)
            _check_size(name, facts.st_size, MOST_BYTES, "a text file")
            file.seek(0)
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise DocumentError(f"{name} is not there any more.") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL
        why = getattr(error, "strerror", None) or error
        raise DocumentError(f"{name} could not be read: {why}.") from error
    return _from_bytes(path.name, name, data)


def from_paste(text: str, number: int) -> Attachment:
    """A long text from the clipboard, the message's n-th one.

    Raises:
        DocumentError: it is too long.
    """
    if len(text) > MOST_CHARACTERS:
        raise DocumentError(
            f"The pasted text has {len(text):,} characters, and an attachment may have {MOST_CHARACTERS:,}. "
            "Paste the part that matters."
        )
    text = shown_name(text).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return Attachment(f"Pasted text{f' {number}' if number > 1 else ''}", "", text, len(text.encode()))


def _from_bytes(file_name: str, name: str, data: bytes) -> Attachment:
    made = decoded(data)
    if made is None:
        raise DocumentError(f"{name} is not a text: Tandem attaches text, code, Markdown and PDF.")
    text, note = made
    if not text.strip():
        raise DocumentError(f"{name} has nothing but blanks in it.")
    if len(text) > MOST_CHARACTERS:
        raise DocumentError(
            f"{name} has {len(text):,} characters, and an attachment may have {MOST_CHARACTERS:,}. "
            "Attach a file with the part that matters."
        )
    return Attachment(file_name, language_of(file_name), text, len(data), note=note)


def _check_kind(name: str, ending: str) -> None:
    if ending in _OFFICE:
        raise DocumentError(f"{name} is an office document, which Tandem cannot read. Save it as PDF or as text first.")


def _check_size(name: str, size: int, most: int, what: str) -> None:
    if size > most:
        raise DocumentError(
            f"{name} has {shown_size(size)}, and {what} may have {shown_size(most)}. "
            "Attach a file with the part that matters."
        )
