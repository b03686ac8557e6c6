"""Files that go along with a message: read as text, within limits, and laid into the prompt."""

from backend.documents.attachment import Attachment, asked, estimated_tokens, first_part
from backend.documents.limits import MOST_CHARACTERS, MOST_FILES, DocumentError
from backend.documents.reading import from_paste, read

__all__ = [
    "MOST_CHARACTERS",
    "MOST_FILES",
    "Attachment",
    "DocumentError",
    "asked",
    "estimated_tokens",
    "first_part",
    "from_paste",
    "read",
]
