"""The window's words for what can go wrong: a title for each code, and which buttons help.

The engine's own sentence (what, why) is shown below the title; the codes are the contract, the titles are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from backend.errors import EngineError, ErrorCode
from desktop.store import StoreError

Action = Literal[
    "retry", "anyway", "attach", "paste", "first_part", "restart", "log", "models", "settings", "new_chat", "cancel"
]

LABELS: dict[Action, str] = {
    "retry": "Try again",
    "anyway": "Load anyway",
    "attach": "Attach it",
    "paste": "Paste into the message",
    "first_part": "Send the first part",
    "restart": "Restart engine",
    "log": "Open log",
    "models": "Choose a model",
    "settings": "Engine settings",
    "new_chat": "New chat",
    "cancel": "Cancel",
}


@dataclass(slots=True, frozen=True)
class Notice:
    """What the bar above the composer shows. ``mild`` = information, not a fault."""

    title: str
    detail: str = ""
    actions: tuple[Action, ...] = ()
    mild: bool = False
    retry: Callable[[], object] | None = field(default=None, compare=False)
    """What "Try again" does: exactly what failed, where it failed; or "Load anyway". Without it, no such button."""
    does: Mapping[Action, Callable[[], object]] = field(default_factory=dict, compare=False)
    """What other actions of the notice's own do."""


_E = ErrorCode
_TITLES: dict[ErrorCode, tuple[str, tuple[Action, ...]]] = {
    _E.FILE_MISSING: ("The model file is missing", ("models",)),
    _E.FILE_TRUNCATED: ("The model file is incomplete", ("models",)),
    _E.FILE_NOT_GGUF: ("This is not a model file", ("models",)),
    _E.FILE_DAMAGED: ("The model file is damaged", ("models",)),
    _E.WRONG_HASH: ("The model file is not the published one", ("models",)),
    _E.MODEL_UNKNOWN: ("This model is not in the library", ("models",)),
    _E.MODEL_UNSUPPORTED: ("The engine cannot run this model", ("models",)),
    _E.LOAD_FAILED: ("The model could not be loaded", ("retry", "models", "log")),
    _E.DRAFT_INCOMPATIBLE: ("This draft does not fit the target", ()),
    _E.DRAFT_FAILED: ("The draft model could not be used; replies go on without it", ("log",)),
    _E.BAD_REQUEST: ("The engine refused the request", ("settings",)),
    _E.NO_MODEL: ("No model is loaded", ("models",)),
    _E.BUSY: ("The engine is busy with another reply", ("retry",)),
    _E.CONTEXT_FULL: ("The conversation does not fit the context", ("settings", "new_chat")),
    _E.TEMPLATE_FAILED: ("The model's chat template failed", ("log", "models")),
    _E.UNSUPPORTED_CONTENT: ("Tandem cannot do this yet", ()),
    _E.CANCELLED: ("Stopped", ()),
    _E.OUT_OF_MEMORY: ("Not enough memory for this model", ("settings", "models")),
    _E.TOO_LARGE: ("This does not fit into the memory that is free", ("anyway", "settings", "models")),
    _E.DECODE_FAILED: ("The engine failed while computing", ("restart", "log")),
    _E.BAD_LOGITS: ("The model computed invalid numbers", ("restart", "log")),
    _E.BAD_TOKEN: ("The engine made an invalid token", ("restart", "log")),
    _E.TRUNCATE_FAILED: ("The engine lost its place in the conversation", ("restart", "log")),
    _E.NO_NETWORK: ("The network cannot be reached", ("retry",)),
    _E.DOWNLOAD_FAILED: ("The download failed", ("retry", "log")),
    _E.GATED: ("This model's licence must be accepted first", ("models", "retry")),
    _E.DISK_FULL: ("The disk is full", ("retry",)),
    _E.NOT_WRITABLE: ("A folder cannot be written", ("log",)),
    _E.CATALOGUE_INVALID: ("Your model catalogue has a mistake", ("log",)),
    _E.WORKER_GONE: ("The engine stopped unexpectedly", ("restart", "log")),
    _E.WORKER_START_FAILED: ("The engine did not start", ("restart", "log")),
    _E.PROTOCOL_MISMATCH: ("The engine is of another version", ("log",)),
    _E.UNAUTHORIZED: ("The engine refused the connection", ("restart", "log")),
    _E.BUG: ("Tandem hit a fault of its own", ("retry", "log")),
}

IMAGES = Notice(
    "Tandem cannot read pictures yet", "Only text is sent. Describe the picture in words, or paste its text.", mild=True
)
NO_FILES = Notice("A reply takes no files", "Attach them to a message of yours, or paste their text.", mild=True)
EMPTY = Notice("There is nothing to send", "Write a message first.", mild=True)
WAIT = Notice("Another reply is being written", "Wait for its end, or stop it; then try again.", ("retry",), mild=True)
NOTHING_TO_CONTINUE = Notice(
    "There is nothing to continue",
    "A reply can go on where it was stopped, cut off or edited, as long as it is the last one of the chat.",
    mild=True,
)
ENDED = Notice(
    "The model added nothing", "It ends its reply here. Edit the end of it, or regenerate, to get another.", mild=True
)
YOURS = Notice("There is nothing to compare", "This text was edited, not written by the model.", mild=True)
GONE = Notice("This chat was deleted", "Undo the deletion to go on with it.", mild=True)
DAMAGED = Notice(
    "A part of this chat is damaged on the disk",
    "All messages are here. Figures or settings of some could not be read and are left out; the log says which.",
    ("log",),
    mild=True,
)
KEPT = " What was written so far is kept."


def title_of(error: EngineError) -> str:
    """What happened, in a few words."""
    return _TITLES[error.code][0]


def notice(
    error: EngineError | StoreError, *, partial: bool = False, retry: Callable[[], object] | None = None
) -> Notice:
    """The notice for a failure.

    Args:
        error: what failed.
        partial: some of a reply was received before it.
        retry: does once more what failed.
    """
    if isinstance(error, StoreError):
        title = "The chats could not be read" if error.reading else "The chat was not saved"
        return Notice(title, error.message, ("retry", "log"), retry=retry)
    title, actions = _TITLES[error.code]
    return Notice(title, error.message + (KEPT if partial else ""), actions, retry=retry)
