"""The window's words for what can go wrong: a title for each code, and which buttons help.

The engine's own sentence (what, why) is shown below the title; the codes are the contract, the titles are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from backend.errors import EngineError, ErrorCode
from desktop.language import marked, tr
from desktop.store import StoreError

Action = Literal[
    "retry",
    "anyway",
    "less_context",
    "without_draft",
    "attach",
    "paste",
    "first_part",
    "restart",
    "log",
    "models",
    "settings",
    "new_chat",
    "cancel",
]

LABELS: dict[Action, str] = {
    "retry": marked("Try again"),
    "anyway": marked("Load anyway"),
    "less_context": marked("Load with less context"),
    "without_draft": marked("Load without a draft"),
    "attach": marked("Attach it"),
    "paste": marked("Paste into the message"),
    "first_part": marked("Send the first part"),
    "restart": marked("Restart engine"),
    "log": marked("Open log"),
    "models": marked("Choose a model"),
    "settings": marked("Engine settings"),
    "new_chat": marked("New chat"),
    "cancel": marked("Cancel"),
}


def reason(text: str) -> str:
    """What the engine says of a round or a reply, as a sentence; no line of it begins with a percent sign."""
    return text[:1].upper() + text[1:].replace("%", "\N{NO-BREAK SPACE}%")


@dataclass(slots=True, frozen=True)
class Notice:
    """What the bar above the composer shows. ``mild`` = information, not a fault.

    ``says`` and ``why`` are in the reader's language already, or `marked`: title and detail are what is shown of them.
    """

    says: str
    why: str = ""
    actions: tuple[Action, ...] = ()
    mild: bool = False
    retry: Callable[[], object] | None = field(default=None, compare=False)
    """What "Try again" does: exactly what failed, where it failed; or "Load anyway". Without it, no such button."""
    does: Mapping[Action, Callable[[], object]] = field(default_factory=dict, compare=False)
    """What other actions of the notice's own do."""

    @property
    def title(self) -> str:
        """What happened, in a few words."""
        return tr(self.says)

    @property
    def detail(self) -> str:
        """Why, and what to do."""
        return tr(self.why)


_E = ErrorCode
_TITLES: dict[ErrorCode, tuple[str, tuple[Action, ...]]] = {
    _E.FILE_MISSING: (marked("The model file is missing"), ("models",)),
    _E.FILE_TRUNCATED: (marked("The model file is incomplete"), ("models",)),
    _E.FILE_NOT_GGUF: (marked("This is not a model file"), ("models",)),
    _E.FILE_DAMAGED: (marked("The model file is damaged"), ("models",)),
    _E.WRONG_HASH: (marked("The model file is not the published one"), ("models",)),
    _E.MODEL_UNKNOWN: (marked("This model is not in the library"), ("models",)),
    _E.MODEL_UNSUPPORTED: (marked("The engine cannot run this model"), ("models",)),
    _E.LOAD_FAILED: (marked("The model could not be loaded"), ("retry", "models", "log")),
    _E.DRAFT_INCOMPATIBLE: (marked("This draft does not fit the target"), ()),
    _E.DRAFT_FAILED: (marked("The draft model could not be used; replies go on without it"), ("log",)),
    _E.BAD_REQUEST: (marked("The engine refused the request"), ("settings",)),
    _E.NO_MODEL: (marked("No model is loaded"), ("models",)),
    _E.BUSY: (marked("The engine is busy with another reply"), ("retry",)),
    _E.CONTEXT_FULL: (marked("The conversation does not fit the context"), ("settings", "new_chat")),
    _E.TEMPLATE_FAILED: (marked("The model's chat template failed"), ("log", "models")),
    _E.UNSUPPORTED_CONTENT: (marked("Tandem cannot do this yet"), ()),
    _E.CANCELLED: (marked("Stopped"), ()),
    _E.OUT_OF_MEMORY: (marked("Not enough memory for this model"), ("settings", "models")),
    _E.TOO_LARGE: (marked("This does not fit into the memory that is free"), ("anyway", "settings", "models")),
    _E.DECODE_FAILED: (marked("The engine failed while computing"), ("restart", "log")),
    _E.BAD_LOGITS: (marked("The model computed invalid numbers"), ("restart", "log")),
    _E.BAD_TOKEN: (marked("The engine made an invalid token"), ("restart", "log")),
    _E.TRUNCATE_FAILED: (marked("The engine lost its place in the conversation"), ("restart", "log")),
    _E.NO_NETWORK: (marked("The network cannot be reached"), ("retry",)),
    _E.DOWNLOAD_FAILED: (marked("The download failed"), ("retry", "log")),
    _E.GATED: (marked("This model's licence must be accepted first"), ("models", "retry")),
    _E.DISK_FULL: (marked("The disk is full"), ("retry",)),
    _E.NOT_WRITABLE: (marked("A folder cannot be written"), ("log",)),
    _E.CATALOGUE_INVALID: (marked("Your model catalogue has a mistake"), ("log",)),
    _E.WORKER_GONE: (marked("The engine stopped unexpectedly"), ("restart", "log")),
    _E.WORKER_START_FAILED: (marked("The engine did not start"), ("restart", "log")),
    _E.PROTOCOL_MISMATCH: (marked("The engine is of another version"), ("log",)),
    _E.UNAUTHORIZED: (marked("The engine refused the connection"), ("restart", "log")),
    _E.BUG: (marked("Tandem hit a fault of its own"), ("retry", "log")),
}

IMAGES = Notice(
    marked("Tandem cannot read pictures yet"),
    marked("Only text is sent. Describe the picture in words, or paste its text."),
    mild=True,
)
NO_FILES = Notice(
    marked("A reply takes no files"), marked("Attach them to a message of yours, or paste their text."), mild=True
)
EMPTY = Notice(marked("There is nothing to send"), marked("Write a message first."), mild=True)
WAIT = Notice(
    marked("Another reply is being written"),
    marked("Wait for its end, or stop it; then try again."),
    ("retry",),
    mild=True,
)
NOTHING_TO_CONTINUE = Notice(
    marked("There is nothing to continue"),
    marked("A reply can go on where it was stopped, cut off or edited, as long as it is the last one of the chat."),
    mild=True,
)
ENDED = Notice(
    marked("The model added nothing"),
    marked("It ends its reply here. Edit the end of it, or regenerate, to get another."),
    mild=True,
)
YOURS = Notice(
    marked("There is nothing to compare"), marked("This text was edited, not written by the model."), mild=True
)
GONE = Notice(marked("This chat was deleted"), marked("Undo the deletion to go on with it."), mild=True)
DAMAGED = Notice(
    marked("A part of this chat is damaged on the disk"),
    marked(
        "All messages are here. Figures or settings of some could not be read and are left out; the log says which."
    ),
    ("log",),
    mild=True,
)


def title_of(error: EngineError) -> str:
    """What happened, in a few words."""
    return tr(_TITLES[error.code][0])


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
        title = tr("The chats could not be read") if error.reading else tr("The chat was not saved")
        return Notice(title, error.message, ("retry", "log"), retry=retry)
    title, actions = _TITLES[error.code]
    kept = f"{error.message} {tr('What was written so far is kept.')}" if partial else error.message
    return Notice(title, kept, actions, retry=retry)
