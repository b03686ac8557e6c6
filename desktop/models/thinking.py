"""Replies that begin within their thinking: the template wrote the opening tag, so only its end is in the text.

Which replies those are, the engine says while it reads the prompt. It is kept with what made the reply (``settings``),
and goes with the beginning where the reply goes on or is edited.
"""

from __future__ import annotations

from typing import Any

from desktop.store import Message

OPEN, CLOSE = "<think>", "</think>"
_KEY = "thinking_opened"


def noted(settings: dict[str, Any]) -> dict[str, Any]:
    """What made a reply, with the word that its prompt had opened the tag."""
    return settings | {_KEY: True}


def opened(reply: Message) -> bool:
    """Whether the prompt that asked for its beginning had opened the tag."""
    settings = reply.parts[0].get("settings") if reply.parts else reply.settings
    return isinstance(settings, dict) and settings.get(_KEY) is True


def still_opened(reply: Message, text: str) -> bool:
    """The same of ``text``, a person's version of the reply: the thinking may have been taken out."""
    return opened(reply) and (CLOSE in text or CLOSE not in reply.content)


def tagged(text: str, opened: bool = True) -> str:
    """The text with the tag that its prompt had ``opened``; models that repeat it have it once."""
    return f"{OPEN}\n{text}" if opened and text and not text.lstrip().startswith(OPEN) else text


def whole_text(message: Message) -> str:
    """What a message says, its thinking between two tags."""
    return tagged(message.content, message.role == "assistant" and opened(message))
