"""The text of a file that belongs to a message, and how it stands in the prompt.

Each attachment is a fenced block under a line with its name, in the order given, before what was typed: models answer
best when the question comes last. A fence is longer than any run of backticks in the text, so no text can close its own
fence and go on as if it were the person's words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backend.text import short_line, shown_name

_LANGUAGE = re.compile(r"[A-Za-z0-9+#_-]{1,30}")
_TICKS = re.compile(r"`+")
_BYTES_PER_TOKEN = 3.5
"""Of UTF-8: English has about 4, code 3, other scripts 2 to 3."""


@dataclass(frozen=True)
class Attachment:
    """A file's text.

    Args:
        name: the file's name; any characters, as it comes from outside.
        language: word for the fence, "" = plain text.
        text: with line ends of one character.
        size: bytes of the file.
        part: what of the file this is, "" = all of it. The model reads it too.
        note: what else a person should know of how it was read.
    """

    name: str
    language: str
    text: str
    size: int
    part: str = ""
    note: str = ""

    @cached_property
    def block(self) -> str:
        """As it stands in the prompt."""
        text = shown_name(self.text)  # half a character cannot be sent
        fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
        language = self.language if _LANGUAGE.fullmatch(self.language) else ""
        part = f" ({short_line(self.part)})" if self.part else ""
        end = "" if text.endswith("\n") else "\n"
        return f"File: {self.shown}{part}\n{fence}{language}\n{text}{end}{fence}"

    @property
    def shown(self) -> str:
        """Its name on one line, without what could steer a terminal or turn the text round."""
        return short_line(shown_name(self.name), 80) or "file"


def asked(content: str, attachments: Iterable[Attachment]) -> str:
    """A person's message as the engine reads it."""
    blocks = [attachment.block for attachment in attachments]
    return "\n\n".join([*blocks, content] if content.strip() or not blocks else blocks)


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has, while no model is there to tell."""
    return round(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)


def first_part(attachments: Iterable[Attachment], length: int) -> tuple[Attachment, ...]:
    """The first ``length`` characters of the texts, cut at a line's end where one is near."""
    kept: list[Attachment] = []
    for attachment in attachments:
        part = attachment if len(attachment.text) <= length else _cut(attachment, length)
        if not part.text.strip():
            break
        kept.append(part)
        length -= len(part.text)
        if part is not attachment:
            break
    return tuple(kept)


def _cut(attachment: Attachment, length: int) -> Attachment:
    whole = attachment.text
    line = whole.rfind("\n", 0, length) + 1
    at = line if line > 0.8 * length else length
    part = f"the first {at:,} of {len(whole):,} characters"
    return replace(attachment, text=whole[:at], part=f"{attachment.part}, of that {part}" if attachment.part else part)


# -- in the database ---------------------------------------------------------------------------------------------------


def to_columns(attachments: Sequence[Attachment]) -> tuple[str | None, str | None]:
    """Facts as JSON, and names and texts in one: what is looked for when chats are searched."""
    if not attachments:
        return None, None
    facts = [
        {
            "language": a.language,
            "size": a.size,
            "part": a.part,
            "note": a.note,
            "name": len(a.name),
            "text": len(a.text),
        }
        for a in attachments
    ]
    return json.dumps(facts), "".join(f"{a.name}\n{a.text}\n" for a in attachments)


def from_columns(facts: str | None, texts: str | None) -> tuple[Attachment, ...]:
    """The reverse.

    Raises:
        ValueError: the facts are damaged; the texts are still all there.
    """
    if facts is None:
        return ()
    try:
        return tuple(_split(json.loads(facts), texts or ""))
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"the attachments' facts are damaged ({error!r})") from error


def _split(facts: list[dict[str, Any]], texts: str) -> Iterable[Attachment]:
    at = 0
    for fact in facts:
        middle = at + int(fact["name"])
        end = middle + 1 + int(fact["text"])
        name, text = texts[at:middle], texts[middle + 1 : end]
        yield Attachment(name, str(fact["language"]), text, int(fact["size"]), str(fact["part"]), str(fact["note"]))
        at = end + 1
